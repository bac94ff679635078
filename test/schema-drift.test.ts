import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { SchemaDrift } from '../src/schema-drift.ts';

const dayMs = 86_400_000;

function start() {
  const state = { nowMs: 5000 };
  const counted: string[] = [];
  const lines: string[] = [];
  const drift = new SchemaDrift({
    uptimeMs: () => state.nowMs,
    telemetry: {
      mismatched: (kind, field) => void counted.push(`${kind} ${field}`),
      unrecognized: (kind, field) => void counted.push(`${kind} ${field}`),
    },
    log: pino(
      { base: null },
      { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
    ),
    now: () => state.nowMs,
  });
  const about = (kind: string) => ({ kind, target: { id: 'a' }, name: undefined, credential: 'account' });
  return {
    state,
    drift,
    counted,
    lines,
    mismatch: (kind: string, field: string) => drift.mismatched(about(kind), field, 'a number', 'a string'),
    unrecognize: (value: string) => drift.unrecognized(about('dns_record'), 'Records', value),
  };
}

describe('the fields of the wrong type', () => {
  it('are kept with how often they came and since when, the most frequent first', () => {
    const { state, drift, lines, counted, mismatch } = start();
    mismatch('application', 'monthlyCost');
    mismatch('video_storage', 'encoded');
    state.nowMs = 6000;
    mismatch('video_storage', 'encoded');
    expect(drift.fields()).toMatchObject([
      { kind: 'video_storage', field: 'encoded', count: 2, sinceMs: 5000 },
      { kind: 'application', field: 'monthlyCost', count: 1, sinceMs: 5000 },
    ]);
    expect(counted).toHaveLength(3);
    expect(lines).toEqual([
      'the field monthlyCost is not as documented: expected a number, received a string; its series are left out, here and wherever it is so',
      'the field encoded is not as documented: expected a number, received a string; its series are left out, here and wherever it is so',
    ]);
  });

  it('are apart from the values that the reference does not list', () => {
    const { drift, mismatch, unrecognize } = start();
    mismatch('dns_record', 'Records');
    for (const value of ['Type 16', 'Type 17', 'Type 16']) unrecognize(value);
    expect(drift.fields().map(({ value, count }) => [value, count])).toEqual([
      ['Type 16', 2],
      [undefined, 1],
      ['Type 17', 1],
    ]);
  });

  it('are forgotten a day after the last, and begin anew when they come back', () => {
    const { state, drift, lines, mismatch } = start();
    mismatch('application', 'monthlyCost');
    mismatch('application', 'status');
    state.nowMs += dayMs / 2;
    mismatch('application', 'status');
    state.nowMs += dayMs / 2 + 1;
    expect(drift.fields()).toMatchObject([{ field: 'status', sinceMs: 5000 }]);
    state.nowMs += dayMs;
    mismatch('application', 'status');
    expect(drift.fields()).toMatchObject([{ field: 'status', count: 1, sinceMs: state.nowMs }]);
    expect(lines).toHaveLength(3);
  });

  it('that are more than 200 are only counted, until others have been forgotten', () => {
    const { state, drift, lines, counted, unrecognize } = start();
    for (let n = 0; n < 300; n++) unrecognize(`Type ${n}`);
    expect([drift.fields().length, lines.length, counted.length]).toEqual([200, 200, 300]);
    state.nowMs += dayMs + 1;
    unrecognize('Type 299');
    expect(drift.fields().map(({ value }) => value)).toEqual(['Type 299']);
  });
});
