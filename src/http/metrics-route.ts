/** Answers scrapes: negotiation, narrowing by kind, and a limit on how many are answered at once. */
import { contentTypes, type Format, renderEnd } from '../exposition/format.ts';
import { Gzip } from '../exposition/gzip.ts';
import type { Store } from '../exposition/store.ts';
import { expectedOf, quote } from '../text.ts';
import { answerText } from './answer.ts';
import { negotiateCoding, negotiateFormat } from './negotiate.ts';
import type { Route } from './route.ts';
import { send, sendTimeoutMs } from './send.ts';

/** The kind that stands for the exporter's own metrics in `?kind=`. */
const ownKind = 'exporter';
/** A page of at most this size is copied into one Buffer: that is faster than sending it part by part. */
const smallBytes = 64 * 1024;

const defaultLimits = {
  /** The most scrapes at the same time: each keeps the bytes of its page in memory until they are sent. */
  maxInFlight: 16,
  sendTimeoutMs,
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

/** Answers a GET or HEAD. Rejects if the page cannot be rendered. */
export function createMetricsRoute(options: MetricsRouteOptions): Route['handle'] {
  const { store, ownMetrics } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const knownKinds = [...options.kinds, ownKind];
  const gzip = new Gzip();
  let inFlight = 0;

  return async ({ headers }, response, query) => {
    response.setHeader('Vary', 'Accept, Accept-Encoding');
    const kinds = new Set(query.getAll('kind').flatMap((given) => given.split(',')));
    const unknown = [...kinds].find((kind) => !knownKinds.includes(kind));
    if (unknown !== undefined) {
      const message = `unknown kind ${quote(unknown)}: expected ${expectedOf(unknown, knownKinds)}`;
      return answerText(response, 400, message);
    }
    const coding = negotiateCoding(headers['accept-encoding']?.toString());
    if (coding === undefined)
      return answerText(response, 406, 'the page is sent as gzip or identity; the client accepts neither');
    if (inFlight >= limits.maxInFlight) {
      response.setHeader('Retry-After', '1');
      return answerText(response, 503, `${inFlight} scrapes are being answered, which is the limit`);
    }
    const format = negotiateFormat(headers.accept);
    inFlight++;
    try {
      options.beforeScrape?.();
      const page = await store.page(format, kinds.size > 0 ? kinds : undefined);
      const own = kinds.size === 0 || kinds.has(ownKind) ? await ownMetrics(format) : [];
      const whole = [...page, own, renderEnd(format)];
      const body = coding === 'gzip' ? await gzip.compress(whole) : whole.flat();
      const length = body.reduce((sum, part) => sum + part.length, 0);
      response.setHeader('Content-Type', contentTypes[format]);
      response.setHeader('Content-Length', length);
      if (coding === 'gzip') response.setHeader('Content-Encoding', coding);
      await send(response, length > smallBytes ? body : [Buffer.concat(body)], limits.sendTimeoutMs);
    } finally {
      inFlight--;
    }
  };
}
