/**
 * What a request asks the simulated API for: the five operations of the reference and where they are. It knows paths and
 * key kinds; it answers nothing.
 */

/** The operations of the reference: 4.1, 4.4, 4.2, 4.3 and 4.5. */
export const operations = [
  'application',
  'shield_zone',
  'api_guardian',
  'rate_limit',
  'video_storage',
] as const;
export type Operation = (typeof operations)[number];

/** Whose key came with a request: `library` and `read-only` are keys of the library asked for. */
export type KeyKind = 'none' | 'account' | 'library' | 'read-only' | 'other-library' | 'unknown';

export interface Question {
  readonly operation: Operation;
  /** In the order of the path; none for the listing. */
  readonly ids: readonly string[];
}

/** Path prefixes of the three APIs under the simulator's origin. */
export const prefixes = { application: '/mc', shield: '', video: '/video' } as const;

/** Nothing for a path that no operation has. */
export function questionOf(path: string): Question | undefined {
  const [, ...parts] = path.split('/');
  const [first, second, third, fourth, fifth, sixth, seventh] = parts;
  if (first === 'mc' && second === 'apps' && third && fourth === 'summary' && parts.length === 4) {
    return { operation: 'application', ids: [third] };
  }
  if (first === 'video' && second === 'library' && third && fourth === 'videos' && fifth) {
    return sixth === 'storage' && parts.length === 6
      ? { operation: 'video_storage', ids: [third, fifth] }
      : undefined;
  }
  if (first !== 'shield') return undefined;
  if (second === 'shield-zones' && parts.length === 2) return { operation: 'shield_zone', ids: [] };
  if (second !== 'metrics') return undefined;
  if (third === 'rate-limits' && fourth && parts.length === 4)
    return { operation: 'rate_limit', ids: [fourth] };
  if (third === 'shield-zone' && fourth && fifth === 'api-guardian' && sixth === 'endpoint' && seventh) {
    return parts.length === 7 ? { operation: 'api_guardian', ids: [fourth, seventh] } : undefined;
  }
  return undefined;
}
