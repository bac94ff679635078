import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { FailureLog } from '../../src/polling/failure-log.ts';

/** A failure log on a clock that the test moves; it may write summaries every ten seconds. */
function logOn(level = 'info') {
  let nowMs = 0;
  const lines: string[] = [];
  const log = pino(
    { base: null, timestamp: false, level },
    { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
  );
  const failures = new FailureLog(log, () => nowMs);
  return {
    failures,
    /** The lines since the last call. */
    said: () => lines.splice(0),
    pass: (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        nowMs += 1000;
        if (nowMs % 10_000 === 0) failures.tell();
      }
    },
    fail: (kind: string, id: number, { result = 'server_error', message = 'HTTP 502' } = {}) => {
      const about = { what: kind, result, message, fields: { kind } };
      failures.failed(`${kind}/${id}`, { key: `${kind} ${result}`, ...about }, {}, `${kind} ${id} failed`);
    },
    refuse: (id: number) => {
      const about = {
        what: 'video_storage',
        result: 'auth',
        message: 'refused',
        fields: {},
        refused: 'library/7',
      };
      failures.failed(`video/${id}`, { key: 'library/7', ...about }, {}, 'the key of library/7 was refused');
    },
    succeed: (kind: string, id: number) => failures.succeeded(`${kind}/${id}`, () => ({})),
  };
}

const upTo = (n: number) => Array.from({ length: n }, (_, id) => id);

describe('polls that fail', () => {
  it('have a line each while they are few, and one each when they succeed again', () => {
    const { fail, succeed, said, pass } = logOn();
    for (const id of upTo(5)) fail('application', id);
    for (const id of upTo(5)) fail('application', id);
    expect(said()).toEqual(upTo(5).map((id) => `application ${id} failed`));
    for (const id of upTo(5)) succeed('application', id);
    for (const id of upTo(5)) succeed('application', id);
    pass(120);
    expect(said()).toEqual(upTo(5).map(() => 'polls succeed again; values are fresh'));
  });

  it('beyond the first few are counted in one line, again as they grow, and once when all are over', () => {
    const { fail, succeed, said, pass } = logOn();
    for (const id of upTo(400)) fail('application', id);
    said();
    pass(10);
    expect(said()).toEqual(['395 more application polls failed: HTTP 502 (server_error)']);
    for (const id of upTo(485)) fail('application', id);
    pass(10);
    expect(said()).toEqual(['85 more application polls failed: HTTP 502 (server_error)']);
    pass(166);
    for (const id of upTo(484)) succeed('application', id);
    pass(10);
    expect(said()).toEqual([]);
    succeed('application', 484);
    pass(4);
    expect(said()).toEqual(['all 485 application polls succeed again after 3m16s']);
  });

  it('are reported when no more of them recover, though some still fail', () => {
    const { fail, succeed, said, pass } = logOn();
    for (const id of upTo(400)) fail('application', id);
    pass(60);
    said();
    for (const id of upTo(200)) succeed('application', id);
    pass(10);
    for (const id of upTo(399)) succeed('application', id);
    pass(10);
    expect(said()).toEqual([]);
    pass(10);
    expect(said()).toEqual(['399 of 400 application polls succeed again, 1 still fails']);
    pass(600);
    expect(said()).toEqual([]);
    succeed('application', 399);
    pass(10);
    expect(said()).toEqual(['all 400 application polls succeed again after 11m30s']);
  });

  it('are counted once, however often one of them fails and succeeds while another still fails', () => {
    const { failures, fail, succeed, said, pass } = logOn();
    for (const id of upTo(8)) fail('application', id);
    pass(10);
    for (const id of upTo(7)) succeed('application', id);
    pass(30);
    said();
    for (const _ of upTo(20)) {
      fail('application', 0);
      pass(60);
      succeed('application', 0);
      pass(60);
    }
    expect(said()).toEqual(
      upTo(20).flatMap(() => [
        '1 more application poll failed: HTTP 502 (server_error)',
        '7 of 8 application polls succeed again, 1 still fails',
      ]),
    );
    succeed('application', 7);
    pass(10);
    expect(said()).toEqual(['all 8 application polls succeed again after 40m40s']);
    expect(failures.sizes).toEqual({ failureGroups: 0, failing: 0, aged: 0 });
  });

  it('are all logged at debug', () => {
    const { fail, succeed, said } = logOn('debug');
    for (const id of upTo(100)) fail('application', id);
    expect(said()).toHaveLength(100);
    for (const id of upTo(100)) succeed('application', id);
    expect(said()).toHaveLength(100);
  });

  it('are reported by kind and result', () => {
    const { fail, said, pass } = logOn();
    for (const id of upTo(7)) fail('application', id);
    for (const id of upTo(8)) fail('shield_zone', id, { result: 'timeout', message: 'no whole answer' });
    said();
    pass(10);
    expect(said()).toEqual([
      '2 more application polls failed: HTTP 502 (server_error)',
      '3 more shield_zone polls failed: no whole answer (timeout)',
    ]);
  });

  it('are reported together if there are many kinds', () => {
    const { fail, succeed, said, pass } = logOn();
    const kinds = ['a', 'b', 'c', 'd', 'e'];
    for (const kind of kinds) for (const id of upTo(1000)) fail(kind, id);
    for (const id of upTo(50)) fail('a', 2000 + id, { result: 'timeout' });
    expect(said()).toHaveLength(20);
    pass(10);
    expect(said()).toEqual(['5,030 more polls of 5 kinds failed: 4,980 server_error, 50 timeout']);
    pass(50);
    for (const kind of kinds) for (const id of upTo(1000)) succeed(kind, id);
    said();
    pass(30);
    expect(said().join()).toContain('polls of 5 kinds succeed again after up to 1m; 50 still fail');
  });

  it('are forgotten once they are no longer wanted', () => {
    const { failures, fail, said, pass } = logOn();
    for (const id of upTo(20)) fail('application', id);
    said();
    for (const id of upTo(20)) failures.forget(`application/${id}`);
    pass(60);
    expect(said()).toEqual([]);
    fail('application', 1);
    expect(said()).toEqual(['application 1 failed']);
  });

  it('because of a refused key have a line at their end, whatever else recovers', () => {
    const { fail, refuse, succeed, failures, said, pass } = logOn();
    for (const kind of ['a', 'b', 'c', 'd', 'e']) for (const id of upTo(9)) fail(kind, id);
    pass(60);
    for (const id of upTo(2)) refuse(id);
    said();
    pass(60);
    for (const kind of ['a', 'b', 'c', 'd', 'e']) for (const id of upTo(9)) succeed(kind, id);
    for (const id of upTo(2)) failures.succeeded(`video/${id}`, () => ({}));
    pass(10);
    expect(said()).toEqual([
      'the key of library/7 is accepted again: 2 polls succeed after 1m',
      '45 polls of 5 kinds succeed again after up to 2m; none fails any more',
    ]);
  });

  it('because of one refused key have one line, and one when it is accepted again', () => {
    const { failures, refuse, said, pass } = logOn();
    for (const id of upTo(200)) refuse(id);
    pass(120);
    expect(said()).toEqual(['the key of library/7 was refused']);
    for (const id of upTo(200)) failures.succeeded(`video/${id}`, () => ({}));
    pass(30);
    expect(said()).toEqual(['the key of library/7 is accepted again: 200 polls succeed after 2m']);
  });

  it('are reported at the end without waiting', () => {
    const { failures, fail, said } = logOn();
    for (const id of upTo(6)) fail('application', id);
    failures.tell();
    expect(said().at(-1)).toBe('1 more application poll failed: HTTP 502 (server_error)');
  });
});

