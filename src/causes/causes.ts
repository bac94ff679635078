/**
 * Why something is wrong: what fails for one reason is one cause, however many targets and listings it affects. The status page,
 * `--once`, the log and the exporter's own metrics read the same list. Pure: it knows no page and no terminal.
 */

import { unixOf } from '../clock.ts';
import { acceptedBeside, failingSince, isRefused, isUnread } from '../polling/health.ts';
import type { ListingStatus } from '../polling/listing-status.ts';
import { type Failure, isHostFailure, isUnknownId } from '../polling/record.ts';
import { isFoundKey, type Spec } from '../polling/spec.ts';
import type { TargetStatus } from '../polling/target-task.ts';
import type { ApiName } from '../resources/resource.ts';
import { andList, capitalised, count, durationInWords, plural } from '../text.ts';
import { adviceOn, isReason, type Reason, reasons } from './advice.ts';
import type { Cause, CauseFilter, CauseInput, CauseKind } from './cause.ts';
import { exporterCauses } from './exporter-causes.ts';

/** Why something fails. What has the same is one group. */
interface Diagnosis {
  readonly id: string;
  /**
   * What they have in common: a host that cannot be read, a key, the pause of a key, that they are missing from a listing, that they were
   * not read in time, or what was answered.
   */
  readonly nature: 'outage' | 'key' | 'pause' | 'absent' | 'stale' | 'answer';
  readonly reason: Reason;
}

/** What fails for one reason. */
interface Group extends Diagnosis {
  /** The APIs that it concerns. */
  readonly apis: Set<ApiName>;
  readonly credential: string;
  readonly targets: TargetStatus[];
  readonly listings: ListingStatus[];
  /** Those of the targets. */
  readonly kinds: Set<string>;
  /** The different failures by their messages, and how many targets and listings have each. */
  readonly failures: Map<string, { readonly failure: Failure; affected: number }>;
  /** When the first of the failures was. Unix time; infinite without one. */
  sinceMs: number;
}

function hostOf(baseUrl: string): string {
  return new URL(baseUrl).host;
}

/** The worst first: what is bad by reason, then warnings; of the same reason, what affects the most. */
export function causesOf(input: CauseInput): readonly Cause[] {
  const causes = [...groupsOf(input).map((group) => toCause(group, input)), ...exporterCauses(input)];
  const size = ({ targets, listings }: Cause) => targets.length + listings.length;
  const rank = ({ tone, reason }: Cause) => (tone === 'bad' ? 0 : reasons.length) + reasons.indexOf(reason);
  return causes.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a));
}

function groupsOf(input: CauseInput): readonly Group[] {
  const { targets, listings, exporter } = input;
  const paused = new Set(exporter.pauses.map(({ api, credential, kind }) => `${api} ${credential} ${kind}`));
  // One text for each API that is down: thousands of targets may have the same.
  const outageIds = new Map(
    [...input.health.apis]
      .filter(([, { state }]) => state === 'down')
      .map(([api]) => [api, `host ${hostOf(input.baseUrlOf(api))}`]),
  );
  const groups = new Map<string, Group>();
  const groupOf = (diagnosis: Diagnosis, api: ApiName, credential: string): Group => {
    let group = groups.get(diagnosis.id);
    if (!group) {
      group = {
        ...diagnosis,
        credential,
        apis: new Set(),
        targets: [],
        listings: [],
        kinds: new Set(),
        failures: new Map(),
        sinceMs: Number.POSITIVE_INFINITY,
      };
      groups.set(diagnosis.id, group);
    }
    group.apis.add(api);
    return group;
  };
  for (const { api, credential } of exporter.pauses) groupOf(pauseOf(api, credential), api, credential);
  for (const status of targets) {
    const { target, lastFailure, state } = status;
    const { kind, api, credential } = target;
    let diagnosis: Diagnosis | undefined;
    if (state === 'absent') diagnosis = { id: `absent ${kind}`, nature: 'absent', reason: 'not_found' };
    else if (state === 'stale') {
      const isPaused = (ofCredential: string, ofKind: string) =>
        paused.has(`${api} ${ofCredential} ${ofKind}`);
      const isOwnPaused = isPaused(credential, kind) || isPaused(credential, '');
      const pausing = isOwnPaused ? credential : isPaused('', '') ? '' : undefined;
      const outageId = outageIds.get(api);
      if (pausing !== undefined) diagnosis = pauseOf(api, pausing);
      // It waits for an API that does not answer.
      else if (outageId !== undefined) diagnosis = { id: outageId, nature: 'outage', reason: 'network' };
      else diagnosis = { id: `stale ${api}`, nature: 'stale', reason: 'stale' };
    } else if (lastFailure) diagnosis = diagnose(lastFailure, api, target, input, outageIds);
    if (!diagnosis || saysNothingYet(lastFailure)) continue;
    const group = groupOf(diagnosis, api, credential);
    group.targets.push(status);
    group.kinds.add(kind);
    if (lastFailure) addFailure(group, lastFailure);
  }
  for (const status of listings) {
    const { api, credential } = status.poll;
    if (!status.lastFailure || saysNothingYet(status.lastFailure)) continue;
    const diagnosis = diagnose(status.lastFailure, api, status.poll, input, outageIds);
    const group = groupOf(diagnosis, api, credential);
    group.listings.push(status);
    addFailure(group, status.lastFailure);
  }
  return [...groups.values()];
}

