/**
 * Why something is wrong: what fails for one reason is one cause, however many targets and listings it affects. The status page,
 * `--once`, the log and the exporter's own metrics read the same list. Pure: it knows no page and no terminal.
 */

import type { ListingStatus } from '../polling/listings.ts';
import type { Failure } from '../polling/loop.ts';
import type { TargetStatus } from '../polling/target-states.ts';
import type { ApiName } from '../resources/resource.ts';
import { count, durationInWords, plural } from '../text.ts';
import { adviceOn, isReason, type Reason, reasons } from './advice.ts';
import type { Cause, CauseFilter, CauseInput, CauseKind } from './cause.ts';
import { exporterCauses } from './exporter-causes.ts';

/** What fails for one reason. */
interface Group {
  readonly id: string;
  /** Whether it is a whole host that cannot be read. */
  readonly isOutage?: boolean;
  readonly reason: Reason;
  readonly failure: Failure | undefined;
  /** The APIs that it concerns. */
  readonly apis: Set<ApiName>;
  readonly credential: string;
  readonly targets: TargetStatus[];
  readonly listings: ListingStatus[];
}

/** Which group a failure belongs to. */
type Place = Pick<Group, 'id' | 'reason' | 'isOutage'>;

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** The causes of all that is wrong, the worst first. */
export function causesOf(input: CauseInput): readonly Cause[] {
  const groups = groupsOf(input);
  const causes = [...Array.from(groups.values(), (group) => toCause(group, input)), ...exporterCauses(input)];
  const size = ({ targets, listings }: Cause) => targets.length + listings.length;
  const rank = ({ tone, reason }: Cause) => (tone === 'bad' ? 0 : reasons.length) + reasons.indexOf(reason);
  return causes.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a));
}

/** Since when nothing at all can be read, as Unix time; undefined while something can. */
export function nothingReadSince(causes: readonly Cause[], input: CauseInput): number | undefined {
  const { answers } = input;
  const isDown = (api: ApiName) => answers.isUnreadable(api) || answers.isFailing(api);
  if (answers.apis.length === 0 || !answers.apis.every(isDown)) return undefined;
  return earliest(
    causes
      .filter(({ targets, listings }) => targets.length + listings.length > 0)
      .flatMap(({ sinceMs }) => sinceMs ?? []),
  );
}

function groupsOf(input: CauseInput): ReadonlyMap<string, Group> {
  const { targets, listings, kinds, exporter } = input;
  const apiOf = new Map(kinds.map(({ kind, api }) => [kind, api]));
  const paused = new Set(exporter.pauses.map(({ api }) => api));
  const groups = new Map<string, Group>();
  const groupOf = (place: Place, failure: Failure | undefined, api: ApiName, credential: string) => {
    const known = groups.get(place.id);
    const group: Group = known ?? {
      ...place,
      failure,
      apis: new Set(),
      credential,
      targets: [],
      listings: [],
    };
    groups.set(place.id, group);
    group.apis.add(api);
    return group;
  };
  for (const { api } of exporter.pauses)
    groupOf({ id: `paused ${api}`, reason: 'rate_limited' }, undefined, api, '');
  for (const status of targets) {
    const { target, lastFailure, state } = status;
    const api = apiOf.get(target.kind) ?? 'core';
    let place: Place | undefined;
    if (state === 'absent') place = { id: `absent ${target.kind}`, reason: 'not_found' };
    else if (state === 'stale')
      place = paused.has(api)
        ? { id: `paused ${api}`, reason: 'rate_limited' }
        : { id: `stale ${api}`, reason: 'stale' };
    else if (lastFailure) place = placeOf(lastFailure, api, target.credential, input);
    if (place) groupOf(place, lastFailure, api, target.credential).targets.push(status);
  }
  for (const status of listings) {
    const { poll, lastFailure } = status;
    if (!lastFailure) continue;
    const place = placeOf(lastFailure, poll.api, poll.credential, input);
    groupOf(place, lastFailure, poll.api, poll.credential).listings.push(status);
  }
  return groups;
}

const outageResults: readonly string[] = ['network', 'timeout', 'server_error', 'schema'];

