import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/faults.ts';
import { outageScript, playScript, type ScriptStep } from '../../src/simulator/script.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';

/** A stage that records the active faults. */
function stageOf() {
  const playing = new Set<Fault>();
  return {
    playing,
    inject(fault: Fault) {
      playing.add(fault);
      return () => {
        playing.delete(fault);
      };
    },
  };
}

const late: Fault = { type: 'latency' };
const reset: Fault = { type: 'reset' };
const hang: Fault = { type: 'hang' };

describe('playing a script', () => {
  it('plays the steps in turn, each replacing the previous one', async () => {
    const stage = stageOf();
    const heard: [string, Fault[]][] = [];
    await playScript(
      stage,
      [
        { atMs: 0, says: 'calm', inject: [] },
        { atMs: 5, says: 'slow', inject: [late] },
        { atMs: 10, says: 'reset', inject: [reset] },
        { atMs: 15, says: 'hanging', inject: [hang] },
      ],
      (step) => heard.push([step.says, [...stage.playing]]),
      new AbortController().signal,
    );
    expect(heard).toEqual([
      ['calm', []],
      ['slow', [late]],
      ['reset', [reset]],
      ['hanging', [hang]],
    ]);
    expect([...stage.playing]).toEqual([hang]);
  });

  it('removes its faults when it is aborted, but not those of others', async () => {
    const stage = stageOf();
    stage.inject(late);
    const controller = new AbortController();
    await playScript(
      stage,
      [
        { atMs: 0, says: 'reset', inject: [reset] },
        { atMs: 3_600_000, says: 'never', inject: [hang] },
      ],
      () => controller.abort(),
      controller.signal,
    );
    expect([...stage.playing]).toEqual([late]);
  });
});

describe("the demo's outage", () => {
  const told = (script: readonly ScriptStep[]) => script.map(({ inject }) => inject.map(({ type }) => type));

  it('begins and ends calm, and strikes a key, the applications, Shield and everything', () => {
    const script = outageScript(['248113', '251907']);
    expect(told(script)).toEqual([
      [],
      ['status-401'],
      ['latency', 'status-503', 'status-502-html'],
      ['status-429-retry-seconds'],
      ['hang', 'reset'],
      [],
    ]);
    expect(script[1]?.inject[0]?.target).toBe('library/248113');
    const times = script.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((one, other) => one - other));
  });

  it('has faults that the simulator accepts', () => {
    const simulator = createSimulator();
    for (const { inject } of outageScript(simulator.libraryIds)) {
      for (const fault of inject) expect(() => simulator.inject(fault)).not.toThrow();
    }
  });
});
