/** One list of causes after another in, lines out. */
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/causes/cause.ts';
import { CauseLog } from '../../src/causes/cause-log.ts';
import { causesOf } from '../../src/causes/causes.ts';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import { causeInput, failing, failureOf, listing, nowMs, status } from '../status/fixtures.ts';

const minuteMs = 60_000;
const down = failureOf('server_error', 'HTTP 503', { sinceMs: nowMs });
const ok = status({ app_id: 'ok' }, { lastSuccessMs: nowMs + 1_000_000_000 });

/** This many applications fail; one does not. */
function outage(count: number, more: Partial<TargetStatus> = {}): readonly Cause[] {
  const targets = Array.from({ length: count }, (_, at) =>
    failing({ app_id: `a${at}` }, { lastFailure: down, lastSuccessMs: nowMs, ...more }),
  );
  return causesOf(causeInput([ok, ...targets]));
}

interface Line {
  readonly level: number;
  readonly cause: string;
  readonly msg: string;
}

function logOf() {
  const lines: Line[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line) => void lines.push(JSON.parse(line) as Line) },
  );
  const causeLog = new CauseLog(log);
  return {
    /** The lines of one more list. */
    write: (causes: readonly Cause[], laterMs = 0) => {
      causeLog.write(causes, nowMs + laterMs);
      return lines.splice(0);
    },
  };
}

describe('a cause', () => {
  it('that is new is one warning: what, what it affects, what it means and what to do', () => {
    const [line, ...more] = logOf().write(outage(3));
    expect(more).toEqual([]);
    expect(line).toEqual({
      level: 40,
      cause: 'server_error',
      result: 'server_error',
      reason: 'HTTP 503',
      status: 503,
      kind: 'application',
      credential: 'account',
      targets: 3,
      msg:
        'HTTP 503 from the application API: 3 targets (application). ' +
        '3 targets still show old values, the first for 3 m more. Look at https://status.bunny.net. The exporter retries.',
    });
  });

  it('that affects one target names it', () => {
    const [line] = logOf().write(outage(1, { target: { ...ok.target, ids: { app_id: 'x' }, name: 'shop' } }));
    expect(line).toMatchObject({ target: { app_id: 'x' }, name: 'shop', targets: 1 });
  });

  it('that affects several accounts or kinds has none of them as a field', () => {
    const of = (kind: string, credential: string) =>
      failing({ app_id: kind }, { lastFailure: down, lastSuccessMs: nowMs, kind, credential });
    const [accounts] = logOf().write(
      causesOf(causeInput([ok, of('application', 'acme'), of('application', 'umbrella')])),
    );
    expect(accounts).toMatchObject({ kind: 'application', targets: 2 });
    expect(accounts).not.toHaveProperty('credential');
    const [everything] = logOf().write(
      causesOf(
        causeInput(
          [ok, of('application', 'acme')],
          [
            listing('application_limits', {
              kind: 'application_limits',
              state: 'failing',
              lastFailure: down,
            }),
          ],
        ),
      ),
    );
    expect(everything).toMatchObject({ targets: 1, listings: 1 });
    expect(everything).not.toHaveProperty('credential');
  });

  it('that affects only listings has their kind and credential', () => {
    const failed = listing('applications', { state: 'failing', lastFailure: down });
    const [line] = logOf().write(causesOf(causeInput([ok], [failed])));
    expect(line).toMatchObject({
      kind: 'application',
      credential: 'account',
      listings: 1,
      result: 'server_error',
    });
    expect(line).not.toHaveProperty('targets');
  });

  it('that stays is not said again, whatever time passes', () => {
    const { write } = logOf();
    write(outage(3));
    for (let n = 1; n < 100; n++) expect(write(outage(3 + (n % 10)), n * 10_000)).toEqual([]);
  });

  it('that grows, or whose old values leave the page, is not said again', () => {
    const { write } = logOf();
    write(outage(3));
    for (const count of [30, 3000]) expect(write(outage(count), minuteMs)).toEqual([]);
    expect(write(outage(3, { stale: true }), 3 * minuteMs)).toEqual([]);
  });

  it('of which something else is known or advised is said again, and the same not within ten minutes', () => {
    const { write } = logOf();
    const since = failureOf('auth', 'HTTP 401', { sinceMs: nowMs - minuteMs });
    const refused = failing({ app_id: 'a' }, { lastFailure: since, lastSuccessMs: undefined });
    const alone = () => causesOf(causeInput([refused]));
    const beside = () =>
      causesOf(causeInput([refused, status({ shield_zone_id: '7' }, { kind: 'shield_zone' })]));
    const said = (causes: readonly Cause[], laterMs: number) =>
      write(causes, laterMs).map(
        ({ msg }) => /Copy the account's API key|leave these kinds out/.exec(msg)?.[0],
      );
    expect(said(alone(), 0)).toEqual(["Copy the account's API key"]);
    expect(said(beside(), minuteMs)).toEqual(['leave these kinds out']);
    expect(said(beside(), 2 * minuteMs)).toEqual([]);
    expect(said(alone(), 3 * minuteMs)).toEqual([]);
    expect(said(beside(), 4 * minuteMs)).toEqual([]);
    expect(said(alone(), 11 * minuteMs)).toEqual(["Copy the account's API key"]);
    expect(said(alone(), 12 * minuteMs)).toEqual([]);
  });

  it('that ended is one info line: after how long, and how many it affected at most', () => {
    const { write } = logOf();
    write(outage(3));
    write(outage(25), minuteMs);
    write(outage(2), 2 * minuteMs);
    expect(write([], 196_000)).toEqual([
      {
        level: 30,
        cause: 'server_error',
        msg: 'this is over after 3 m 16 s: HTTP 503 from the application API; it affected 25 targets (application)',
      },
    ]);
    expect(write([], 200_000)).toEqual([]);
  });

  it('that comes back later is new', () => {
    const { write } = logOf();
    write(outage(3));
    write([], minuteMs);
    expect(write(outage(3), 2 * minuteMs).map(({ level }) => level)).toEqual([40]);
  });

  it('of the exporter itself has an end, too', () => {
    const { write } = logOf();
    const shared = [{ account: 'acme', other: 'umbrella', keys: ['pull_zone/1'] }];
    const [line] = write(causesOf(causeInput([ok], [], { exporter: { shared } })));
    expect(line?.msg).toMatch(/^The accounts acme and umbrella both list 1 target\. /);
    expect(write([], 5000).map(({ msg }) => msg)).toEqual([
      'this is over after 5 s: The accounts acme and umbrella both list 1 target',
    ]);
  });
});

