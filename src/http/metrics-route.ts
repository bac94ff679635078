/** Answers scrapes: negotiation, narrowing by kind, and a limit on how many are answered at once. */
import { contentTypes, type Format, renderEnd } from '../exposition/format.ts';
import { deflatePiece, endGzip, type GzipStart, startGzip } from '../exposition/gzip.ts';
import type { Store } from '../exposition/store.ts';
import { expectedOf, quote } from '../text.ts';
import { answerText } from './answer.ts';
import { type Coding, negotiateCoding, negotiateFormat } from './negotiate.ts';
import type { Route } from './route.ts';
import { send, sendTimeoutMs } from './send.ts';

/** The kind that stands for the exporter's own metrics in `?kind=`. */
const ownKind = 'exporter';

const defaultLimits = {
  /** The most scrapes at the same time: each keeps the bytes of its page in memory until they are sent. */
  maxInFlight: 16,
  sendTimeoutMs,
};

export interface MetricsRouteOptions {
  readonly store: Pick<Store, 'page' | 'compressed' | 'revision'>;
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
  let inFlight = 0;
  let last: Compressed | undefined;

  const bodyOf = async (
    format: Format,
    coding: Coding,
    kinds: ReadonlySet<string>,
  ): Promise<readonly Buffer[]> => {
    const own = kinds.size === 0 || kinds.has(ownKind) ? await ownMetrics(format) : [];
    const wanted = kinds.size > 0 ? kinds : undefined;
    const rest = [...own, ...renderEnd(format)];
    if (coding === 'identity') return [...store.page(format, wanted), ...rest];
    // Several servers may scrape one after the other: the last page is kept, and its rows alone when only the own metrics change.
    const what = [store.revision, format, ...kinds].join(' ');
    const known = last?.what === what ? last : undefined;
    if (known && own.every((part, at) => part === known.own[at])) return known.parts;
    const start = known?.start ?? startGzip(await store.compressed(format, wanted));
    const end = endGzip(start, await Promise.all(rest.map(deflatePiece)));
    last = { what, own, start, parts: [start.deflated, end] };
    return last.parts;
  };

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
      const body = await bodyOf(format, coding, kinds);
      response.setHeader('Content-Type', contentTypes[format]);
      const length = body.reduce((sum, part) => sum + part.length, 0);
      response.setHeader('Content-Length', length);
      if (coding === 'gzip') response.setHeader('Content-Encoding', coding);
      await send(response, body, limits.sendTimeoutMs);
    } finally {
      inFlight--;
    }
  };
}

/** A compressed page. */
interface Compressed {
  /** Which page it is. */
  readonly what: string;
  readonly own: readonly Buffer[];
  /** The store's rows. */
  readonly start: GzipStart;
  readonly parts: readonly Buffer[];
}
