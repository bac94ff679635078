import { describe, expect, it } from 'vitest';
import { SchemaDrift } from '../../src/status/schema-drift.ts';

const dayMs = 86_400_000;

describe('the fields of the wrong type', () => {
  it('are kept with how often they came, the most frequent first, and the types that came last', () => {
    const drift = new SchemaDrift(() => 5000);
    drift.note({ kind: 'application', field: 'monthlyCost' });
    drift.note({ kind: 'video_storage', field: 'encoded', expected: 'object', received: 'string' });
    drift.note({ kind: 'video_storage', field: 'encoded', expected: 'object', received: 'number' });
    expect(drift.records()).toEqual([
      {
        kind: 'video_storage',
        field: 'encoded',
        expected: 'object',
        received: 'number',
        count: 2,
        lastAtMs: 5000,
      },
      { kind: 'application', field: 'monthlyCost', count: 1, lastAtMs: 5000 },
    ]);
  });

  it('are forgotten a day after the last', () => {
    let nowMs = 0;
    const drift = new SchemaDrift(() => nowMs);
    drift.note({ kind: 'application', field: 'monthlyCost' });
    drift.note({ kind: 'application', field: 'status' });
    nowMs = dayMs / 2;
    drift.note({ kind: 'application', field: 'status' });
    nowMs = dayMs + 1;
    expect(drift.records().map(({ field }) => field)).toEqual(['status']);
  });

  it('never take more room than 200 fields do, whatever keys the API chooses', () => {
    let nowMs = 0;
    const drift = new SchemaDrift(() => nowMs);
    for (let at = 0; at < 1000; at++) drift.note({ kind: 'application', field: `latencyChart.${at}` });
    expect(drift.records()).toHaveLength(200);
    nowMs = 2 * dayMs;
    drift.note({ kind: 'application', field: 'new' });
    expect(drift.records().map(({ field }) => field)).toEqual(['new']);
  });
});
