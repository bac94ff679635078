/**
 * Why something is wrong: what fails for one reason is one cause, however many targets and listings it hits. The status page and
 * `--once` tell the same causes. Pure: it knows no page and no terminal.
 */
import type { ListingStatus } from '../polling/listings.ts';
import type { Failure, TargetStatus } from '../polling/target-states.ts';
import type { ApiName, Tone } from '../resources/resource.ts';
import { count, durationInWords, plural } from '../text.ts';

/** What people call a kind, and where it is read. */
export interface CauseKind {
  readonly kind: string;
  readonly api: ApiName;
  readonly noun: string;
}

export interface Cause {
  readonly tone: Tone;
  /** `HTTP 500 from the application API` */
  readonly title: string;
  /** `13 targets (application), 2 listings` */
  readonly affected: string;
  /** When the first of them began to fail. Unix time. */
  readonly sinceMs: number;
  /** What it means for the values on the page. */
  readonly meaning: string;
  /** What to do. */
  readonly advice: string;
  /** The page that says more. */
  readonly runbook: string;
  readonly targets: readonly TargetStatus[];
  readonly listings: readonly ListingStatus[];
  /** Whose key is refused, where that is the cause. */
  readonly credential: string | undefined;
}

/** What to do, by the result of a poll. The worst comes first. */
const advices: Readonly<Record<string, string>> = {
  refused: 'Replace the key: the exporter uses the new one with the next request, without a restart.',
  network: 'Check the connection of this machine: its DNS, its firewall, its proxy.',
  server_error: 'Look at the status page of bunny.net. Nothing to do here: the exporter goes on asking.',
  timeout: 'Look at the status page of bunny.net, or raise the timeout of this API.',
  rate_limited: 'Lower requests_per_second of this API, or raise intervals.',
  schema: 'Update the exporter; if that does not help, send us a report (--report).',
  rejected: 'Read the reason: it is what the API says.',
  auth: 'Use a key that may read this, or leave the kind out of the configuration.',
  not_found: 'Take what is gone out of the configuration.',
  unknown: 'Read the reason.',
};

/** The page that says more; of other results, the one on kinds that cannot be read. */
const runbooks: Readonly<Record<string, string>> = {
  refused: 'BunnynetKeyRefused',
  rate_limited: 'BunnynetApiPaused',
  schema: 'BunnynetSchemaDrift',
  auth: 'BunnynetKeyRefused',
  not_found: 'BunnynetTargetNotFound',
};
const warnings: readonly string[] = ['rate_limited', 'auth', 'not_found'];

interface Group {
  readonly failure: Failure;
  readonly api: ApiName | undefined;
  readonly credential: string;
  readonly kinds: Set<string>;
  readonly targets: TargetStatus[];
  readonly listings: ListingStatus[];
  sinceMs: number;
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
    const what = failure.isKeyRefused
      ? `key ${credential}`
      : failure.result === 'auth'
        ? `auth ${kind}`
        : `${failure.result} ${failure.message}`;
    const key = `${api} ${what}`;
    const fresh: Group = {
      failure,
      api,
      credential,
      kinds: new Set(),
      targets: [],
      listings: [],
      sinceMs: Number.POSITIVE_INFINITY,
    };
    const group = groups.get(key) ?? fresh;
    groups.set(key, group);
    group.sinceMs = Math.min(group.sinceMs, failure.sinceMs ?? failure.atMs);
    return group;
  };
  for (const status of targets) {
    const { target, lastFailure, state } = status;
    if (!lastFailure || state === 'ok' || state === 'pending') continue;
    const group = groupOf(lastFailure, target.kind, known.get(target.kind)?.api, target.credential);
    group.targets.push(status);
    group.kinds.add(known.get(target.kind)?.noun ?? target.kind);
  }
  for (const status of listings) {
    const { poll, lastFailure } = status;
    if (lastFailure) groupOf(lastFailure, poll.kind, poll.api, poll.credential).listings.push(status);
  }
  const size = ({ targets: ofTargets, listings: ofListings }: Group) => ofTargets.length + ofListings.length;
  const rank = (group: Group) => Object.keys(advices).indexOf(reasonOf(group));
  return [...groups.values()]
    .toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a))
    .map((group) => toCause(group, nowMs));
}

/** The result of its polls, as the tables above name it. */
function reasonOf({ failure: { result, isKeyRefused } }: Group): string {
  if (isKeyRefused) return 'refused';
  return Object.hasOwn(advices, result) ? result : 'unknown';
}

function toCause(group: Group, nowMs: number): Cause {
  const { targets, listings, sinceMs, credential, failure } = group;
  const reason = reasonOf(group);
  const runbook = runbooks[reason] ?? 'BunnynetKindUnreadable';
  return {
    tone: warnings.includes(reason) ? 'warn' : 'bad',
    title: titleOf(group),
    affected: affectedBy(group),
    sinceMs,
    meaning: meaningOf(targets, listings, nowMs),
    advice: advices[reason] ?? '',
    runbook: `https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/docs/runbooks/${runbook}.md`,
    targets,
    listings,
    credential: failure.isKeyRefused ? credential : undefined,
  };
}

function titleOf({
  failure: { result, message, isKeyRefused },
  api,
  credential,
  kinds,
  listings,
}: Group): string {
  if (isKeyRefused) return `The key of ${credential} is refused`;
  if (result === 'auth') {
    const [what = listings[0]?.poll.listing.nouns ?? 'this'] = kinds;
    return `Not allowed to read: ${what}`;
  }
  const isTold = message.includes('API') || ['schema', 'rejected', 'not_found'].includes(result);
  return isTold || api === undefined ? message : `${message} from the ${api} API`;
}

/** How many kinds are named. */
const maxNamedKinds = 3;

function affectedBy({ targets, listings, kinds }: Group): string {
  const named = [...kinds].slice(0, maxNamedKinds);
  const more = kinds.size - named.length;
  const of = `${named.join(', ')}${more > 0 ? ` and ${plural(more, 'more kind')}` : ''}`;
  return [
    targets.length > 0 ? `${plural(targets.length, 'target')} (${of})` : '',
    listings.length > 0 ? plural(listings.length, 'listing') : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** What of the values is gone, and when the next leave. */
function meaningOf(
  targets: readonly TargetStatus[],
  listings: readonly ListingStatus[],
  nowMs: number,
): string {
  if (targets.length === 0)
    return `what ${listings.length === 1 ? 'it has' : 'they have'} found before stays; nothing new is found`;
  const gone = targets.filter(({ stale, state }) => stale || state === 'absent').length;
  const never = targets.filter(({ lastSuccessMs, stale }) => lastSuccessMs === undefined && !stale).length;
  const left = targets.flatMap(({ lastSuccessMs, stale, state, target }) =>
    lastSuccessMs === undefined || stale || state === 'absent' ? [] : [lastSuccessMs + target.staleAfterMs],
  );
  const parts = [
    gone > 0 ? `the values of ${gone === targets.length ? 'all' : count(gone)} have left the page` : '',
    never > 0
      ? `${never === targets.length ? 'there are' : never === 1 ? 'one has' : `${count(never)} have`} no values yet`
      : '',
    left.length > 0
      ? `the values of ${left.length === targets.length ? 'all' : count(left.length)} stay until they are too old, the first for ${durationInWords(Math.max(0, Math.min(...left) - nowMs))}`
      : '',
  ];
  return parts.filter(Boolean).join('; ');
}
