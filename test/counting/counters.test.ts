import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Counters } from '../../src/counting/counters.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { lateMs } from '../../src/resources/queries.ts';
import { runs } from '../runs.ts';

const daySeconds = 86_400;
const firstDay = 20_000;
const breaches = catalogue.findIndex(({ name }) => name === 'bunnynet_shield_rate_limit_breaches_total');
const target = { ids: { shield_zone_id: '501' }, name: undefined, settings: {} };

/** A reading with the breaches of one rate limit by day, from day 0 on. */
function rateLimit(days: Readonly<Record<number, number>> | undefined, rateLimitId = '11') {
  const counted = Object.entries(days ?? {}).map(([day, totalBreaches]) => ({
    startSeconds: (firstDay + Number(day)) * daySeconds,
    value: { totalBreaches },
  }));
  return { ratelimitId: rateLimitId, ratelimitOverviewPastTwentyEightDays: days && counted };
}

const msAt = (days: number) => (firstDay + days) * daySeconds * 1000;

/** Reads this many days after the start of day 0. */
function counted(counters = Counters.of('rate_limit')) {
  return {
    read: (atDays: number, ...reading: ReturnType<typeof rateLimit>[]): Record<string, number> => {
      const nowMs = msAt(atDays);
      counters?.add(target, [{ reading }], { nowMs, uptimeMs: nowMs });
      const rows = counters?.rows.find(({ family }) => family === breaches);
      const values = rows?.samples.map(({ labels, value }): [string, number] => [
        labels?.['rate_limit_id'] ?? '',
        value,
      ]);
      return Object.fromEntries(values ?? []);
    },
  };
}

describe('a counter', () => {
  it('does not fall after a correction, and does not count again what comes back', () => {
    const { read } = counted();
    read(0.1, rateLimit({ 0: 0 }));
    read(0.2, rateLimit({ 0: 10 }));
    expect(read(0.3, rateLimit({ 0: 4 }))).toEqual({ 11: 10 });
    expect(read(0.4, rateLimit({ 0: 10 }))).toEqual({ 11: 10 });
    expect(read(0.5, rateLimit({ 0: 12 }))).toEqual({ 11: 12 });
  });

  it('ignores a day that ended before the first reading but appears later', () => {
    const { read } = counted();
    read(0.1, rateLimit({}));
    expect(read(0.2, rateLimit({ [-1]: 500, 0: 3 }))).toEqual({ 11: 3 });
  });

  it('is recognized if its label is not well-formed Unicode', () => {
    const { read } = counted();
    read(0.1, rateLimit({ 0: 10 }, 'a\ud800'));
    expect(read(0.2, rateLimit({ 0: 15 }, 'a\ud800'))).toEqual({ 'a\ud800': 5 });
  });

  it('is recognized if readings have another order', () => {
    const { read } = counted();
    read(0.1, rateLimit({ 0: 1 }, '11'), rateLimit({ 0: 1 }, '12'));
    expect(read(0.2, rateLimit({ 0: 3 }, '12'), rateLimit({ 0: 2 }, '11'))).toEqual({ 11: 1, 12: 2 });
    expect(read(0.3, rateLimit({ 0: 4 }, '12'))).toEqual({ 11: 1, 12: 3 });
  });

  it('begins with the first reading that has its days', () => {
    const { read } = counted();
    expect(read(0.1, rateLimit(undefined))).toEqual({});
    expect(read(0.2, rateLimit({ 0: 50 }))).toEqual({ 11: 0 });
  });

  it('keeps the value of a series that is missing in a reading, and starts a new one at 0', () => {
    const { read } = counted();
    read(0.1, rateLimit({ 0: 1 }));
    read(0.2, rateLimit({ 0: 5 }));
    expect(read(0.3, rateLimit({ 0: 30 }, '12'))).toEqual({ 11: 4, 12: 0 });
    expect(read(0.4, rateLimit({ 0: 6 }), rateLimit({ 0: 31 }, '12'))).toEqual({ 11: 5, 12: 1 });
  });

  it('counts all that comes after its first day, also where the clock was days behind at a start before', () => {
    const seconds = msAt(0.1) / 1000;
    const state = { kind: 'rate_limit', last_read: seconds, counting_since: seconds, counters: {} };
    const { read } = counted(Counters.restored(state, { nowMs: msAt(-3), uptimeMs: msAt(0.1) }));
    expect(read(0.2, rateLimit({ 0: 30 }))).toEqual({ 11: 0 });
    expect(read(1.1, rateLimit({ 0: 30, 1: 5 }))).toEqual({ 11: 5 });
  });

  it('forgets a series that is missing for two days', () => {
    const { read } = counted();
    read(0.1, rateLimit({ 0: 1 }), rateLimit({ 0: 1 }, '12'));
    expect(read(5.1, rateLimit({ 5: 1 }))).toEqual({ 11: 1, 12: 0 });
    expect(read(7, rateLimit({ 7: 1 }))).toEqual({ 11: 2, 12: 0 });
    expect(read(7.2, rateLimit({ 7: 1 }))).toEqual({ 11: 2 });
  });

  it('uses the later of two samples with the same labels', () => {
    const { read } = counted();
    expect(read(0.1, rateLimit({ 0: 1 }), rateLimit({ 0: 5 }))).toEqual({ 11: 0 });
    expect(read(0.2, rateLimit({ 0: 2 }), rateLimit({ 0: 6 }))).toEqual({ 11: 1 });
  });
});

