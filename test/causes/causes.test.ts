/** Records and statuses in, causes out. */
import { describe, expect, it } from 'vitest';
import type { Cause, CauseKind } from '../../src/causes/cause.ts';
import { causesOf } from '../../src/causes/causes.ts';
import { unreadSince } from '../../src/polling/health.ts';
import type { ListingStatus } from '../../src/polling/listing-status.ts';
import type { Failure } from '../../src/polling/record.ts';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import type { ApiName } from '../../src/resources/resource.ts';
import { runs } from '../runs.ts';
import { causeInput, failing, failureOf, listing, nowMs, status } from '../status/fixtures.ts';

const minuteMs = 60_000;

const kinds: readonly CauseKind[] = [
  { kind: 'application', section: 'applications', api: 'application', noun: 'application', isCostly: false },
  { kind: 'shield_zone', section: 'shield_zones', api: 'shield', noun: 'Shield Zone', isCostly: false },
  { kind: 'rate_limit', section: 'rate_limits', api: 'shield', noun: 'rate limit', isCostly: false },
  { kind: 'pull_zone', section: 'pull_zones', api: 'core', noun: 'pull zone', isCostly: false },
  { kind: 'dns_zone', section: 'dns_zones', api: 'core', noun: 'DNS zone', isCostly: false },
  { kind: 'video_storage', section: 'video_storage', api: 'video', noun: 'video', isCostly: true },
];

type More = Parameters<typeof causeInput>[2];

function input(targets: readonly TargetStatus[], listings: readonly ListingStatus[] = [], more: More = {}) {
  return causeInput(targets, listings, { kinds, ...more });
}

function causes(...args: Parameters<typeof input>): readonly Cause[] {
  return causesOf(input(...args));
}

/** The only cause. */
function cause(...args: Parameters<typeof input>): Cause {
  const all = causes(...args);
  if (!all[0] || all.length > 1)
    throw new Error(`${all.length} causes: ${all.map(({ title }) => title).join()}`);
  return all[0];
}

const titles = (all: readonly Cause[]) => all.map(({ title }) => title);

/** A target of a kind. Without a failure its last poll succeeded five seconds ago. */
function target(kind: string, id: string, lastFailure?: Failure, more: Partial<TargetStatus> = {}) {
  return lastFailure
    ? failing({ id }, { kind, lastFailure, lastSuccessMs: undefined, ...more })
    : status({ id }, { kind, lastSuccessMs: nowMs - 5000, ...more });
}

const refused = failureOf('auth', 'HTTP 401');
const forbidden = failureOf('auth', 'HTTP 403');
const reset = failureOf('network', 'the connection was reset (ECONNRESET)');
const timeout = failureOf('timeout', 'no whole answer within 10000 ms');

const failingListing = (
  api: ApiName,
  kind: string,
  lastFailure: Failure,
  more: Partial<ListingStatus> = {},
) => listing(`${kind}s`, { api, kind, state: 'failing', lastSuccessMs: undefined, lastFailure, ...more });

it('is nothing if all is well, or was not polled yet', () => {
  const pending = status({ id: 'b' }, { state: 'pending', lastSuccessMs: undefined });
  expect(causes([target('application', 'a'), pending], [listing('applications')])).toEqual([]);
});

describe('a wrong key', () => {
  it('is one row for each credential', () => {
    const other = failing(
      { id: 'b' },
      { lastFailure: refused, lastSuccessMs: undefined, credential: 'other' },
    );
    expect(titles(causes([target('application', 'a', refused), other]))).toEqual([
      'The application API refuses the key of account (from $KEY): HTTP 401',
      'The application API refuses the key of other (from $KEY): HTTP 401',
    ]);
  });

  it('that worked before, as when it is revoked, is the same, and says what is still shown', () => {
    const since = { ...refused, sinceMs: nowMs - minuteMs };
    const read = { lastSuccessMs: nowMs - 2 * minuteMs };
    const one = cause(
      [target('application', 'a', since, read)],
      [failingListing('application', 'application', since, read)],
    );
    expect(one.title).toBe('The application API refuses the key of account (from $KEY): HTTP 401');
    expect(one.meaning).toBe(
      '1 target still shows old values, for 1 m more. What was found before is still polled; nothing new is found.',
    );
    expect(one.sinceMs).toBe(nowMs - minuteMs);
    expect(one.runbook).toMatch(/docs\/runbooks\/BunnynetKeyRefused\.md$/);
  });

  it("of a library's videos needs the library's own key", () => {
    const one = cause([target('video_storage', 'v', refused)]);
    expect(one).toMatchObject({ reason: 'library_key', tone: 'warn' });
    expect(one.advice).toContain("Copy the library's own API key");
  });

  it('that cannot be read is not said to be refused', () => {
    const message = 'the key cannot be read: there is none';
    const one = cause([target('application', 'a', failureOf('auth', message))]);
    expect(one).toMatchObject({
      reason: 'unreadable_key',
      tone: 'bad',
      title: `The key of account (from $KEY) cannot be used: ${message}`,
    });
  });
});