function addFailure(group: Group, failure: Failure): void {
  group.sinceMs = Math.min(group.sinceMs, failure.sinceMs);
  const known = group.failures.get(failure.message);
  if (known) known.affected++;
  else group.failures.set(failure.message, { failure, affected: 1 });
}

/** Whether a 401 says nothing yet: soon it is known what it is about. */
function saysNothingYet(failure: Failure | undefined): boolean {
  return failure?.result === 'auth' && (failure.doubt === 'new_key' || failure.doubt === 'asking');
}

/** Of what a pause holds back. credential: empty where the API as a whole is paused. */
function pauseOf(api: ApiName, credential: string): Diagnosis {
  return { id: `paused ${api} ${credential}`, nature: 'pause', reason: 'rate_limited' };
}

function diagnose(
  failure: Failure,
  api: ApiName,
  spec: Spec,
  { health, noKeyReason }: CauseInput,
  outageIds: ReadonlyMap<ApiName, string>,
): Diagnosis {
  const { result, message, status, errorKey, isOfApi, doubt } = failure;
  const { credential } = spec;
  const of = health.apis.get(api);
  const ofKey = (what: string, reason: Reason): Diagnosis => ({
    id: `${what} ${credential}`,
    nature: 'key',
    reason,
  });
  const noKey = result === 'auth' && status === undefined ? noKeyReason(credential) : undefined;
  if (noKey !== undefined) return { id: noKey, nature: 'key', reason: noKey };
  if (result === 'auth' && status === undefined) return ofKey('key', 'unreadable_key');
  const isOfRefused = status === 401 && isRefused(health, api, credential);
  if (result === 'auth' && isOfRefused) return ofKey('refused', api === 'video' ? 'library_key' : 'refused');
  if (result === 'auth') return ofKey(`${doubt ?? 'denied'} ${api}`, doubt ? 'unknown_id' : 'denied');
  if (result === 'rate_limited') return pauseOf(api, credential);
  const outageId = outageIds.get(api);
  if (isHostFailure(failure)) {
    const reason = reasonOf(failure);
    if (outageId !== undefined) return { id: outageId, nature: 'outage', reason };
    // The messages of the others differ where the reason does not: `HTTP 500` and `HTTP 503`.
    return { id: `${api} ${result}${result === 'schema' ? ` ${message}` : ''}`, nature: 'answer', reason };
  }
  if (status === 404 && !errorKey && !isOfApi && isUnread(of))
    return { id: `address ${api}`, nature: 'answer', reason: 'address' };
  const reason = isUnknownId(failure) ? 'unknown_id' : reasonOf(failure);
  return { id: `${api} ${result} ${message}`, nature: 'answer', reason };
}

function reasonOf({ result }: Failure): Reason {
  return isReason(result) ? result : 'rejected';
}

