/** A simulator for one test, at noon of a day unless it has a clock of its own. */
import { onTestFinished } from 'vitest';
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.ts';

export const noon = Date.UTC(2026, 7, 20, 12);

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = createSimulator({ now: () => noon, ...options });
  await simulator.start();
  onTestFinished(async () => await simulator.stop());
  return simulator;
}
