/** What a client accepts: the format and the content coding of its answer. */
import type { Format } from '../exposition/format.ts';

export type Coding = 'gzip' | 'identity';

interface Preference {
  /** A media range or a coding, in lower case. */
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/**
 * The format for an Accept header: OpenMetrics where it is named and preferred to text, else text, also for a client that
 * names neither. Of equals the one named first. Parameters other than `version` (Prometheus 3 sends `escaping`) do not
 * matter: no name here needs escaping.
 */
export function negotiateFormat(accept: string | undefined): Format {
  const preferences = parse(accept ?? '');
  const openMetrics = rank(preferences, ['application/openmetrics-text'], '1.0.0');
  if (openMetrics.quality === 0) return 'text';
  const text = rank(preferences, ['text/plain', 'text/*', '*/*'], '0.0.4');
  if (openMetrics.quality !== text.quality)
    return openMetrics.quality > text.quality ? 'openmetrics' : 'text';
  return openMetrics.position < text.position ? 'openmetrics' : 'text';
}

/** The coding for an Accept-Encoding header; undefined where the client accepts neither (a 406). */
export function negotiateCoding(acceptEncoding: string | undefined): Coding | undefined {
  const preferences = parse(acceptEncoding ?? '');
  const quality = (...names: string[]) => preferences.find(({ name }) => names.includes(name))?.quality;
  const any = quality('*');
  const gzip = quality('gzip', 'x-gzip') ?? any ?? 0;
  const identity = quality('identity') ?? any;
  if (gzip > 0 && gzip >= (identity ?? 0)) return 'gzip';
  return identity === 0 ? undefined : 'identity';
}

/** How much the first of these ranges that is named is wanted, and where it stands. */
function rank(preferences: readonly Preference[], ranges: readonly string[], version: string) {
  for (const range of ranges) {
    const matching = preferences.filter(
      ({ name, parameters }) => name === range && (parameters.get('version') ?? version) === version,
    );
    if (matching.length === 0) continue;
    const quality = Math.max(...matching.map((preference) => preference.quality));
    return { quality, position: preferences.findIndex((preference) => matching.includes(preference)) };
  }
  return { quality: 0, position: preferences.length };
}

function parse(header: string): Preference[] {
  return header.split(',').flatMap((element) => {
    const [name = '', ...rest] = element.split(';').map((part) => part.trim());
    if (name === '') return [];
    const parameters = new Map(rest.map(parseParameter));
    return [{ name: name.toLowerCase(), parameters, quality: parseQuality(parameters.get('q')) }];
  });
}

function parseParameter(text: string): [string, string] {
  const [name = '', value = ''] = text.split('=', 2);
  return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')];
}

/** 1 where it is not given, 0 where it cannot be read. */
function parseQuality(text: string | undefined): number {
  if (text === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