/** What happens before a reading: time passes, the API counts, sometimes it corrects downwards. */
interface Step {
  /** Whole minutes, because rounding shortly before midnight would change the day. */
  readonly passesMinutes: number;
  readonly counts: number;
  readonly corrects: number;
  readonly isRead: boolean;
}

function stepsWith(corrections: fc.Arbitrary<number>): fc.Arbitrary<Step[]> {
  return fc.array(
    fc.record({
      passesMinutes: fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 576 }) },
        { weight: 1, arbitrary: fc.integer({ min: 1296, max: 7200 }) },
      ),
      counts: fc.nat(1000),
      corrects: corrections,
      isRead: fc.boolean(),
    }),
    { maxLength: 60 },
  );
}

/** Whether answers have 28 days, or only those that had not ended at the last reading. */
const answers = fc.constantFrom('map' as const, 'open days' as const);

/** Plays the steps against a correct API. Returns the counter at each reading, and the true count since the first. */
function play(steps: readonly Step[], answer: 'map' | 'open days'): { value: number; counted: number }[] {
  const { read } = counted();
  const days = new Map<number, number>();
  const readings: { value: number; counted: number }[] = [];
  let minutes = 0;
  let total = 0;
  let totalBefore: number | undefined;
  let lastDay: number | undefined;
  for (const { passesMinutes, counts, corrects, isRead } of steps) {
    minutes += passesMinutes;
    const at = minutes / 1440;
    const today = Math.floor(at);
    // A day without requests has no entry.
    if (counts > 0) days.set(today, (days.get(today) ?? 0) + counts);
    total += counts;
    for (const [day, figure] of days) if (day >= today - 1) days.set(day, Math.max(0, figure - corrects));
    if (!isRead) continue;
    // Where the first answer has nothing of its day although figures are no longer late, nobody knows what that day had until then.
    if (totalBefore === undefined && !days.has(today) && at - today >= lateMs / (daySeconds * 1000))
      days.set(today, 0);
    const oldest = answer === 'map' ? today - 27 : (lastDay ?? today);
    const value = read(at, rateLimit(Object.fromEntries([...days].filter(([day]) => day >= oldest))))['11'];
    lastDay = today;
    totalBefore ??= total;
    readings.push({ value: value ?? Number.NaN, counted: total - totalBefore });
  }
  return readings;
}

describe('a counter over any sequence of readings', () => {
  it('equals what the API counted since the first reading', () => {
    fc.assert(
      fc.property(stepsWith(fc.constant(0)), answers, (steps, answer) => {
        for (const { value, counted } of play(steps, answer)) expect(value).toBe(counted);
      }),
      { numRuns: runs(100, 3000) },
    );
  });

  it('never falls, whatever the API corrects', () => {
    fc.assert(
      fc.property(stepsWith(fc.nat(500)), answers, (steps, answer) => {
        const values = play(steps, answer).map(({ value }) => value);
        expect(values).toEqual(values.toSorted((a, b) => a - b));
        expect(values.every((value) => value >= 0)).toBe(true);
      }),
      { numRuns: runs(100, 3000) },
    );
  });
});