describe('a key that one API refuses and others accept', () => {
  const works = [target('shield_zone', 's'), target('pull_zone', 'p')];
  const since = { ...refused, sinceMs: nowMs - minuteMs };

  it('is a warning that names the API, says where it works, and how to leave the kinds out', () => {
    const one = cause([target('application', 'a', since), ...works]);
    expect(one).toMatchObject({
      tone: 'warn',
      title:
        'The application API refuses the key of account (from $KEY), and the shield and core APIs accept it: HTTP 401',
      affected: '1 target (application)',
    });
    expect(one.advice).toBe(
      'The key lacks the right, or the account the product. Use another key, or leave these kinds out: `discovery: { except: [application] }`.',
    );
  });

  it('is refused by an API where what is read less often succeeded last before the first refusal', () => {
    const before = target('application', 'b', undefined, { lastSuccessMs: nowMs - 2 * minuteMs });
    const one = cause([target('application', 'a', since), before, target('shield_zone', 's')]);
    expect(one.title).toBe(
      'The application API refuses the key of account (from $KEY), and the shield API accepts it: HTTP 401',
    );
  });

  it('does not accept a key of another credential', () => {
    const other = status({ id: 's' }, { kind: 'shield_zone', credential: 'other' });
    expect(cause([target('application', 'a', since), other]).title).toBe(
      'The application API refuses the key of account (from $KEY): HTTP 401',
    );
  });

  it('of videos is left out by removing their section, which `all` never has', () => {
    const failed = { ...since, api: 'video' };
    const one = cause([target('video_storage', 'v', failed), ...works]);
    expect(one.advice).toBe(
      'The key lacks the right, or the account the product. Use another key, or remove the section video_storage.',
    );
  });

  it('and one that may not read everything (403) are accepted by the same', () => {
    const one = cause([target('application', 'a', { ...forbidden, sinceMs: nowMs - minuteMs }), ...works]);
    expect(one.title).toMatch(/: HTTP 403, and the shield and core APIs accept it$/);
  });

  it('is accepted only by what was read since each of the APIs that refuse it began to', () => {
    const long = { ...refused, sinceMs: nowMs - 60 * minuteMs };
    const other = target('shield_zone', 's', undefined, { lastSuccessMs: nowMs - 2 * minuteMs });
    const one = cause([target('application', 'a', long), target('pull_zone', 'p', since), other]);
    expect(one).toMatchObject({
      tone: 'bad',
      title: 'The application and core APIs refuse the key of account (from $KEY): HTTP 401',
    });
    expect(one.advice).not.toContain('leave these kinds out');
  });
});

