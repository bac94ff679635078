/** The answer to a scrape: negotiation, narrowing by kind, and the bounds on pages that are rendered or sent at once. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentTypes, type Format, renderEnd } from '../exposition/format.ts';
import { Gzip } from '../exposition/gzip.ts';
import type { Store } from '../exposition/store.ts';
import { negotiateCoding, negotiateFormat } from './negotiate.ts';
import { Readers } from './readers.ts';
import { send } from './send.ts';

/** The kind that stands for the exporter's own metrics in `?kind=`. */
export const ownKind = 'exporter';
const retryAfterSeconds = 1;

export interface MetricsRouteOptions {
  readonly store: Pick<Store, 'page'>;
  /** The kinds of the store's families. */
  readonly kinds: readonly string[];
  /** The exporter's own metrics, rendered in a format: the same Buffers while nothing changes. */
  readonly ownMetrics: (format: Format) => Promise<readonly Buffer[]>;
  /** Pages that may be rendered and compressed at the same time; one more scrape is answered with a 503 at once. */
  readonly maxConcurrentScrapes: number;
  /** Pages that may be sent at the same time; at one more the reader is cut that has gone longest without taking anything. Default 16. */
  readonly maxReaders?: number;
  /** From the first byte of a page to the last. */
  readonly writeTimeoutMs: number;
  /** Called before a page is put together. */
  readonly beforeScrape?: () => void;
}

/** Answers a GET or HEAD; resolves when the response closed, rejects when no page could be made. */
export type MetricsHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
) => Promise<void>;

export function createMetricsRoute(options: MetricsRouteOptions): MetricsHandler {
  const { store, ownMetrics, maxConcurrentScrapes, writeTimeoutMs } = options;
  const knownKinds = [...options.kinds, ownKind];
  const gzip = new Gzip();
  const readers = new Readers(options.maxReaders);
  let rendering = 0;

  return async (request, response, query) => {
    const headersOnly = request.method === 'HEAD';
    const answer = (parts: readonly Buffer[]) => send(response, parts, { headersOnly, writeTimeoutMs });
    const refuse = (status: number, reason: string) => {
      response.statusCode = status;
      response.setHeader('Content-Type', 'text/plain; charset=utf-8');
      return answer([Buffer.from(`${reason}\n`)]);
    };

    response.setHeader('Vary', 'Accept, Accept-Encoding');
    const kinds = new Set(query.getAll('kind').flatMap((given) => given.split(',')));
    const unknown = [...kinds].filter((kind) => !knownKinds.includes(kind));
    if (unknown.length > 0) {
      const names = unknown.map((kind) => JSON.stringify(kind)).join(', ');
      return refuse(400, `unknown kind ${names}: the kinds are ${knownKinds.join(', ')}`);
    }
    const coding = negotiateCoding(request.headers['accept-encoding']?.toString());
    if (coding === undefined)
      return refuse(406, 'the page comes as gzip or identity, and neither is accepted');
    if (rendering >= maxConcurrentScrapes) {
      response.setHeader('Retry-After', retryAfterSeconds);
      return refuse(503, `${maxConcurrentScrapes} pages are being rendered, which is the limit`);
    }
    const format = negotiateFormat(request.headers.accept);
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
    response.setHeader('Content-Type', contentTypes[format]);
    if (coding === 'gzip') response.setHeader('Content-Encoding', coding);
    return readers.serve(response, () => answer(body));
  };
}