function toCause(group: Group, input: CauseInput): Cause {
  const { id, nature, targets, listings, sinceMs } = group;
  // First the one that most of them have.
  const failures = [...group.failures.values()]
    .toSorted((a, b) => b.affected - a.affected)
    .map(({ failure }) => failure);
  const [failure] = failures;
  // While no answer comes, the failures of a group differ. The reason is that of most of them.
  const reason = failure && isHostFailure(failure) ? reasonOf(failure) : group.reason;
  const nouns = nounsOf(group, input.kinds);
  const apis = [...group.apis].flatMap((api) => input.health.apis.get(api) ?? []);
  const outageMs = nature === 'outage' ? failingSince(apis) : undefined;
  const since = outageMs === undefined ? sinceMs : unixOf(outageMs, input);
  return {
    ...adviceOn(reason),
    ...(failure?.advice !== undefined && { advice: failure.advice }),
    ...wordsOf(group, failures, nouns, input),
    ...(nature === 'outage' && { runbook: adviceOn('network').runbook }),
    id,
    reason,
    failure,
    affected: affectedBy(group, nouns),
    meaning: meaningOf(group, input),
    isDown: nature === 'outage',
    // The wall clock may have been set back since.
    sinceMs: Number.isFinite(since) ? Math.min(since, input.nowMs) : undefined,
    targets,
    listings,
    filter: filterOf(group, failures),
  };
}

function nounsOf(group: Group, kinds: readonly CauseKind[]): readonly string[] {
  return Array.from(group.kinds, (kind) => kinds.find((one) => one.kind === kind)?.noun ?? kind);
}

/** `the core API`, `the application, shield and core APIs` */
function apisText(apis: Iterable<ApiName>): string {
  const names = [...apis];
  return `the ${andList(names)} API${names.length === 1 ? '' : 's'}`;
}

type Words = Pick<Cause, 'title'> & Partial<Pick<Cause, 'advice' | 'tone'>>;

/** The title, and what is to be done or how bad it is where that depends on more than the reason. */
function wordsOf(
  group: Group,
  failures: readonly Failure[],
  nouns: readonly string[],
  input: CauseInput,
): Words {
  const { reason, nature, apis } = group;
  const [api = 'core'] = apis;
  const [failure] = failures;
  // The title goes on after the message.
  const message = failure?.message.replace(/\.$/, '') ?? '';
  const others = failures.length > 1 ? `, and ${plural(failures.length - 1, 'other reason')}` : '';
  if (nature === 'key') return wordsOfKey(group, message, nouns, input);
  if (nature === 'pause') {
    return wordsOfPause(api, group, input);
  }
  if (nature === 'stale') return { title: `Values of the ${api} API were not read again in time` };
  if (nature === 'absent') return { title: message };
  const baseUrl = input.baseUrlOf(api);
  if (nature === 'outage')
    return { title: `Nothing can be read from ${hostOf(baseUrl)}: ${message}${others}` };
  if (reason === 'address')
    return {
      title: `The ${api} API at ${baseUrl} answers HTTP 404 to every request`,
      advice: addressAdvice(input.addressNameOf(api)),
    };
  if (reason === 'unknown_id')
    return { title: `The ${api} API answers ${message} for an id, although it accepts the key` };
  // `HTTP 503 from the core API`, but `The core API: connection refused`. What timed out before it was sent has its own advice.
  const isUnsent = failure?.result === 'timeout' && failure.advice !== undefined;
  const isFrom = failure && !isUnsent && ['timeout', 'server_error', 'not_found'].includes(failure.result);
  return { title: `${isFrom ? `${message} from the ${api} API` : `The ${api} API: ${message}`}${others}` };
}

/** What to do where something else than the API seems to answer. setting: the one that sets its address; undefined for its own. */
function addressAdvice(setting: string | undefined): string {
  return setting !== undefined
    ? `Correct ${setting}.`
    : 'Something on the way answers, such as a firewall or a proxy, or nothing that is asked for there exists. Check both.';
}