describe('an outage', () => {
  it('is one row a host, whatever the reasons, and nothing can be read since its first failure', () => {
    const since = (failure: Failure, ms: number) => ({ ...failure, sinceMs: nowMs - ms });
    const all = input(
      [
        target('application', 'a', since(reset, 50_000)),
        target('application', 'b', since(timeout, 40_000)),
        target('pull_zone', 'p', since(timeout, 30_000)),
        target('pull_zone', 'q', since(timeout, 20_000)),
      ],
      [failingListing('shield', 'shield_zone', since(reset, 60_000))],
      { baseUrlOf: (api) => (api === 'application' ? 'https://apps.example/mc' : 'https://api.example') },
    );
    const found = causesOf(all);
    expect(titles(found)).toEqual([
      `Nothing can be read from apps.example: ${reset.message}, and 1 other reason`,
      `Nothing can be read from api.example: ${timeout.message}, and 1 other reason`,
    ]);
    expect(found.map(({ affected, tone }) => [affected, tone])).toEqual([
      ['2 targets (application)', 'bad'],
      ['2 targets (pull zone), 1 listing', 'bad'],
    ]);
    expect(unreadSince(all.health)).toBe(nowMs - 60_000);
  });

  it('of everything began after the last success, whatever failed before', () => {
    const long = failureOf('not_found', 'HTTP 404 (gone)', { sinceMs: nowMs - 60 * minuteMs });
    const down = (ms: number) => ({ ...reset, sinceMs: nowMs - ms });
    const before = { lastSuccessMs: nowMs - minuteMs };
    const failed = target('application', 'a', down(50_000), before);
    for (const all of [input([failed]), input([failed, target('application', 'gone', long)])]) {
      expect(unreadSince(all.health)).toBe(nowMs - 50_000);
      // The row and the title of the status page say the same.
      expect(causesOf(all)[0]?.sinceMs).toBe(nowMs - 50_000);
    }
  });

  it('began after the last success, in its row as in the title', () => {
    const down = (ms: number) => ({ ...reset, sinceMs: nowMs - ms });
    const all = input(
      [
        target('application', 'a', down(50_000), { lastSuccessMs: nowMs - 70_000 }),
        target('application', 'b', down(30_000), { lastSuccessMs: nowMs - 45_000 }),
        target('pull_zone', 'p', down(40_000)),
      ],
      [],
      { baseUrlOf: () => 'https://api.example' },
    );
    expect(unreadSince(all.health)).toBe(nowMs - 40_000);
    expect(causesOf(all).map(({ sinceMs }) => sinceMs)).toEqual([nowMs - 40_000]);
  });

  it('says of several reasons that of the most, with its advice', () => {
    const advice = 'Check apis.application.base_url.';
    const refusing = { ...reset, message: 'connection refused (ECONNREFUSED)', advice };
    expect(
      cause([
        target('application', 'a', timeout),
        target('application', 'b', refusing),
        target('application', 'c', refusing),
      ]),
    ).toMatchObject({
      reason: 'network',
      title:
        'Nothing can be read from application.example: connection refused (ECONNREFUSED), and 1 other reason',
      advice,
      runbook: expect.stringMatching(/BunnynetApiUnreadable\.md$/) as string,
    });
  });

  it('of one of several hosts is not one of everything', () => {
    const all = input([target('application', 'a', reset), target('shield_zone', 's')]);
    expect(titles(causesOf(all))).toEqual([`Nothing can be read from application.example: ${reset.message}`]);
    expect(unreadSince(all.health)).toBeUndefined();
  });

  it('is not what 404 for everything is: that is a wrong address', () => {
    const missing = failureOf('not_found', 'HTTP 404');
    expect(cause([target('application', 'a', missing), target('application', 'b', missing)])).toMatchObject({
      reason: 'address',
      tone: 'bad',
      title: 'The application API at https://application.example answers HTTP 404 to every request',
      advice: 'Correct apis.application.base_url.',
    });
    // Where nobody set the address, no setting is to be corrected.
    expect(
      cause([target('application', 'a', missing)], [], { addressNameOf: () => undefined }).advice,
    ).toContain('Something on the way answers');
    // In a form of the API's errors it is the thing that is not there.
    expect(cause([target('application', 'a', { ...missing, isOfApi: true })]).reason).toBe('not_found');
    // With a reason of the API, or where something else can be read, it is the thing that is not there.
    const named = { ...missing, message: 'HTTP 404 (not_found)', errorKey: 'not_found' };
    expect(cause([target('application', 'a', named)]).reason).toBe('not_found');
    expect(cause([target('application', 'a', missing), target('application', 'b')]).reason).toBe('not_found');
  });
});

