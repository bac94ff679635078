/** The records of the polls of one account in, whether it can be read out. */
import { describe, expect, it } from 'vitest';
import { failingReason, health } from '../../src/polling/health.ts';
import type { Failure, Polled, PollRecord } from '../../src/polling/record.ts';
import type { ApiName } from '../../src/resources/resource.ts';
import { failureOf, nowMs, recordOf } from '../status/fixtures.ts';

const minuteMs = 60_000;
const broken = failureOf('server_error', 'HTTP 500');

function polled(operation: string, record: Partial<PollRecord>, more: Partial<Polled> = {}): Polled {
  const spec = { api: 'core' as ApiName, credential: 'acme', account: 'acme' };
  return { spec, operation, record: { ...recordOf(undefined, undefined), ...record }, ...more };
}

const read = (agoMs: number) => recordOf(nowMs - agoMs, undefined);
const at = (api: ApiName) => ({ spec: { api, credential: 'acme', account: 'acme' } });

/** It was read so long ago, and fails since. */
const failed = (failure: Failure = broken, agoMs = minuteMs) => recordOf(nowMs - agoMs, failure);

function acme(polls: readonly Polled[], uptimeMs = nowMs) {
  const found = health(polls, uptimeMs).accounts.get('acme');
  if (!found) throw new Error('nothing is polled of the account');
  return found;
}

describe('an account', () => {
  it.each<[string, readonly Polled[], string | undefined]>([
    [
      'fails where all that is polled of it does',
      [polled('/a', failed()), polled('/b', failed())],
      'server_error',
    ],
    [
      'fails for the reason that most of it has',
      [
        polled('/a', failed(failureOf('timeout', 'late'))),
        ...['/b', '/c'].map((path) => polled(path, failed(failureOf('schema', 'odd')))),
      ],
      'schema',
    ],
    [
      'does not fail while something may still be read',
      [polled('/a', failed()), polled('/b', read(minuteMs))],
      undefined,
    ],
    [
      'does not fail where something was read since',
      [polled('/a', failed()), polled('/b', read(1000))],
      undefined,
    ],
    [
      'fails where what was read last was asked, and failed, too',
      [
        polled('/a', failed()),
        polled('/b', failed(broken, 2 * minuteMs), { accountProbedMs: nowMs - 4000 }),
        polled('/c', read(3 * minuteMs)),
      ],
      'server_error',
    ],
    [
      'fails by what was asked since its last success alone',
      [
        polled('/a', failed()),
        polled('/b', failed(broken, 3 * minuteMs), { accountProbedMs: nowMs - 2 * minuteMs }),
        polled('/c', read(2 * minuteMs)),
      ],
      undefined,
    ],
    ...(['not_found', 'rejected'] as const).map((result): [string, readonly Polled[], undefined] => [
      `does not fail where the answer is ${result}`,
      [polled('/a', failed(failureOf(result, 'HTTP 400')))],
      undefined,
    ]),
    [
      'is not read by an answer that the plan lacks something',
      [polled('/a', failed()), polled('/b', read(1000), { lackingSinceMs: nowMs - minuteMs })],
      'server_error',
    ],
    [
      'is read by a success that ended after the failure, though it began before',
      [polled('/a', failed()), polled('/b', { ...read(1000), readBeganMs: nowMs - minuteMs })],
      undefined,
    ],
    [
      'is down where all of its APIs that were asked are',
      [
        polled('/a', failed(failureOf('network', 'reset'))),
        polled('/b', failed(failureOf('network', 'reset'))),
      ],
      'api_down',
    ],
    [
      'is not down where one of them answers',
      [
        polled('/a', failed(failureOf('network', 'reset'))),
        polled('/b', failed(failureOf('auth', 'HTTP 401')), at('shield')),
      ],
      'network',
    ],
    [
      'says nothing of the key of a library',
      [
        polled('/a', read(minuteMs)),
        polled('/b', failed(), { spec: { api: 'video', credential: 'library/7', account: 'acme' } }),
      ],
      undefined,
    ],
  ])('%s', (_, polls, reason) => {
    // One operation that fails at an API where nothing else is polled is an outage of that.
    const others = polled('/other', read(2000), {
      spec: { api: 'core', credential: 'other', account: 'other' },
    });
    const isOfDown = reason === 'api_down' || reason === 'network';
    expect(acme(isOfDown ? polls : [...polls, others]).failing).toBe(reason);
  });

  it('was last read when something was that the plan has', () => {
    expect(acme([polled('/a', read(minuteMs)), polled('/b', failed(broken, 5000))]).lastSuccessMs).toBe(
      nowMs - 5000,
    );
    // The wall clock was set back in between.
    const ahead = { ...read(2 * minuteMs), lastSuccessMs: nowMs + minuteMs };
    expect(acme([polled('/a', ahead), polled('/b', read(minuteMs))]).lastSuccessMs).toBe(nowMs - minuteMs);
    expect(acme([polled('/b', read(1000), { lackingSinceMs: 1 })]).lastSuccessMs).toBe(
      Number.NEGATIVE_INFINITY,
    );
  });

  it('is failing while all of its APIs have paused its key', () => {
    const { failing, apis } = acme([
      polled('/a', read(minuteMs)),
      polled('/b', read(minuteMs), at('shield')),
    ]);
    expect(failingReason({ failing, apis }, () => true)).toBe('rate_limited');
    expect(failingReason({ failing, apis }, (api) => api === 'core')).toBeUndefined();
    expect(failingReason({ failing: 'auth', apis }, () => true)).toBe('auth');
  });
});

describe('what is asked to know', () => {
  const [older, newer] = [polled('/b', read(3 * minuteMs)), polled('/c', read(2 * minuteMs))];
  const once = polled('/a', failed());

  it('is what was read last, after two failures since the last success, of whichever', () => {
    expect(acme([once, older, newer]).probe).toBeUndefined();
    expect(acme([once, once, older, newer]).probe).toBe(newer);
    const twice = { ...failed(), transientFailures: 2 };
    expect(acme([polled('/a', twice), older, newer]).probe).toBe(newer);
    // It had failed before that success.
    const long = { ...twice, unanswered: { requests: 9, sinceMs: nowMs - 60 * minuteMs } };
    expect(acme([polled('/a', long), older, newer]).probe).toBeUndefined();
  });

  it('is nothing once something was read, also by a poll that had begun before the failures', () => {
    const slow = polled('/b', { ...read(1000), readBeganMs: nowMs - 2 * minuteMs });
    expect(acme([once, once, slow]).probe).toBeUndefined();
  });

  it('is of another operation where there is one', () => {
    const same = polled('/a', read(90_000));
    expect(acme([once, once, same, older]).probe).toBe(older);
    expect(acme([once, once, same]).probe).toBe(same);
  });

  it('is asked once in five minutes', () => {
    const probed = { ...newer, accountProbedMs: nowMs - 4 * minuteMs };
    expect(acme([once, once, older, probed]).probe).toBeUndefined();
    expect(acme([once, once, older, probed], nowMs + minuteMs).probe).toBe(probed);
  });
});
