/**
 * Why something is wrong: what fails for one reason is one cause, however many targets and listings it affects. The status
 * page and `--once` report the same causes. Pure: it knows no page and no terminal.
 */
import type { ListingStatus } from '../polling/listings.ts';
import type { Failure, TargetStatus } from '../polling/target-states.ts';
import type { ApiName, Resource } from '../resources/resource.ts';
import { count, durationInWords, plural } from '../text.ts';

/** What people call a kind, and where it is read. */
export type CauseKind = Pick<Resource, 'kind' | 'api' | 'noun'>;

/** What to do, by the result of a poll or by what is wrong with the exporter. The worst comes first. */
const advices: Readonly<Record<string, string>> = {
  refused: 'Replace the key: a key file is read again at once, a variable only at a restart.',
  network: 'Check the connection of this machine: its DNS, its firewall, its proxy.',
  server_error: 'Look at the status page of bunny.net. Nothing to do here: the exporter goes on asking.',
  timeout: 'Look at the status page of bunny.net, or raise the timeout of this API.',
  rate_limited: 'Lower requests_per_second of this API, or raise intervals.',
  schema:
    'Read the reason: what it says to check or to raise, do. Else update the exporter; if that does not help, send us a report (--report).',
  rejected: 'Read the reason: it is what the API says.',
  auth: 'Use a key that may read this, or leave the kind out of the configuration.',
  not_found: 'Remove what is gone from the configuration.',
  unknown: 'Read the reason.',
  reload: 'Correct what it names, and reload again.',
  max_series: 'Raise limits.max_series, or poll fewer targets.',
  pace: 'Read the runbook.',
  drift: 'Update the exporter; if that does not help, send us a report (--report).',
};

/** Other reasons have the runbook for kinds that cannot be read. */
const runbooks: Readonly<Record<string, string>> = {
  refused: 'BunnynetKeyRefused',
  rate_limited: 'BunnynetApiPaused',
  schema: 'BunnynetSchemaDrift',
  auth: 'BunnynetKeyRefused',
  not_found: 'BunnynetTargetNotFound',
  reload: 'BunnynetReloadFailed',
  max_series: 'BunnynetSeriesDropped',
  pace: 'BunnynetScheduleLag',
  drift: 'BunnynetSchemaDrift',
};
const warnings: readonly string[] = ['rate_limited', 'auth', 'not_found', 'max_series', 'pace', 'drift'];

export type Advice = ReturnType<typeof adviceOn>;

/** How bad it is, what to do, and the page that says more. */
export function adviceOn(reason: string) {
  const runbook = runbooks[reason] ?? 'BunnynetKindUnreadable';
  return {
    tone: warnings.includes(reason) ? 'warn' : 'bad',
    advice: advices[reason] ?? '',
    runbook: `https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks/${runbook}.md`,
  } as const;
}

/** What fails for one reason. */
interface Group {
  readonly failure: Failure;
  /** What the failures have in common, as words that a search on the status page finds them by. */
  readonly words: string;
  readonly api: ApiName | undefined;
  readonly credential: string;
  readonly targets: TargetStatus[];
  readonly listings: ListingStatus[];
}

/** The causes of all that fails, the worst first. nowMs: Unix time. */
export function causesOf(
  targets: Iterable<TargetStatus>,
  listings: Iterable<ListingStatus>,
  kinds: readonly CauseKind[],
  nowMs: number,
): readonly Cause[] {
  const known = new Map(kinds.map((each) => [each.kind, each]));
  const groups = new Map<string, Group>();
  const groupOf = (failure: Failure, kind: string, api: ApiName | undefined, credential: string) => {
    let words = `${failure.result} ${failure.message}`;
    // The message names each target.
    if (failure.result === 'auth') words = `auth ${failure.isKeyRefused ? credential : kind}`;
    const key = `${api} ${failure.isKeyRefused === true} ${words}`;
    const group = groups.get(key) ?? { failure, words, api, credential, targets: [], listings: [] };
    groups.set(key, group);
    return group;
  };
  for (const status of targets) {
    const { target, lastFailure, state } = status;
    if (!lastFailure || state === 'ok' || state === 'pending') continue;
    groupOf(lastFailure, target.kind, known.get(target.kind)?.api, target.credential).targets.push(status);
  }
  for (const status of listings) {
    const { poll, lastFailure } = status;
    if (lastFailure) groupOf(lastFailure, poll.kind, poll.api, poll.credential).listings.push(status);
  }
  const rank = ({ failure }: Group) => Object.keys(advices).indexOf(reasonOf(failure));
  const size = (group: Group) => group.targets.length + group.listings.length;
  return [...groups.values()]
    .toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a))
    .map((group) => toCause(group, known, nowMs));
}