describe('an API that asked for a pause', () => {
  const pauses = [{ api: 'shield', credential: 'account', kind: '', untilMs: nowMs + 90_000 }] as const;
  const tooMany = failureOf('rate_limited', 'HTTP 429');

  it('is one row with the rest of its pause, and with what became stale meanwhile', () => {
    const one = cause(
      [
        target('shield_zone', 'a', tooMany),
        status(
          { id: 'b' },
          { kind: 'rate_limit', state: 'stale', stale: true, lastSuccessMs: nowMs - 240_000 },
        ),
        target('application', 'c'),
      ],
      [failingListing('shield', 'shield_zone', { ...tooMany, message: 'HTTP 429: slow down' })],
      { exporter: { pauses } },
    );
    expect(one).toMatchObject({
      reason: 'rate_limited',
      tone: 'warn',
      title: 'The shield API answered 429 to the key of account; it gets no requests with it for 1 m 30 s',
      affected: '2 targets (Shield Zone, rate limit), 1 listing',
    });
    expect(one.meaning).toContain('1 target has no values now.');
  });

  it('is one row also while nothing has failed yet, and after the pause until a poll succeeds', () => {
    expect(cause([target('shield_zone', 'a')], [], { exporter: { pauses } })).toMatchObject({
      title: 'The shield API answered 429 to the key of account; it gets no requests with it for 1 m 30 s',
      affected: '',
    });
    expect(cause([target('shield_zone', 'a', tooMany), target('shield_zone', 'b')]).title).toBe(
      'The shield API answered 429 to requests for the kind shield_zone with the key of account',
    );
  });

  it('names the kinds that are paused, with the longest of their pauses, and what became stale by them', () => {
    const ofKinds = (...kinds: readonly string[]) =>
      kinds.map((kind, at) => ({ ...pauses[0], kind, untilMs: nowMs + (at + 1) * 60_000 }));
    const stale = (kind: string) =>
      status({ id: kind }, { kind, state: 'stale', stale: true, lastSuccessMs: nowMs - 240_000 });
    const all = causes([stale('rate_limit'), stale('shield_zone')], [], {
      exporter: { pauses: ofKinds('rate_limit', 'shield_waf') },
    });
    expect(all.map(({ title, affected }) => [title, affected])).toEqual([
      [
        'The shield API answered 429 to requests for the kinds rate_limit and shield_waf with the key of account; it gets none for these kinds for 2 m',
        '1 target (rate limit)',
      ],
      ['Values of the shield API were not read again in time', '1 target (Shield Zone)'],
    ]);
    expect(all[0]?.advice).toContain('Raise the intervals of what gets 429.');
    // What differs by the number of kinds would be said again when that changes.
    expect(cause([], [], { exporter: { pauses: ofKinds('rate_limit') } }).advice).toBe(all[0]?.advice);
    expect(cause([], [], { exporter: { pauses: ofKinds('a', 'b', 'c', 'd') } }).title).toContain(
      'requests for 4 kinds with the key of account',
    );
    // A key that is paused as a whole is one row, whatever of it is paused beside that.
    expect(
      cause([stale('shield_zone')], [], { exporter: { pauses: [...ofKinds('rate_limit'), ...pauses] } })
        .title,
    ).toBe('The shield API answered 429 to the key of account; it gets no requests with it for 1 m 30 s');
  });

  it('has another row for what fails for another reason', () => {
    const all = causes([
      target('shield_zone', 'a', tooMany),
      target('shield_zone', 'b', failureOf('server_error', 'HTTP 500')),
    ]);
    expect(titles(all)).toContain(
      'The shield API answered 429 to requests for the kind shield_zone with the key of account',
    );
    expect(all).toHaveLength(2);
  });
});