function placeOf(
  failure: Failure,
  api: ApiName,
  credential: string,
  { answers, baseUrlOf }: CauseInput,
): Place {
  const { result, message, status, errorKey } = failure;
  if (result === 'auth') {
    if (status === undefined) return { id: `key ${credential}`, reason: 'unreadable_key' };
    if (status !== 401 || !answers.isRefused(api, credential))
      return { id: `denied ${api} ${credential}`, reason: 'denied' };
    return { id: `refused ${credential}`, reason: api === 'video' ? 'library_key' : 'refused' };
  }
  if (result === 'rate_limited') return { id: `paused ${api}`, reason: 'rate_limited' };
  if (outageResults.includes(result) && answers.isUnreadable(api)) {
    const reason = isReason(result) ? result : 'server_error';
    return { id: `host ${hostOf(baseUrlOf(api))}`, reason, isOutage: true };
  }
  if (status === 404 && !errorKey && answers.isFailing(api))
    return { id: `address ${api}`, reason: 'address' };
  const reason = isReason(result) ? result : 'rejected';
  return { id: `${api} ${result} ${message}`, reason };
}

function toCause(group: Group, input: CauseInput): Cause {
  const { id, reason, isOutage, targets, listings } = group;
  const nouns = nounsOf(group, input.kinds);
  const since = earliest([...targets, ...listings].flatMap(({ lastFailure }) => lastFailure?.sinceMs ?? []));
  const { meaning, stage } = meaningOf(group, input);
  return {
    ...adviceOn(reason),
    ...wordsOf(group, nouns, input),
    id,
    reason,
    affected: affectedBy(group, nouns),
    meaning: meaning.filter(Boolean).join(' '),
    stage,
    isOutage,
    sinceMs: Number.isFinite(since) ? since : undefined,
    targets,
    listings,
    filter: filterOf(group),
  };
}

function nounsOf({ targets }: Group, kinds: readonly CauseKind[]): readonly string[] {
  const known = new Map(kinds.map(({ kind, noun }) => [kind, noun]));
  return [...new Set(targets.map(({ target }) => target.kind))].map((kind) => known.get(kind) ?? kind);
}