/** Names the kinds, the key or the API, and says for how long it gets no requests of that. */
function wordsOfPause(api: ApiName, group: Group, input: CauseInput): Words {
  const { credential } = group;
  const pauses = input.exporter.pauses.filter((one) => one.api === api && one.credential === credential);
  const whole = pauses.filter(({ kind }) => kind === '');
  const [longest] = (whole.length > 0 ? whole : pauses).toSorted((a, b) => b.untilMs - a.untilMs);
  const titleOf = (asked: string, none: string) => {
    const rest = longest && `; it gets ${none} for ${durationInWords(longest.untilMs - input.nowMs)}`;
    return `The ${api} API answered 429 to ${asked}${rest ?? ''}`;
  };
  if (credential === '') return { title: titleOf('several keys', 'no requests') };
  const key = keyText(api, group, input);
  const ofPauses = pauses.map(({ kind }) => kind);
  const kinds = [...new Set([...ofPauses, ...group.kinds, ...group.listings.map(({ poll }) => poll.kind)])];
  if (whole.length > 0 || kinds.length === 0) return { title: titleOf(key, 'no requests with it') };
  const [those, names] = kinds.length === 1 ? ['this kind', 'the kind'] : ['these kinds', 'the kinds'];
  const text = kinds.length > maxNamedKinds ? plural(kinds.length, 'kind') : `${names} ${andList(kinds)}`;
  return {
    title: titleOf(`requests for ${text} with ${key}`, `none for ${those}`),
    // The same for one kind and for several: what is advised is said once.
    advice:
      'Raise the intervals of what gets 429. Lower requests_per_second of this API if other programs use the key, too.',
  };
}

/** Whose key it is: `the key of acme`, or with the account that its library belongs to. */
function keyText(api: ApiName, { credential }: Group, { health }: CauseInput): string {
  const account = health.apis.get(api)?.keys.get(credential)?.account;
  const isOwn = account === undefined || account === credential;
  return isOwn ? `the key of ${credential}` : `the key of ${credential} of the account ${account}`;
}

function wordsOfKey(group: Group, message: string, nouns: readonly string[], input: CauseInput): Words {
  const { reason, apis, credential, listings } = group;
  const { keySource, health } = input;
  if (reason === 'no_key') return { title: `${listedThingsIn(group)} listed without a key` };
  if (reason === 'read_only_key') {
    const what = nouns.length > 0 ? `each ${nouns.join(' and ')}` : 'all of it';
    return {
      title: `${listedThingsIn(group)} listed with a read-only key alone, which is not enough to read ${what}`,
    };
  }
  const key = `the key of ${credential} (${keySource(credential)})`;
  if (reason === 'unreadable_key') return { title: `${capitalised(key)} cannot be used: ${message}` };
  if (reason === 'unknown_id') {
    return {
      title: `${capitalised(apisText(apis))} answers ${message} for an id, and nothing else was read with ${key} since`,
      advice: 'The id is unknown, or the key is refused. Check both.',
    };
  }
  const elsewhere = acceptedBeside(health, credential, apis);
  const accepts = elsewhere.length > 1 ? 'accept' : 'accepts';
  const works = elsewhere.length > 0 ? `, and ${apisText(elsewhere)} ${accepts} it` : '';
  if (reason === 'denied') {
    const [api = 'core'] = apis;
    const what = nouns.length > 0 ? nouns : listings.map(({ poll }) => poll.listing.nouns);
    const isAll = isUnread(health.apis.get(api)) || what.length > maxNamedKinds;
    const whatText = isAll ? `what the ${api} API has` : what.join(', ');
    return {
      title: `${capitalised(key)} may not read ${whatText}: ${message}${works}`,
      advice: leaveOutAdvice(group, input),
    };
  }
  const refuses = apis.size > 1 ? 'refuse' : 'refuses';
  const title = `${capitalised(apisText(apis))} ${refuses} ${key}${works}: ${message}`;
  if (elsewhere.length > 0) return { title, advice: leaveOutAdvice(group, input), tone: 'warn' };
  return isFoundKey(credential) ? { title, advice: foundKeyAdvice } : { title };
}