/** The key of the tables above. */
function reasonOf({ result, isKeyRefused }: Failure): string {
  if (isKeyRefused) return 'refused';
  return Object.hasOwn(advices, result) ? result : 'unknown';
}

export type Cause = Readonly<ReturnType<typeof toCause>>;

function toCause(group: Group, known: ReadonlyMap<string, CauseKind>, nowMs: number) {
  const { failure, words, targets, listings } = group;
  const kinds = [...new Set(targets.map(({ target }) => target.kind))];
  const nouns = kinds.map((kind) => known.get(kind)?.noun ?? kind);
  const since = [...targets, ...listings].map(
    ({ lastFailure }) => lastFailure?.sinceMs ?? lastFailure?.atMs ?? nowMs,
  );
  return {
    ...adviceOn(reasonOf(failure)),
    // `HTTP 500 from the application API`
    title: titleOf(group, nouns),
    // `13 targets (application), 2 listings`
    affected: affectedBy(group, nouns),
    // When the first of them began to fail.
    sinceMs: earliest(since),
    // What it means for the values on the metrics page.
    meaning: meaningOf(targets, nowMs),
    words,
    kinds,
    targets,
    listings,
  };
}

function titleOf({ failure, api, credential, listings }: Group, nouns: readonly string[]): string {
  const { result, message, isKeyRefused } = failure;
  if (isKeyRefused) return `The key of ${credential} is refused`;
  if (result === 'auth') return `Not allowed to read: ${nouns[0] ?? listings[0]?.poll.listing.nouns}`;
  const namesApi = /API|apis\./.test(message) || ['schema', 'rejected', 'not_found'].includes(result);
  if (namesApi || api === undefined) return message;
  // The reason of these ends with advice.
  return result === 'network' ? `${api} API: ${message}` : `${message} from the ${api} API`;
}

const maxNamedKinds = 3;

function affectedBy({ targets, listings }: Group, nouns: readonly string[]): string {
  const kinds = nouns.length > maxNamedKinds ? plural(nouns.length, 'kind') : nouns.join(', ');
  const ofTargets = targets.length > 0 && `${plural(targets.length, 'target')} (${kinds})`;
  const ofListings = listings.length > 0 && plural(listings.length, 'listing');
  return [ofTargets, ofListings].filter(Boolean).join(', ');
}

/** How many values have left the page, and when the next leave. */
function meaningOf(targets: readonly TargetStatus[], nowMs: number): string {
  if (targets.length === 0) return 'what was found before stays; nothing new is found';
  const read = targets.filter(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const kept = read.filter(({ stale, state }) => !stale && state !== 'absent');
  const ends = kept.map(({ lastSuccessMs = 0, target }) => lastSuccessMs + target.staleAfterMs);
  const firstFor = durationInWords(earliest(ends) - nowMs);
  const parts = [
    [read.length - kept.length, 'have left the page'],
    [targets.length - read.length, 'were never read'],
    [kept.length, `stay until they are stale; the first leave in ${firstFor}`],
  ] as const;
  return parts
    .filter(([n]) => n > 0)
    .map(([n, what]) => `the values of ${n === targets.length ? 'all' : count(n)} ${what}`)
    .join('; ');
}

/** Infinity if there are none. `Math.min(...times)` would fail for very many. */
function earliest(times: readonly number[]): number {
  return times.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY);
}