describe('values that become stale', () => {
  it('leave room for failures, which say why', () => {
    const { failures, fail, said } = logOn();
    for (const kind of ['a', 'b', 'c', 'd', 'e']) for (const _ of upTo(9)) failures.aged(kind, {}, 'old');
    expect(said()).toHaveLength(10);
    fail('application', 1);
    expect(said()).toEqual(['application 1 failed']);
  });

  it('have a line each while they are few, and are counted beyond that', () => {
    const { failures, said, pass } = logOn();
    for (const id of upTo(480)) failures.aged('application', {}, `the values of ${id} are old`);
    expect(said()).toEqual(upTo(5).map((id) => `the values of ${id} are old`));
    pass(10);
    expect(said()).toEqual(['475 more application targets had values too old, which have left the page']);
    pass(60);
    failures.aged('application', {}, 'the values of another are old');
    expect(said()).toEqual(['the values of another are old']);
  });
});

it('an outage of 20,000 targets of three kinds logs fewer than 50 lines a minute, also while values become stale', () => {
  const { failures, fail, said, pass } = logOn();
  const perSecond = 20_000 / 300;
  const minutes: number[] = [];
  for (let second = 0; second < 600; second++) {
    for (const id of upTo(perSecond)) {
      if (second < 300) fail(`kind${id % 3}`, second * perSecond + id);
      // An interval of five minutes, after one and a half of which the values are too old.
      if (second >= 150 && second < 450) failures.aged(`kind${id % 3}`, {}, 'old');
    }
    pass(1);
    if (second % 60 === 59) minutes.push(said().length);
  }
  expect(Math.max(...minutes)).toBeLessThan(50);
});

it('an outage of 20,000 targets of many kinds logs fewer than 50 lines a minute from start to end', () => {
  const { failures, fail, succeed, said, pass } = logOn();
  const targets = upTo(20_000).map((id) => [`kind${id % 25}`, id] as const);
  const perSecond = targets.length / 120;
  const minutes: number[] = [];
  const spread = (each: (kind: string, id: number) => void) => {
    for (let second = 0; second < 120; second++) {
      for (const [kind, id] of targets.slice(second * perSecond, (second + 1) * perSecond)) each(kind, id);
      pass(1);
      if (second % 60 === 59) minutes.push(said().length);
    }
  };
  const results = ['server_error', 'timeout', 'network'];
  spread((kind, id) => fail(kind, id, { result: results[id % 3] ?? '' }));
  spread((kind) => failures.aged(kind, {}, 'old'));
  spread(succeed);
  expect(minutes).toHaveLength(6);
  expect(Math.max(...minutes)).toBeLessThan(50);
  expect(minutes.at(-1)).toBeGreaterThan(0);
});

it('failures and stale values of a few kinds at the same time log fewer than 50 lines a minute', () => {
  const { failures, fail, said, pass } = logOn();
  for (let minute = 0; minute < 10; minute++) {
    for (let second = 0; second < 60; second++) {
      const id = minute * 60 + second;
      for (const kind of ['a', 'b', 'c']) {
        fail(kind, id);
        failures.aged(kind, {}, 'old');
      }
      pass(1);
    }
    expect(said().length).toBeLessThan(50);
  }
});
