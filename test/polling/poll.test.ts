import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Request } from '../../src/api/client.ts';
import { ApiError } from '../../src/api/errors.ts';
import { Store } from '../../src/exposition/store.ts';
import { neverPolled } from '../../src/polling/record.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { ReadingError, type Resource } from '../../src/resources/resource.ts';
import { configOf, engineWith, resourceOf, sectionConfig, targetConfig } from './fixtures.ts';

type Answer = (request: Request) => unknown;

const zone = { shield_zone_id: '501' };
const summary = { monthlyCost: 3.5 };

/** An engine with one target, which is polled when the test says so. Its API answers as the test says. */
function engineOf(kind: string, ids: Record<string, string>, resource: Resource = resourceOf(kind)) {
  const store = new Store(catalogue);
  let answer: Answer = () => summary;
  const counted: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const mismatches: Record<string, unknown>[] = [];
  const released: string[] = [];
  let nowMs = 1_000_000_000_000;
  const engine = engineWith(async (request) => await Promise.resolve(answer(request)), {
    resources: resources.map((one) => (one.kind === kind ? resource : one)),
    store,
    paceOf: () => ({
      reserveFor: () => undefined,
      slowDown: () => undefined,
      permit: ({ queue }) => Promise.resolve({ release: () => void released.push(queue) }),
    }),
    observer: {
      started: () => undefined,
      polled: (_kind, result) => counted.push(result),
      mismatched: (about, field, expected, received) => {
        counted.push(`mismatch ${field}`);
        mismatches.push({ ...about, field, expected, received });
      },
      unrecognized: (_about, field) => counted.push(`unrecognized ${field}`),
    },
    log: pino(
      { base: null, timestamp: false, level: 'debug' },
      { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    ),
    now: () => nowMs,
    uptimeMs: () => nowMs,
  });
  onTestFinished(() => engine.stop());
  engine.apply(configOf([sectionConfig(kind, [targetConfig(ids)])]));
  const [target] = engine.overview().targets;
  if (!target) throw new Error(`no target of the kind ${kind}`);
  return {
    counted,
    lines,
    mismatches,
    released,
    page: () => Buffer.concat(store.page('text')).toString(),
    status: () => target,
    record: () => target.poller.record,
    answers: (next: Answer) => {
      answer = next;
    },
    fails: (error: Error) => {
      answer = () => {
        throw error;
      };
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Polls once. */
    run: () => engine.pollNow(),
    /** Takes the target out of the configuration. */
    remove: () => engine.apply(configOf([])),
    stop: () => engine.stop(),
  };
}

const engineOfApplication = () => engineOf('application', { app_id: 'a' });

describe('a poll', () => {
  it('that succeeds puts the reading on the page and releases its permit', async () => {
    const { run, counted, released, status, lines } = engineOfApplication();
    await run();
    expect(counted).toEqual(['success']);
    expect(released).toHaveLength(1);
    expect(status()).toMatchObject({ state: 'ok', lastSuccessMs: 1_000_000_000_000 });
    expect(lines).toEqual([]);
  });

  it.each([
    ['in its body', new ReadingError('rejected', 'no rate limits', 'not_found.ratelimit_shieldzone')],
    [
      'with its status',
      new ApiError('not_found', 'HTTP 404', { status: 404, errorKey: 'not_found.ratelimit_shieldzone' }),
    ],
  ])('of a zone without rate limits succeeds without values, if the API says so %s', async (_, error) => {
    const { run, fails, counted, status, lines } = engineOf('rate_limit', zone);
    fails(error);
    await run();
    expect(counted).toEqual(['success']);
    expect(status().state).toBe('ok');
    expect(lines).toEqual([]);
  });

  it('that fails after its target left is not counted, logs nothing and changes nothing', async () => {
    const { run, answers, remove, stop, counted, lines, status, record, released } = engineOfApplication();
    answers(() => {
      remove();
      throw new Error('the request is no longer wanted');
    });
    await run();
    await stop();
    expect(counted).toEqual([]);
    expect(lines).toEqual([]);
    expect(status().state).toBe('pending');
    expect(record()).toBe(neverPolled);
    expect(released).toHaveLength(1);
  });
});

it('a poll of many pages may take one interval for all its pages and retries', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const budgets: number[] = [];
  const { run, answers } = engineOf('shield_zone', zone);
  answers(({ budgetMs }) => {
    const currentPage = budgets.push(budgetMs);
    vi.advanceTimersByTime(20_000);
    return { data: [{ shieldZoneId: currentPage }], page: { totalCount: 3, totalPages: 3, currentPage } };
  });
  await run();
  expect(budgets).toEqual([60_000, 40_000, 20_000]);
});

describe('the record of a poll', () => {
  it('has when it last succeeded, and why it fails since when', async () => {
    const { run, fails, answers, record, pass } = engineOfApplication();
    await run();
    expect(record()).toMatchObject({ lastSuccessMs: 1_000_000_000_000, lastFailure: undefined });
    for (const status of [500, 502]) {
      pass(60_000);
      fails(new ApiError('server_error', `HTTP ${status}`, { status, errorKey: 'broken' }));
      await run();
    }
    expect(record()).toMatchObject({
      lastSuccessMs: 1_000_000_000_000,
      lastFailure: {
        result: 'server_error',
        message: 'HTTP 502',
        status: 502,
        errorKey: 'broken',
        sinceMs: 1_000_000_060_000,
        atMs: 1_000_000_120_000,
      },
    });
    pass(60_000);
    answers(() => summary);
    await run();
    expect(record()).toMatchObject({ lastSuccessMs: 1_000_000_180_000, lastFailure: undefined });
    expect(record().failingSinceMs).toBeUndefined();
  });

  it('has since when it fails for this reason, and since when it fails at all', async () => {
    const { run, fails, record, pass } = engineOfApplication();
    const secondsOf = (atMs = 0) => (atMs - 1_000_000_000_000) / 1000;
    const since: [result: string, since: number, failing: number][] = [];
    const fail = async (...error: ConstructorParameters<typeof ApiError>) => {
      pass(1000);
      fails(new ApiError(...error));
      await run();
      const { lastFailure, failingSinceMs } = record();
      since.push([lastFailure?.result ?? '', secondsOf(lastFailure?.sinceMs), secondsOf(failingSinceMs)]);
    };
    await fail('network', 'connection refused');
    // The same outage.
    await fail('timeout', 'no whole answer');
    await fail('server_error', 'HTTP 503', { status: 503 });
    await fail('auth', 'HTTP 401', { status: 401 });
    await fail('auth', 'HTTP 401: once more', { status: 401 });
    await fail('auth', 'HTTP 403', { status: 403 });
    await fail('rate_limited', 'HTTP 429', { status: 429 });
    await fail('rate_limited', 'the API is paused');
    await fail('not_found', 'HTTP 404', { status: 404 });
    await fail('schema', 'the body is not JSON');
    expect(since).toEqual([
      ['network', 1, 1],
      ['timeout', 1, 1],
      ['server_error', 1, 1],
      ['auth', 4, 1],
      ['auth', 4, 1],
      ['auth', 6, 1],
      ['rate_limited', 7, 1],
      ['rate_limited', 7, 1],
      ['not_found', 9, 1],
      ['schema', 10, 1],
    ]);
  });
});

describe('the log', () => {
  it('has a line at debug for each failure, and one for the recovery', async () => {
    const { run, fails, answers, lines } = engineOfApplication();
    fails(new ApiError('auth', 'HTTP 401', { status: 401, requestId: 'r-1', errorKey: 'unauthorised' }));
    await run();
    answers(() => summary);
    await run();
    await run();
    const about = { level: 20, kind: 'application', target: { app_id: 'a' }, credential: 'account' };
    expect(lines).toEqual([
      {
        ...about,
        result: 'auth',
        reason: 'HTTP 401',
        status: 401,
        error_key: 'unauthorised',
        request_id: 'r-1',
        msg: 'poll failed: HTTP 401',
      },
      { ...about, msg: 'the poll succeeds again' },
    ]);
  });
});

it('reports each field that is not as documented, with what it is about, and shows the others', async () => {
  const { run, answers, mismatches, counted, status } = engineOfApplication();
  answers(() => ({ monthlyCost: 'three', totalVolumeSizeInGb: 1e300 }));
  await run();
  expect(counted).toEqual(['mismatch monthlyCost', 'mismatch totalVolumeSizeInGb', 'success']);
  const about = { kind: 'application', target: { app_id: 'a' }, credential: 'account' };
  expect(mismatches).toMatchObject([
    { ...about, field: 'monthlyCost', expected: 'a number', received: 'a string' },
    { ...about, field: 'totalVolumeSizeInGb', expected: 'a finite number' },
  ]);
  expect(status().state).toBe('ok');
});

describe('a bug in the exporter', () => {
  const broken = (change: Partial<Resource>): Resource =>
    ({ ...resourceOf('application'), ...change }) as Resource;

  it('while reading only makes this poll fail, and is logged', async () => {
    const resource = broken({
      read: () => Promise.reject(new TypeError("Cannot read properties of undefined (reading 'a')")),
    } as Partial<Resource>);
    const { run, counted, lines, status } = engineOf('application', { app_id: 'a' }, resource);
    await run();
    expect(counted).toEqual(['schema']);
    expect(status().state).toBe('failing');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.['reason']).toContain('unexpected: TypeError: Cannot read properties of undefined');
  });

  it('while storing a reading leaves the target as it was, without a success', async () => {
    const { run, counted, status, page } = engineOfApplication();
    await run();
    const before = page();
    const up = 'bunnynet_application_up{app_id="a",account="account"}';
    expect(before).toContain(`${up} 1`);
    const family = catalogue.find(({ name }) => name === 'bunnynet_application_monthly_cost_dollars');
    if (!family) throw new Error('no such family');
    vi.spyOn(family, 'samples').mockImplementationOnce(() => {
      throw new TypeError('no cost');
    });
    await run();
    expect(counted).toEqual(['success', 'schema']);
    expect(status()).toMatchObject({ state: 'failing', lastFailure: { result: 'schema' } });
    expect(page()).toBe(before.replace(`${up} 1`, `${up} 0`));
  });
});