describe('an outage', () => {
  /** This many applications fail, and none succeeds; the last failure of each was then. */
  const everything = (count: number, atMs: number) =>
    causesOf(causeInput(failingAt(count, atMs), [], { nowMs: atMs }));
  /** One succeeds again, the others were not polled since, or failed again. */
  const rest = (count: number, atMs: number, nowIsMs: number) => {
    const read = status({ app_id: 'a0' }, { lastSuccessMs: nowIsMs });
    const others = failingAt(count, atMs).slice(1);
    return causesOf(causeInput([read, ...others], [], { nowMs: nowIsMs }));
  };
  const failingAt = (count: number, atMs: number) =>
    Array.from({ length: count }, (_, at) =>
      failing({ app_id: `a${at}` }, { lastFailure: { ...down, atMs }, lastSuccessMs: nowMs - 1000 }),
    );
  const host = 'Nothing can be read from application.example: HTTP 503';

  it('takes over what failed in its first seconds: that is not over', () => {
    const { write } = logOf();
    const few = causesOf(causeInput([ok, ...failingAt(2, nowMs)]));
    expect(write(few).map(({ msg }) => msg)).toEqual([expect.stringContaining('HTTP 503 from the')]);
    expect(write(everything(30, nowMs + 9000), 10_000).map(({ msg }) => msg)).toEqual([
      expect.stringContaining(host),
    ]);
  });

  it('that ended is over though some were not polled since, which is no news', () => {
    const { write } = logOf();
    write(everything(30, nowMs));
    const lines = write(rest(30, nowMs, nowMs + minuteMs), minuteMs);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [30, `this is over after 1 m: ${host}; it affected 30 targets (application)`],
    ]);
    expect(write([], 2 * minuteMs)).toEqual([]);
  });

  it('that ended for all but some is said of these as soon as they fail again', () => {
    const { write } = logOf();
    write(everything(30, nowMs));
    write(rest(30, nowMs, nowMs + minuteMs), minuteMs);
    const [line, ...more] = write(rest(4, nowMs + 2 * minuteMs, nowMs + 3 * minuteMs), 3 * minuteMs);
    expect(more).toEqual([]);
    expect(line?.level).toBe(40);
    expect(line?.msg).toContain('HTTP 503 from the application API: 3 targets (application)');
  });
});

it('what else changes at the same time has its own lines', () => {
  const { write } = logOf();
  const refused = failing(
    { shield_zone_id: '7' },
    { kind: 'shield_zone', lastFailure: failureOf('auth', 'HTTP 401'), lastSuccessMs: undefined },
  );
  write(outage(3));
  const lines = write(causesOf(causeInput([ok, refused])), minuteMs);
  expect(lines.map(({ level, cause }) => [level, cause])).toEqual([
    [40, 'refused'],
    [30, 'server_error'],
  ]);
});