/** `Library 4 was`, `Library 4, library 7 and 2 others were`: what the credentials of a group stand for. */
function listedThingsIn({ targets, listings }: Group): string {
  const credentials = [
    ...targets.map(({ target }) => target.credential),
    ...listings.map(({ poll }) => poll.credential),
  ];
  const names = [...new Set(credentials.map((name) => name.replace(/#.*/, '').replace('/', ' ')))];
  const shown = names.length > maxNamedKinds ? [...names.slice(0, 2), `${names.length - 2} others`] : names;
  return `${capitalised(andList(shown))} ${names.length === 1 ? 'was' : 'were'}`;
}

function leaveOutAdvice(group: Group, { kinds, health }: CauseInput): string {
  const { apis } = group;
  const affected = new Set([...group.kinds, ...group.listings.map(({ poll }) => poll.kind)]);
  const isAffected = ({ kind, api }: CauseKind) =>
    affected.has(kind) || (apis.has(api) && isUnread(health.apis.get(api)));
  const left = kinds.filter(isAffected);
  const inAll = left.filter(({ isCostly }) => !isCostly).map(({ kind }) => kind);
  const named = left.filter(({ isCostly }) => isCostly).map(({ section }) => section);
  const ways = [
    ...(inAll.length > 0 ? [`leave these kinds out: \`discovery: { except: [${inAll.join(', ')}] }\``] : []),
    ...(named.length > 0 ? [`remove the section ${andList(named)}`] : []),
  ];
  return `The key lacks the right, or the account the product. Use another key, or ${ways.join(', and ')}.`;
}

const maxNamedKinds = 3;

/** So many kinds have their names in what is affected. */
const maxAffectedKinds = 8;

const foundKeyAdvice =
  'It came with the list of libraries. The key of a new library works after some seconds; otherwise name a credential for the section.';

function affectedBy({ targets, listings }: Group, nouns: readonly string[]): string {
  const kinds = nouns.length > maxAffectedKinds ? plural(nouns.length, 'kind') : nouns.join(', ');
  const ofTargets = targets.length > 0 && `${plural(targets.length, 'target')} (${kinds})`;
  const ofListings = listings.length > 0 && plural(listings.length, 'listing');
  return [ofTargets, ofListings].filter(Boolean).join(', ');
}

/** How many values are no longer exported, and when the next will be dropped. */
function meaningOf({ targets, listings }: Group, { uptimeMs }: CauseInput): string {
  let [never, dropped, shown] = [0, 0, 0];
  let endMs = Number.POSITIVE_INFINITY;
  for (const { staleAtMs, state, hasValues, lastSuccessMs, lackingSinceMs } of targets) {
    // What the plan lacks has none to lose.
    if (lackingSinceMs !== undefined) continue;
    if (state === 'absent') dropped++;
    else if (lastSuccessMs === undefined) never++;
    else if (!hasValues) dropped++;
    else {
      shown++;
      endMs = Math.min(endMs, staleAtMs);
    }
  }
  const wereFound = listings.some(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const ofListings = wereFound
    ? 'What was found before is still polled; nothing new is found.'
    : 'Nothing was found yet.';
  return [
    never > 0 ? `${plural(never, 'target')} ${never === 1 ? 'has' : 'have'} no values yet.` : '',
    dropped > 0 ? `${plural(dropped, 'target')} ${dropped === 1 ? 'has' : 'have'} no values now.` : '',
    shown > 0 ? shownText(shown, endMs - uptimeMs) : '',
    listings.length > 0 ? ofListings : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Says how many targets still show old values. restMs: how long it is until the first of them is dropped. */
function shownText(targets: number, restMs: number): string {
  const rest = restMs < 1000 ? 'less than a second' : durationInWords(restMs);
  return targets === 1
    ? `1 target still shows old values, for ${rest} more.`
    : `${count(targets)} targets still show old values, the first for ${rest} more.`;
}

function filterOf(group: Group, [failure, ...others]: readonly Failure[]): CauseFilter {
  const { nature, reason, credential } = group;
  const kinds = [...group.kinds];
  if (nature === 'absent' || nature === 'stale') return { kinds, states: [nature], text: '' };
  let text = '';
  const isOfOneKey = reason !== 'no_key' && reason !== 'read_only_key';
  if (nature === 'key' && isOfOneKey) text = `auth ${credential}`;
  else if (nature !== 'outage' && nature !== 'pause' && failure && others.length === 0)
    text = `${failure.result} ${failure.message}`;
  const isLate = nature === 'outage' && group.targets.some(({ state }) => state === 'stale');
  return { kinds, states: isLate ? ['failing', 'stale'] : ['failing'], text };
}