describe('failures of some targets', () => {
  const ok = target('application', 'ok');

  it('at one API for one reason are one row with the kinds in it, whatever the operations and the statuses', () => {
    const failed = (id: string, message: string, kind = 'application') =>
      target(kind, id, failureOf('server_error', message));
    const listed = failingListing('application', 'load_balancer', failureOf('server_error', 'HTTP 503'));
    const all = causes(
      [
        ok,
        failed('a', 'HTTP 503'),
        failed('b', 'HTTP 500'),
        failed('c', 'HTTP 503'),
        target('pull_zone', 'ok'),
        failed('p', 'HTTP 503', 'pull_zone'),
        failed('d', 'HTTP 503', 'dns_zone'),
        target('application', 't', timeout),
      ],
      [listed],
    );
    expect(all.map(({ title, affected }) => [title, affected])).toEqual([
      ['HTTP 503 from the application API, and 1 other reason', '3 targets (application), 1 listing'],
      ['HTTP 503 from the core API', '2 targets (pull zone, DNS zone)'],
      [`${timeout.message} from the application API`, '1 target (application)'],
    ]);
  });

  it('with one answer are one row', () => {
    const failed = (id: string, message: string) => target('application', id, failureOf('rejected', message));
    expect(
      causes([ok, failed('a', 'HTTP 400'), failed('b', 'HTTP 405'), failed('c', 'HTTP 400')]).map(
        ({ title, affected }) => [title, affected],
      ),
    ).toEqual([
      ['The application API: HTTP 400', '2 targets (application)'],
      ['The application API: HTTP 405', '1 target (application)'],
    ]);
  });

  it('name the API, and have the advice of the failure where that knows more than its result', () => {
    const failed = (result: string, message: string, advice?: string) =>
      cause([ok, target('application', 'a', failureOf(result, message, { advice }))]);
    const advice = 'Check apis.application.base_url.';
    expect(failed('network', 'connection refused (ECONNREFUSED)', advice)).toMatchObject({
      title: 'The application API: connection refused (ECONNREFUSED)',
      advice,
    });
    expect(failed('rejected', 'HTTP 400: No such id.').title).toBe(
      'The application API: HTTP 400: No such id',
    );
    const late = failed('timeout', 'no whole answer within 10s');
    expect(late.title).toBe('no whole answer within 10s from the application API');
    expect(late.advice).toContain('raise the timeout');
    expect(failed('timeout', 'it was not sent in time', 'Raise the interval.')).toMatchObject({
      title: 'The application API: it was not sent in time',
      advice: 'Raise the interval.',
    });
  });

  it('say of values that leave at once that they do so in less than a second', () => {
    const failed = target('application', 'a', failureOf('server_error', 'HTTP 503'), {
      lastSuccessMs: nowMs - 60_000,
    });
    const atMs = nowMs - 60_000 + failed.target.staleAfterMs;
    expect(cause([ok, failed], [], { nowMs: atMs - 400 }).meaning).toContain(
      'old values, for less than a second more.',
    );
    expect(cause([ok, failed], [], { nowMs: atMs - 4000 }).meaning).toContain('old values, for 4 s more.');
  });

  it('say since when, what they mean for the values, and what to do', () => {
    const one = cause([
      ok,
      target('application', 'a', failureOf('server_error', 'HTTP 503', { sinceMs: nowMs - 50_000 }), {
        lastSuccessMs: nowMs - 60_000,
      }),
      target('application', 'b', failureOf('server_error', 'HTTP 503', { sinceMs: nowMs - 230_000 }), {
        lastSuccessMs: nowMs - 240_000,
        stale: true,
      }),
      target('application', 'c', failureOf('server_error', 'HTTP 503')),
      // What the plan lacked has no values to lose.
      target('application', 'd', failureOf('server_error', 'HTTP 503'), {
        lastSuccessMs: nowMs - 60_000,
        lackingSinceMs: nowMs - 60_000,
        hasValues: false,
      }),
    ]);
    expect(one).toMatchObject({
      sinceMs: nowMs - 230_000,
      meaning:
        '1 target has no values yet. 1 target has no values now. 1 target still shows old values, for 2 m more.',
      filter: { kinds: ['application'], states: ['failing'], text: 'server_error HTTP 503' },
    });
    expect(one.advice).toContain('https://status.bunny.net');
  });

  it('of targets that a listing lacks are warnings, a row for each kind, and have no values at once', () => {
    const lacking = failureOf('not_found', 'target is not in the listing of Shield Zones');
    const gone = (kind: string, id: string) => target(kind, id, lacking, { state: 'absent' });
    const all = causes([gone('shield_zone', '1'), gone('shield_zone', '2'), gone('dns_zone', '1')]);
    expect(all.map(({ reason, tone, affected, meaning }) => [reason, tone, affected, meaning])).toEqual([
      ['not_found', 'warn', '2 targets (Shield Zone)', '2 targets have no values now.'],
      ['not_found', 'warn', '1 target (DNS zone)', '1 target has no values now.'],
    ]);
    expect(all[0]?.filter.states).toEqual(['absent']);
  });

  it('that are none, only polls that were late, are stale', () => {
    const stale = { state: 'stale', stale: true, lastSuccessMs: nowMs - 240_000 } as const;
    expect(cause([ok, target('application', 'a', undefined, stale)])).toMatchObject({
      reason: 'stale',
      tone: 'warn',
      title: 'Values of the application API were not read again in time',
      meaning: '1 target has no values now.',
      filter: { kinds: ['application'], states: ['stale'] },
    });
  });
});

