/** What a client accepts: the format and the content coding of its answer. */
import type { Format } from '../exposition/format.ts';

export type Coding = 'gzip' | 'identity';

const openMetrics = 'application/openmetrics-text';

/**
 * OpenMetrics if an Accept header names it and prefers it to text, otherwise text. Of equal qualities the first wins. Parameters
 * other than `version` do not matter: Prometheus 3 sends `escaping`, and no name here needs any.
 */
export function negotiateFormat(accept: string | undefined): Format {
  const [best] = parse(accept)
    .filter(({ name, version }) => {
      if (name === openMetrics) return (version ?? '1.0.0') === '1.0.0';
      return ['text/plain', 'text/*', '*/*'].includes(name) && (version ?? '0.0.4') === '0.0.4';
    })
    .toSorted((a, b) => b.quality - a.quality);
  return best?.name === openMetrics && best.quality > 0 ? 'openmetrics' : 'text';
}

/** Undefined if the client accepts neither (a 406). */
export function negotiateCoding(acceptEncoding: string | undefined): Coding | undefined {
  const preferences = parse(acceptEncoding);
  const quality = (...names: string[]) => preferences.find(({ name }) => names.includes(name))?.quality;
  const any = quality('*');
  const gzip = quality('gzip', 'x-gzip') ?? any ?? 0;
  const identity = quality('identity') ?? any;
  if (gzip > 0 && gzip >= (identity ?? 0)) return 'gzip';
  return identity === 0 ? undefined : 'identity';
}

/** The media ranges or codings of a header, in lower case. */
function parse(header = '') {
  return header.split(',').map((element) => {
    const [name = '', ...parameters] = element.toLowerCase().replaceAll(/[\s"]/g, '').split(';');
    const given = new URLSearchParams(parameters.join('&'));
    const quality = given.get('q') ?? '1';
    // A malformed quality counts as 0, which refuses.
    const isQuality = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality);
    return { name, version: given.get('version'), quality: isQuality ? Number(quality) : 0 };
  });
}