/** `the core API`, `the application, shield and core APIs` */
function apisText(apis: Iterable<ApiName>): string {
  const names = [...apis];
  const last = names.at(-1) ?? '';
  return names.length < 2 ? `the ${last} API` : `the ${names.slice(0, -1).join(', ')} and ${last} APIs`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

type Words = Pick<Cause, 'title'> & Partial<Pick<Cause, 'advice' | 'tone'>>;

/** The title, and what is to be done or how bad it is where that depends on more than the reason. */
function wordsOf(group: Group, nouns: readonly string[], input: CauseInput): Words {
  const { reason, failure, apis, credential, listings } = group;
  const { kinds, keySource, baseUrlOf, answers } = input;
  const [api = 'core'] = apis;
  const message = failure?.message.replace(/\.$/, '') ?? '';
  const key = `the key of ${credential} (${keySource(credential)})`;
  const elsewhere = answers.worksAt(credential).filter((one) => !apis.has(one));
  const works =
    elsewhere.length > 0
      ? `, and ${apisText(elsewhere)} ${elsewhere.length > 1 ? 'accept' : 'accepts'} it`
      : '';
  const refuses = apis.size > 1 ? 'refuse' : 'refuses';
  const leaveOut = () => {
    const affected = new Set([
      ...group.targets.map(({ target }) => target.kind),
      ...listings.map(({ poll }) => poll.kind),
    ]);
    const isAffected = (kind: CauseKind) =>
      affected.has(kind.kind) || (apis.has(kind.api) && answers.isFailing(kind.api));
    const names = kinds.filter(isAffected).map(({ kind }) => kind);
    return `The key lacks the right, or the account the product. Use another key, or leave these kinds out: \`discovery: { except: [${names.join(', ')}] }\`.`;
  };
  if (reason === 'refused' || reason === 'library_key') {
    // No configuration can have such a name: it came with a listing.
    const isFound = credential.includes('/');
    if (elsewhere.length === 0)
      return {
        title: `${capital(apisText(apis))} ${refuses} ${key}: ${message}`,
        ...(isFound && { advice: foundKeyAdvice }),
      };
    return {
      title: `${capital(apisText(apis))} ${refuses} ${key}${works}: ${message}`,
      advice: leaveOut(),
      tone: 'warn',
    };
  }
  if (reason === 'denied') {
    const what = nouns.length > 0 ? nouns : listings.map(({ poll }) => poll.listing.nouns);
    const isAll = answers.isFailing(api) || what.length > maxNamedKinds;
    return {
      title: `${capital(key)} may not read ${isAll ? `what the ${api} API has` : what.join(', ')}: ${message}${works}`,
      advice: leaveOut(),
    };
  }
  if (reason === 'unreadable_key') return { title: `${capital(key)} cannot be used: ${message}` };
  if (reason === 'address')
    return {
      title: `Every request to ${baseUrlOf(api)} answers HTTP 404`,
      advice: `Correct apis.${api}.base_url.`,
    };
  if (reason === 'rate_limited') {
    const pause = input.exporter.pauses.find((one) => one.api === api);
    const until = pause && `; it gets no requests for ${durationInWords(pause.untilMs - input.nowMs)}`;
    return { title: `The ${api} API answered 429${until ?? ''}` };
  }
  if (reason === 'stale') return { title: `Values of the ${api} API were not read again in time` };
  return { title: failureTitle(group, input) };
}

function failureTitle(
  { id, isOutage, failure, apis, targets, listings }: Group,
  { baseUrlOf }: CauseInput,
): string {
  const [api = 'core'] = apis;
  const { message = '', result = '' } = failure ?? {};
  if (isOutage) {
    const messages = new Map<string, number>();
    for (const { lastFailure } of [...targets, ...listings])
      if (lastFailure) messages.set(lastFailure.message, (messages.get(lastFailure.message) ?? 0) + 1);
    const [first = message, ...others] = [...messages]
      .toSorted(([, a], [, b]) => b - a)
      .map(([text]) => text);
    const more = others.length > 0 ? `, and ${plural(others.length, 'other reason')}` : '';
    return `Nothing can be read from ${hostOf(baseUrlOf(api))}: ${first}${more}`;
  }
  if (id.startsWith('absent ')) return message;
  const namesApi = /API|apis\./.test(message) || ['schema', 'rejected'].includes(result);
  if (namesApi) return message;
  return result === 'network' ? `The ${api} API: ${message}` : `${message} from the ${api} API`;
}

const maxNamedKinds = 3;

const foundKeyAdvice =
  'It came with the list of libraries. The key of a new library works after some seconds; otherwise name a credential for the section.';

function affectedBy({ targets, listings }: Group, nouns: readonly string[]): string {
  const kinds = nouns.length > maxNamedKinds ? plural(nouns.length, 'kind') : nouns.join(', ');
  const ofTargets = targets.length > 0 && `${plural(targets.length, 'target')} (${kinds})`;
  const ofListings = listings.length > 0 && plural(listings.length, 'listing');
  return [ofTargets, ofListings].filter(Boolean).join(', ');
}

/** How many values are no longer exported, and when the next will be dropped. */
function meaningOf(
  { targets, listings }: Group,
  { nowMs }: CauseInput,
): { meaning: readonly string[]; stage: string } {
  const read = targets.filter(
    ({ lastSuccessMs, state }) => lastSuccessMs !== undefined && state !== 'absent',
  );
  const kept = read.filter(({ stale }) => !stale);
  const gone = targets.filter(({ state }) => state === 'absent').length;
  const dropped = read.length - kept.length + gone;
  const never = targets.length - read.length - gone;
  const ends = kept.map(({ lastSuccessMs = 0, target }) => lastSuccessMs + target.staleAfterMs);
  const wereFound = listings.some(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const meaning = [
    never > 0 ? `${plural(never, 'target')} ${never === 1 ? 'has' : 'have'} no values yet.` : '',
    dropped > 0 ? `${plural(dropped, 'target')} ${dropped === 1 ? 'has' : 'have'} no values now.` : '',
    kept.length > 0 ? keptText(kept.length, earliest(ends) - nowMs) : '',
    listings.length > 0 && wereFound ? 'What was found before is still polled; nothing new is found.' : '',
    listings.length > 0 && !wereFound ? 'Nothing was found yet.' : '',
  ];
  return { meaning, stage: kept.length === 0 && dropped > 0 ? 'dropped' : 'kept' };
}

/** restMs: until the first value is dropped. */
function keptText(targets: number, restMs: number): string {
  const rest = durationInWords(restMs);
  return targets === 1
    ? `1 target still shows old values, for ${rest} more.`
    : `${count(targets)} targets still show old values, the first for ${rest} more.`;
}

function filterOf({ id, isOutage, targets, failure, reason, credential }: Group): CauseFilter {
  const kinds = [...new Set(targets.map(({ target }) => target.kind))];
  if (id.startsWith('absent ')) return { kinds, states: ['absent'], text: '' };
  if (reason === 'stale') return { kinds, states: ['stale'], text: '' };
  const isOfKey = ['refused', 'library_key', 'denied', 'unreadable_key'].includes(reason);
  if (isOfKey) return { kinds, states: ['failing'], text: `auth ${credential}` };
  const isOne = !isOutage && reason !== 'rate_limited' && failure !== undefined;
  return { kinds, states: ['failing'], text: isOne ? `${failure.result} ${failure.message}` : '' };
}

/** Infinity if there are none. `Math.min(...times)` would fail for very many. */
function earliest(times: readonly number[]): number {
  return times.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY);
}
