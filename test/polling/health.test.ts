/** The records of polls in, how each API and each key is out. */
import { describe, expect, it } from 'vitest';
import { acceptedBeside, type Health, health, isUnread, unreadSince } from '../../src/polling/health.ts';
import type { Failure, Polled, PollRecord } from '../../src/polling/record.ts';
import type { ApiName } from '../../src/resources/resource.ts';
import { failureOf, nowMs, recordOf } from '../status/fixtures.ts';

const minuteMs = 60_000;
const down = failureOf('server_error', 'HTTP 503');
const refused = failureOf('auth', 'HTTP 401');

/** A thing at the core API. */
function polled(operation: string, record: Partial<PollRecord>, more: Partial<Polled> = {}): Polled {
  const spec = { api: 'core' as ApiName, credential: 'account', account: 'account' };
  return { spec, operation, record: { ...recordOf(undefined, undefined), ...record }, ...more };
}

const read = (agoMs: number) => recordOf(nowMs - agoMs, undefined);

/** Its last success was a minute ago, and its last poll failed three seconds ago. */
const failed = (failure: Failure = down) => recordOf(nowMs - minuteMs, failure);

const many = (count: number, operation: string, record: PollRecord) =>
  Array.from({ length: count }, () => polled(operation, record));

function core(polls: readonly Polled[], uptimeMs = nowMs) {
  const found = health(polls, uptimeMs).apis.get('core');
  if (!found) throw new Error('nothing polls the core API');
  return found;
}

describe('an API is down', () => {
  it.each<[string, readonly Polled[]]>([
    ['its only thing got no answer', [polled('/a', recordOf(undefined, down))]],
    ['everything it has got none', [...many(3, '/a', failed()), polled('/b', failed())]],
    [
      'everything answers 404 without a word of the API',
      many(2, '/a', failed(failureOf('not_found', 'HTTP 404'))),
    ],
    [
      'another operation that was read was asked after five failures and failed, too, though a third was not asked',
      [
        ...many(5, '/a', failed()),
        polled('/b', failed(), { probedMs: nowMs - 4000 }),
        polled('/c', read(2 * minuteMs)),
      ],
    ],
  ])('once %s', (_, polls) => {
    expect(core(polls).state).toBe('down');
  });

  it.each<[string, readonly Polled[]]>([
    [
      'one operation fails, of however many things',
      [...many(50, '/a', failed()), polled('/b', read(2 * minuteMs))],
    ],
    [
      'several fail that were not asked because of that',
      [...many(5, '/a', failed()), ...many(5, '/b', failed()), polled('/c', read(2 * minuteMs))],
    ],
    [
      'fewer than five requests got no answer',
      [...many(4, '/a', failed()), ...many(3, '/b', read(2 * minuteMs))],
    ],
    ['something was read since', [...many(50, '/a', failed()), polled('/b', read(2999))]],
    ['everything is refused', many(5, '/a', failed(refused))],
    [
      'the API says what is wrong with each request',
      many(5, '/a', failed({ ...failureOf('not_found', 'HTTP 404'), errorKey: 'not_found' })),
    ],
    ['it asks for a pause', many(5, '/a', failed(failureOf('rate_limited', 'HTTP 429')))],
    ['something was not polled yet', [...many(5, '/a', recordOf(undefined, down)), polled('/b', {})]],
  ])('not while %s', (_, polls) => {
    expect(core(polls).state).not.toBe('down');
  });

  it('perhaps after five requests in vain since its last answer; what failed before that says nothing', () => {
    const others = many(5, '/a', failed());
    expect(core([...others, polled('/b', read(2 * minuteMs))]).isSuspected).toBe(true);
    expect(core([...others, polled('/b', read(2999))]).isSuspected).toBe(false);
  });

  it('before all was polled once only if nothing was answered for two seconds', () => {
    const polls = [...many(5, '/a', recordOf(undefined, down)), polled('/a', {})];
    expect([-1001, -1000].map((laterMs) => core(polls, nowMs + laterMs).state)).toEqual(['failing', 'down']);
    expect(health(polls, nowMs - 1001).changesAtMs).toBe(nowMs - 1000);
  });

  it('for as long as nothing answers, and not for a minute after a probe was answered', () => {
    const probedMs = nowMs - 4000;
    const others = many(5, '/a', {
      ...failed(),
      endedMs: nowMs - 1000,
      unanswered: { requests: 3, sinceMs: nowMs - 1000 },
    });
    const answered = polled('/b', { ...read(3500), answeredMs: nowMs - 3500 }, { probedMs });
    expect(core([...others, answered]).state).toBe('read');
    const all = [
      ...others,
      polled(
        '/b',
        {
          ...failed(),
          endedMs: nowMs,
          answeredMs: nowMs - 3500,
          unanswered: { requests: 1, sinceMs: nowMs },
        },
        { probedMs },
      ),
    ];
    expect(core(all).state).not.toBe('down');
    const found = health(all, nowMs);
    expect(found.changesAtMs).toBe(probedMs + minuteMs);
    expect(core(all, found.changesAtMs).state).toBe('down');
  });
});