it('what waits for an API that does not answer is part of the outage, and no reason to poll less', () => {
  const down = { ...reset, sinceMs: nowMs - 50_000 };
  const late = { state: 'stale', stale: true, lastSuccessMs: nowMs - 240_000 } as const;
  const failed = [target('application', 'a', down), target('application', 'b', down)];
  const { health } = input(failed);
  expect(cause([...failed, target('application', 'c', undefined, late)], [], { health })).toMatchObject({
    reason: 'network',
    isDown: true,
    affected: '3 targets (application)',
    filter: { kinds: ['application'], states: ['failing', 'stale'] },
  });
});

it('are fields that are not as documented, the first of them named', () => {
  const field = (at: number) => ({
    kind: 'application',
    field: `f${at}`,
    count: 9 - at,
    sinceMs: nowMs - at,
  });
  const schemaDrift = Array.from({ length: 7 }, (_, at) => field(at));
  const { reason, meaning } = cause([], [], { exporter: { schemaDrift } });
  expect(reason).toBe('drift');
  expect(meaning).toMatch(/\napplication f0 \(9 times\)\n[\s\S]*f4 \(5 times\) and 2 more$/);
});

const shared = { account: 'acme', other: 'umbrella', keys: ['pull_zone/1'] };

it('are in the order of what to do first: what is bad by reason, then warnings; the largest first', () => {
  const all = causes(
    [
      target('application', 'a', failureOf('rejected', 'HTTP 400')),
      target('application', 'ok'),
      ...['b', 'c'].map((id) => target('application', id, failureOf('rejected', 'HTTP 405'))),
      target('dns_zone', 'd', failureOf('not_found', 'gone'), { state: 'absent' }),
      target('pull_zone', 'p', { ...refused, sinceMs: nowMs - minuteMs }),
      target('application', 'f', forbidden),
    ],
    [],
    { exporter: { shared: [shared], refusedReload: { atMs: nowMs, message: 'wrong' } } },
  );
  expect(all.map(({ reason, tone }) => [tone, reason])).toEqual([
    ['bad', 'reload'],
    ['bad', 'rejected'],
    ['bad', 'rejected'],
    ['warn', 'refused'],
    ['warn', 'denied'],
    ['warn', 'not_found'],
    ['warn', 'shared'],
  ]);
  expect(all[1]?.title).toContain('HTTP 405');
});

it('have the same ids from one list to the next, whatever time has passed and whoever joins', () => {
  const list = (ids: readonly string[], laterMs: number) =>
    causes(
      [
        target('application', 'ok'),
        ...ids.map((id) => target('application', id, failureOf('server_error', 'HTTP 500'))),
        ...ids.map((id) => target('pull_zone', id, refused)),
        ...ids.map((id) => target('shield_zone', id, id === 'a' ? reset : timeout)),
      ],
      [],
      { nowMs: nowMs + laterMs, exporter: { shared: [{ ...shared, keys: ids }] } },
    );
  const ids = (all: readonly Cause[]) => all.map(({ id }) => id);
  const first = ids(list(['a'], 0));
  expect(new Set(first).size).toBe(4);
  expect(new Set(ids(list(['c', 'b', 'a'], 1000)))).toEqual(new Set(first));
});

it('are found among many failing targets and as many listings', () => {
  // At night more than the arguments that a function may have.
  const count = runs(2000, 130_000);
  const one = target('application', 'a', reset);
  const many = Array.from({ length: count }, () => one);
  const below = listing('below', { state: 'failing', lastFailure: reset });
  const listings = Array.from({ length: count }, () => below);
  const all = input(many, listings);
  const found = causesOf(all);
  expect(found.map(({ affected }) => affected)).toEqual([
    `${count / 1000},000 targets (application), ${count / 1000},000 listings`,
  ]);
  expect(unreadSince(all.health)).toBe(reset.sinceMs);
});

it('are found with as many passes over the targets, however many keys are paused', () => {
  const passesWith = (keys: number) => {
    let passes = 0;
    const list = Array.from({ length: 50 }, (_, id) => target('video_storage', `${id}`, timeout));
    const counted = new Proxy(list, {
      get: (own, name, receiver) => {
        if (name === 'length') return own.length;
        if (name === '0') passes++;
        return Reflect.get(own, name, receiver) as unknown;
      },
    });
    const pauses = Array.from({ length: keys }, (_, key) => ({
      api: 'video' as const,
      credential: `library-${key}`,
      kind: '',
      untilMs: nowMs + 90_000,
    }));
    expect(causes(counted, [], { exporter: { pauses } })).toHaveLength(keys + 1);
    return passes;
  };
  expect(passesWith(40)).toBe(passesWith(1));
});
