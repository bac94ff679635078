/** A simulator for one test, at noon unless it has its own clock. */
import { onTestFinished } from 'vitest';
import { createSimulator, type Simulator, type SimulatorOptions } from '../../simulator/simulator.ts';

export const noon = Date.UTC(2026, 7, 20, 12);

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = createSimulator({ now: () => noon, ...options });
  await simulator.start();
  onTestFinished(async () => await simulator.stop());
  return simulator;
}