describe('a probe', () => {
  const failing = many(5, '/a', failed());
  const [older, newer] = [polled('/b', read(3 * minuteMs)), polled('/c', read(2 * minuteMs))];

  it('is of what was read last of another operation', () => {
    expect(core([...failing, polled('/a', read(90_000)), older, newer]).probe).toBe(newer);
  });

  it('is of another thing where there is no other operation', () => {
    const same = polled('/a', read(90_000));
    expect(core([...failing, same]).probe).toBe(same);
  });

  it('is made once a minute', () => {
    const probed = { ...newer, probedMs: nowMs - 30_000 };
    expect(core([...failing, older, probed]).probe).toBeUndefined();
    expect(core([...failing, older, probed], nowMs + 30_000).probe).toBe(probed);
  });

  it('is also what begins by itself meanwhile, if it was read until now and is of another operation', () => {
    const { tells } = core([...failing, older, newer]);
    expect([older, polled('/a', read(90_000)), failing[0] ?? older].map(tells)).toEqual([true, false, false]);
    expect(core([...many(4, '/a', failed()), older, newer]).tells(older)).toBe(false);
  });

  it('is none while enough is answered, or nothing is left to ask', () => {
    expect(core([...many(4, '/a', failed()), older, newer]).probe).toBeUndefined();
    expect(core([...failing, polled('/b', {})]).probe).toBeUndefined();
  });
});

describe('a key', () => {
  const of = (api: ApiName, credential: string, record: PollRecord): Polled =>
    polled('/a', record, { spec: { api, credential, account: credential } });
  const refusedKeys = ({ apis }: Health) =>
    [...apis].flatMap(([api, { keys }]) =>
      [...keys].flatMap(([name, { isRefused }]) => (isRefused ? `${api} ${name}` : [])),
    );

  it('is refused by an API that answered 401 and of which nothing was read with it since', () => {
    const found = health(
      [
        of('core', 'account', recordOf(undefined, refused)),
        of('core', 'other', recordOf(undefined, refused)),
        of('core', 'other', recordOf(nowMs, undefined)),
        of('shield', 'account', recordOf(undefined, failureOf('auth', 'HTTP 403'))),
        of('application', 'account', recordOf(nowMs, undefined)),
        of('video', 'library/7', recordOf(undefined, undefined)),
      ],
      nowMs,
    );
    expect(refusedKeys(found)).toEqual(['core account']);
    const beside = (credential: string, ...denying: readonly ApiName[]) =>
      acceptedBeside(found, credential, new Set(denying));
    expect(beside('account', 'core')).toEqual(['application']);
    expect(beside('account', 'application')).toEqual([]);
    expect(beside('other', 'shield')).toEqual(['core']);
  });
});

it('nothing can be read since the first failure after the last success of any API, and something can while one is read', () => {
  const at = (api: ApiName, record: PollRecord) =>
    polled('/a', record, { spec: { api, credential: 'account', account: 'account' } });
  const failing = [
    at('core', recordOf(nowMs - minuteMs, { ...down, sinceMs: nowMs - 50_000 })),
    at('shield', recordOf(undefined, { ...refused, sinceMs: nowMs - 2 * minuteMs })),
  ];
  expect(unreadSince(health(failing, nowMs))).toBe(nowMs - 50_000);
  expect(
    unreadSince(health([...failing, at('video', recordOf(undefined, undefined))], nowMs)),
  ).toBeUndefined();
  expect(isUnread(core(failing))).toBe(true);
});

it('takes one pass over what is polled, however much of it fails', () => {
  let passes = 0;
  const list = [...many(1000, '/a', failed()), ...many(1000, '/b', read(2 * minuteMs))];
  const counting = {
    [Symbol.iterator]() {
      passes++;
      return list[Symbol.iterator]();
    },
  };
  expect(health(counting, nowMs).apis.get('core')?.isSuspected).toBe(true);
  expect(passes).toBe(1);
});
