/** Answers scrapes: negotiation, narrowing by kind, and bounds on the pages rendered or sent at once. */
import { contentTypes, type Format, renderEnd } from '../exposition/format.ts';
import { Gzip } from '../exposition/gzip.ts';
import type { Store } from '../exposition/store.ts';
import { answerText } from './answer.ts';
import { negotiateCoding, negotiateFormat } from './negotiate.ts';
import { createSender } from './readers.ts';
import type { Route } from './route.ts';

/** The kind that stands for the exporter's own metrics in `?kind=`. */
const ownKind = 'exporter';
/** Copying a page of at most this size is faster than handing it over part by part. */
const smallBytes = 64 * 1024;

const defaultLimits = {
  /** Pages rendered and compressed at the same time; one more scrape gets a 503. */
  maxRendering: 16,
  /** Pages sent at the same time; beyond, the reader is cut that has taken nothing for longest. */
  maxReaders: 16,
  /** From the first byte of a page to the last. */
  writeTimeoutMs: 30_000,
};

export interface MetricsRouteOptions {
  readonly store: Pick<Store, 'page'>;
  /** The kinds of the store's families. */
  readonly kinds: readonly string[];
  /** Renders the exporter's own metrics: the same Buffers while nothing changes. */
  readonly ownMetrics: (format: Format) => Promise<readonly Buffer[]>;
  readonly limits?: Partial<typeof defaultLimits>;
  /** Called before a page is put together. */
  readonly beforeScrape?: () => void;
}

/** Answers a GET or HEAD; rejects when no page could be made. */
export function createMetricsRoute(options: MetricsRouteOptions): Route['handle'] {
  const { store, ownMetrics } = options;
  const { maxRendering, maxReaders, writeTimeoutMs } = { ...defaultLimits, ...options.limits };
  const knownKinds = [...options.kinds, ownKind];
  const gzip = new Gzip();
  const send = createSender(maxReaders, writeTimeoutMs);
  let rendering = 0;

  return async ({ headers }, response, query) => {
    response.setHeader('Vary', 'Accept, Accept-Encoding');
    const kinds = new Set(query.getAll('kind').flatMap((given) => given.split(',')));
    const unknown = [...kinds].filter((kind) => !knownKinds.includes(kind));
    if (unknown.length > 0) {
      const names = unknown.map((kind) => JSON.stringify(kind)).join(', ');
      return answerText(response, 400, `unknown kind ${names}: the kinds are ${knownKinds.join(', ')}`);
    }
    const coding = negotiateCoding(headers['accept-encoding']?.toString());
    if (coding === undefined)
      return answerText(response, 406, 'the page comes as gzip or identity, and neither is accepted');
    if (rendering >= maxRendering) {
      response.setHeader('Retry-After', '1');
      return answerText(response, 503, `${maxRendering} pages are being rendered, which is the limit`);
    }
    const format = negotiateFormat(headers.accept);
    let body: readonly Buffer[];
    rendering++;
    try {
      options.beforeScrape?.();
      const { sections } = await store.page(format, kinds.size > 0 ? kinds : undefined);
      const own = kinds.size === 0 || kinds.has(ownKind) ? await ownMetrics(format) : [];
      const whole = [...sections, own, renderEnd(format)];
      body = coding === 'gzip' ? await gzip.compress(whole) : whole.flat();
    } finally {
      rendering--;
    }
    const length = body.reduce((sum, part) => sum + part.length, 0);
    response.setHeader('Content-Type', contentTypes[format]);
    response.setHeader('Content-Length', length);
    if (coding === 'gzip') response.setHeader('Content-Encoding', coding);
    return send(response, length > smallBytes ? body : [Buffer.concat(body)]);
  };
}
