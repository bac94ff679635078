import { expect, it } from 'vitest';
import type { Fault } from '../../simulator/faults.ts';
import { outageScript, playScript } from '../../simulator/script.ts';
import { createSimulator } from '../../simulator/simulator.ts';

/** Where faults are played: it keeps those that are active. */
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

const [late, reset, hang] = [{ type: 'latency' }, { type: 'reset' }, { type: 'hang' }] as const;

it('plays the steps in turn, each replacing the previous one', async () => {
  const stage = stageOf();
  const heard: [string, Fault[]][] = [];
  await playScript(
    stage,
    [
      { atMs: 0, says: 'slow', inject: [late] },
      { atMs: 5, says: 'reset', inject: [reset] },
    ],
    (step) => heard.push([step.says, [...stage.playing]]),
    new AbortController().signal,
  );
  expect(heard).toEqual([
    ['slow', [late]],
    ['reset', [reset]],
  ]);
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

it("begins and ends the demo's outage calm, and strikes only with faults that the simulator accepts", () => {
  const simulator = createSimulator();
  const script = outageScript(simulator.libraryIds);
  expect(script.map(({ inject }) => inject.map(({ type }) => type))).toEqual([
    [],
    ['status-401'],
    ['status-401', 'latency', 'status-503'],
    ['status-401', 'latency', 'status-503', 'status-429-retry-seconds'],
    ['hang', 'reset'],
    [],
  ]);
  for (const fault of script.flatMap(({ inject }) => inject))
    expect(() => simulator.inject(fault)).not.toThrow();
});
