/** Scripted outages: faults that come and go at set times. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.ts';

export interface ScriptStep {
  /** From the start of the script. */
  readonly atMs: number;
  /** What happens, for people. */
  readonly says: string;
  /** Faults that replace those of the previous step. */
  readonly inject: readonly Fault[];
}

/**
 * The demo's outage, of four and a half minutes, which begins at once and grows: a refused key, a slow and failing application API, a
 * throttled shield API, everything down, recovery.
 */
export function outageScript(libraryIds: readonly string[]): readonly ScriptStep[] {
  const [library = ''] = libraryIds;
  const refused: readonly Fault[] = [{ type: 'status-401', api: 'video', target: `library/${library}` }];
  const failing: readonly Fault[] = [
    ...refused,
    { type: 'latency', api: 'application', latencyMs: 1_500 },
    { type: 'status-503', api: 'application', share: 0.7 },
  ];
  return [
    { atMs: 0, says: 'all is well', inject: [] },
    { atMs: 5_000, says: `the key of library ${library} is refused`, inject: refused },
    {
      atMs: 55_000,
      says: 'the application API is slow, and most of its answers are server errors',
      inject: failing,
    },
    {
      atMs: 115_000,
      says: 'the shield API answers 429 and asks for a pause of 20 seconds',
      inject: [...failing, { type: 'status-429-retry-seconds', api: 'shield', retryAfterSeconds: 20 }],
    },
    {
      atMs: 175_000,
      says: 'everything is down: half of the connections are reset, half hang',
      inject: [{ type: 'hang' }, { type: 'reset', share: 0.5 }],
    },
    { atMs: 265_000, says: 'all is well again', inject: [] },
  ];
}

/**
 * Plays the steps once and resolves after the last one, whose faults stay. An abort removes the script's faults and resolves
 * too. Other faults are left alone.
 */
export async function playScript(
  stage: { inject(fault: Fault): () => void },
  script: readonly ScriptStep[],
  onStep: (step: ScriptStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  let removals: (() => void)[] = [];
  const clear = () => {
    for (const remove of removals) remove();
    removals = [];
  };
  for (const step of script) {
    const waitMs = step.atMs - (performance.now() - startMs);
    // An abort alone ends the sleep early.
    await sleep(Math.max(0, waitMs), undefined, { signal, ref: false }).catch(() => undefined);
    clear();
    if (signal.aborted) return;
    removals = step.inject.map((fault) => stage.inject(fault));
    onStep(step);
  }
}
