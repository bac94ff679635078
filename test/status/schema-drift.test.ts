import { describe, expect, it } from 'vitest';
import { SchemaDrift } from '../../src/status/schema-drift.ts';

const dayMs = 86_400_000;

describe('the fields of the wrong type', () => {
  it('are kept with how often they came and since when, the most frequent first', () => {
    const drift = new SchemaDrift();
    drift.note('application', 'monthlyCost', undefined, 5000);
    drift.note('video_storage', 'encoded', undefined, 5000);
    drift.note('video_storage', 'encoded', undefined, 6000);
    expect(drift.fields(6000)).toMatchObject([
      { kind: 'video_storage', field: 'encoded', count: 2, sinceMs: 5000 },
      { kind: 'application', field: 'monthlyCost', count: 1, sinceMs: 5000 },
    ]);
  });

  it('are apart from the values that the reference does not list', () => {
    const drift = new SchemaDrift();
    for (const value of [undefined, 'Type 16', 'Type 17', 'Type 16']) {
      drift.note('dns_record', 'Records', value, 5000);
    }
    expect(drift.fields(5000).map(({ value, count }) => [value, count])).toEqual([
      ['Type 16', 2],
      [undefined, 1],
      ['Type 17', 1],
    ]);
  });

  it('are forgotten a day after the last, and begin anew when they come back', () => {
    const drift = new SchemaDrift();
    drift.note('application', 'monthlyCost', undefined, 0);
    drift.note('application', 'status', undefined, 0);
    drift.note('application', 'status', undefined, dayMs / 2);
    expect(drift.fields(dayMs + 1)).toMatchObject([{ field: 'status', sinceMs: 0 }]);
    drift.note('application', 'status', undefined, 2 * dayMs);
    expect(drift.fields(2 * dayMs)).toMatchObject([{ field: 'status', count: 1, sinceMs: 2 * dayMs }]);
  });
});
