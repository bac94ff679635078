import { afterAll, describe, expect, it } from 'vitest';
import { resources } from '../../src/resources/index.ts';
import { faultTypes } from '../../src/simulator/faults.ts';
import { faultDocument } from './document.ts';
import { expectations, type Outcome, outcomeOf } from './expectations.ts';
import { groups, isListing, type Observation, observe, type Polled, rows } from './observe.ts';
import { runAll } from './pool.ts';
import { type LogLine, maxRetries, type Rows } from './program.ts';

// All begin at once: while one waits for a deadline or a pause, others work.
const observations = runAll(groups, 12, observe);
afterAll(async () => {
  await Promise.allSettled(observations);
});

const isUp = (series: string) => /^\w+_up\{/.test(series);
const isLastSuccess = (series: string) => /^\w+_last_success_timestamp_seconds\{/.test(series);
const counters = new Set(
  resources
    .flatMap(({ families }) => families.filter(({ type }) => type === 'counter'))
    .map(({ name }) => name),
);
const isCounter = (series: string) => counters.has(series.replace(/\{.*$/s, ''));
const namesOf = (shown: Rows) => Object.keys(shown).toSorted();
const pick = (shown: Rows, wanted: (series: string) => boolean): Rows =>
  Object.fromEntries(Object.entries(shown).filter(([series]) => wanted(series)));
/** Labels of `_info` that come from the API; `name` comes from the configuration. */
const textLabels = new Set(
  resources
    .flatMap(({ families }) => families.filter(({ type }) => type === 'info'))
    .flatMap(({ labels }) => labels.filter((label) => label !== 'name')),
);
/** Without the texts of an `_info`, which a fault may change or remove: it still counts as the same series. */
const withoutTexts = (shown: Rows): Rows =>
  Object.fromEntries(
    Object.entries(shown).map(([series, value]) => [
      /^\w+_info\{/.test(series)
        ? series.replaceAll(/,(\w+)="[^"]*"/g, (label, name: string) => (textLabels.has(name) ? '' : label))
        : series,
      value,
    ]),
  );
const targetsIn = ({ hit }: Polled): number => Object.keys(pick(hit, isUp)).length;
const withUp = (shown: Rows, up: number): Rows =>
  Object.fromEntries(Object.entries(shown).map(([series, value]) => [series, isUp(series) ? up : value]));

/** The number of requests of one poll. */
/** Lines about fields and values, which no failure is. */
const isDrift = /is not as documented|does not list this value/;

function requestsOf({ row, restored }: Observation, { result, retried, requests }: Outcome): number {
  if (requests !== undefined) return requests;
  // A page has one entry.
  if (result === 'success') return isListing(row.kind) ? targetsIn(restored) : 1;
  return retried ? 1 + maxRetries : 1;
}

/** The log line about the struck poll: of a listing, or of a target. */
function expectedLine({ row, target }: Observation, level: string) {
  const about = isListing(row.kind) ? { listing_of: 'account' } : { target };
  return expect.objectContaining({ level, kind: row.kind, ...about }) as LogLine;
}

function checkCounted(seen: Observation, poll: Polled, outcome: Outcome): void {
  const { result } = outcome;
  // The other target of the kind succeeds.
  const others = isListing(seen.row.kind) ? {} : { success: 1 };
  expect(poll.results).toEqual(
    result === 'success' ? { success: 'success' in others ? 2 : 1 } : { ...others, [result]: 1 },
  );
  expect(poll.requests).toBe(requestsOf(seen, outcome));
  expect(poll.paused).toBe(outcome.pauses ?? false);
  expect(poll.mismatches > 0).toBe(outcome.mismatches ?? false);
  expect(poll.unrecognized > 0).toBe(outcome.unrecognized ?? false);
}

function checkFailure(seen: Observation, { result, lasts }: Outcome): void {
  const { before, restored, after, stale, recovered, firstAt } = seen;
  // Before the first success only _up is there, as 0.
  expect(before.hit).toEqual(withUp(pick(restored.hit, isUp), 0));
  // After a success the values stay until they are too old; counters stay even then.
  expect(after.hit).toEqual(withUp(restored.hit, 0));
  expect(new Set(Object.values(pick(after.hit, isLastSuccess)))).toEqual(new Set([firstAt]));
  expect(stale.hit).toEqual(
    withUp(
      pick(restored.hit, (series) => isUp(series) || isLastSuccess(series) || isCounter(series)),
      0,
    ),
  );

  const next =
    /asking again (?:in 3600 s(?<less>, then less and less often.*)?|when the pause of its API is over)$/;
  for (const [{ log }, values] of [
    [before, 'there are no values yet'],
    [after, 'values stay until they are stale'],
  ] as const) {
    const failures = log.filter(({ msg }) => !isDrift.test(msg));
    expect(failures).toEqual([expectedLine(seen, 'warn')]);
    const [line] = failures;
    expect(line?.result).toBe(result);
    expect(line?.msg).toContain(`poll failed: ${line?.reason}; ${values}, asking again`);
    expect(line?.msg).toMatch(next);
    expect(Boolean(next.exec(line?.msg ?? '')?.groups?.['less'])).toBe(lasts ?? false);
  }
  const struck = Object.keys(pick(after.hit, isUp)).length;
  expect(stale.log).toHaveLength(struck);
  for (const line of stale.log) {
    expect(line.level).toBe('warn');
    expect(line.msg).toContain('have left the page');
  }
  for (const { log } of [restored, recovered]) {
    expect(log).toEqual([expectedLine(seen, 'info')]);
    expect(log[0]?.msg).toContain('polls succeed again');
  }
}

function checkSuccess(seen: Observation, { loses, alters, absent = 0 }: Outcome): void {
  const { before, restored, after, stale, recovered, secondAt } = seen;
  const all = namesOf(withoutTexts(restored.hit));
  for (const poll of [before, after]) {
    const shown = namesOf(withoutTexts(poll.hit));
    if (loses) {
      expect(all).toEqual(expect.arrayContaining(shown));
      expect(shown.length).toBeLessThan(all.length);
    } else expect(shown).toEqual(all);
    const ups = Object.values(pick(poll.hit, isUp));
    expect(ups.filter((up) => up === 0)).toHaveLength(absent);
    const failures = poll.log.filter(({ msg }) => !isDrift.test(msg));
    expect(failures.map(({ level, result }) => [level, result])).toEqual(
      Array.from({ length: absent }, () => ['warn', 'not_found']),
    );
  }
  // The page is the same as after a good poll at that time.
  const given = withoutTexts(before.hit);
  const right = pick(withoutTexts(restored.hit), (series) => series in given);
  if (alters) expect(given).not.toEqual(right);
  else expect(given).toEqual(right);
  // An absent target has no last success.
  const isAllAbsent = absent > 0 && absent === Object.keys(pick(after.hit, isUp)).length;
  expect(new Set(Object.values(pick(after.hit, isLastSuccess)))).toEqual(
    new Set(isAllAbsent ? [] : [secondAt]),
  );
  expect(stale.hit).toEqual(after.hit);
  expect(stale.log).toEqual([]);
  for (const { log } of [restored, recovered]) {
    expect(log.map(({ level }) => level)).toEqual(Array.from({ length: absent }, () => 'info'));
  }
}

/** Other targets are not affected: their values come from their own polls and keep changing. */
function checkOthers({
  before,
  restored,
  after,
  stale,
  recovered,
  firstAt,
  secondAt,
  thirdAt,
}: Observation): void {
  expect(before.others).toEqual(restored.others);
  expect(stale.others).toEqual(after.others);
  for (const [poll, at] of [
    [before, firstAt],
    [after, secondAt],
    [recovered, thirdAt],
  ] as const) {
    for (const [name, shown] of Object.entries(poll.others)) {
      expect(Object.values(pick(shown, isUp)), name).toEqual([1]);
      expect(Object.values(pick(shown, isLastSuccess)), name).toEqual([at]);
      expect(namesOf(shown), name).toEqual(namesOf(restored.others[name] ?? {}));
    }
  }
  const withoutTime = (shown: Rows) => pick(shown, (series) => !isLastSuccess(series));
  for (const [name, shown] of Object.entries(after.others)) {
    expect(withoutTime(shown), name).not.toEqual(withoutTime(restored.others[name] ?? {}));
  }
}

/** The first good poll restores everything, with values of its own time. */
function checkRecovery({ restored, recovered, row, firstAt, thirdAt }: Observation): void {
  expect(restored.results).toEqual({ success: isListing(row.kind) ? 1 : 2 });
  expect(recovered.results).toEqual(restored.results);
  expect(namesOf(recovered.hit)).toEqual(namesOf(restored.hit));
  for (const [poll, at] of [
    [restored, firstAt],
    [recovered, thirdAt],
  ] as const) {
    expect(new Set(Object.values(pick(poll.hit, isUp)))).toEqual(new Set([1]));
    expect(new Set(Object.values(pick(poll.hit, isLastSuccess)))).toEqual(new Set([at]));
  }
  expect(recovered.hit).not.toEqual(restored.hit);
}

describe('the fault matrix', () => {
  it('has an expectation for every fault of the simulator, and for no other', () => {
    expect(Object.keys(expectations).toSorted()).toEqual(Object.keys(faultTypes).toSorted());
  });

  // The other faults strike only listings, which have their own test.
  describe.each([...new Set(rows.map(({ type }) => type))])('%s', (type) => {
    const ofType = rows.filter((row) => row.type === type).map((row) => [row.kind, row] as const);
    it.each(ofType)(`of %s: ${expectations[type].result}`, { timeout: 120_000 }, async (kind, row) => {
      const group = groups.findIndex((one) => one.includes(row));
      const seen = (await observations[group])?.find((one) => one.row === row);
      if (!seen) throw new Error('the row was not played');
      const outcome = outcomeOf(type, kind);
      for (const poll of [seen.before, seen.after]) checkCounted(seen, poll, outcome);
      if (outcome.result === 'success') checkSuccess(seen, outcome);
      else checkFailure(seen, outcome);
      checkOthers(seen);
      checkRecovery(seen);
      expect(seen.leaked).toBe(false);
    });
  });

  it('is written to docs/faults.md as observed', { timeout: 120_000 }, async () => {
    await expect(faultDocument((await Promise.all(observations)).flat())).toMatchFileSnapshot(
      '../../docs/faults.md',
    );
  });
});
