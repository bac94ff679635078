/** Answers scrapes: negotiation, narrowing by kind, and a limit on how many are answered at once. */
import { contentTypes, type Format, renderEnd } from '../exposition/format.ts';
import { gzipOf } from '../exposition/gzip.ts';
import { type PageFamily, Pieces } from '../exposition/pieces.ts';
import type { Store } from '../exposition/store.ts';
import { ownKind } from '../resources/resource.ts';
import { expectedOf, quote } from '../text.ts';
import { answerText } from './answer.ts';
import { type Coding, negotiateCoding, negotiateFormat } from './negotiate.ts';
import type { Route } from './route.ts';
import { send, sendTimeoutMs } from './send.ts';

const defaultLimits = {
  /** The most scrapes at the same time: each keeps the bytes of its page in memory until they are sent. */
  maxInFlight: 16,
  sendTimeoutMs,
};

export interface MetricsRouteOptions {
  readonly store: Pick<Store, 'families'>;
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
  /** What is compressed of each section, by format and name. */
  const pieces = new Map<string, Pieces>();

  const sectionsOf = async (
    format: Format,
    kinds: ReadonlySet<string>,
  ): Promise<readonly CompressedPart[]> => {
    const isWhole = kinds.size === 0;
    const own =
      isWhole || kinds.has(ownKind)
        ? (await ownMetrics(format)).map((part, at) => ({
            name: `${ownKind} ${at}`,
            families: [familyOf(part)],
          }))
        : [];
    const wanted = isWhole ? [undefined] : options.kinds.filter((kind) => kinds.has(kind));
    const ofStore = wanted.map((kind) => ({ name: kind ?? 'all', families: store.families(kind) }));
    return [...ofStore, ...own, { name: 'end', families: renderEnd(format).map(familyOf) }];
  };

  const piecesOf = (format: Format, { name, families }: CompressedPart) => {
    const key = `${format} ${name}`;
    const known = pieces.get(key) ?? new Pieces();
    pieces.set(key, known);
    return known.of(families, format);
  };

  const bodyOf = async (
    format: Format,
    coding: Coding,
    kinds: ReadonlySet<string>,
  ): Promise<readonly Buffer[]> => {
    const sections = await sectionsOf(format, kinds);
    if (coding === 'identity')
      return sections.flatMap(({ families }) => families.flatMap((family) => family.bytes(format)));
    return gzipOf(sections.flatMap((section) => piecesOf(format, section)));
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

/**
 * Families that are compressed apart from others: the whole store, or one of its kinds, so that pages of several kinds share what
 * is compressed; and each part of the own metrics: those of the process change each second, the others once something happened.
 */
interface CompressedPart {
  readonly name: string;
  readonly families: readonly PageFamily[];
}

/** bytes: another Buffer once they have changed. */
function familyOf(bytes: Buffer): PageFamily {
  return {
    version: bytes,
    length: () => bytes.length,
    bytes: () => [bytes],
    copy: (_, to) => bytes.copy(to),
  };
}
