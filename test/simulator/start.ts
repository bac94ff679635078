/** A simulator for one test, at noon unless it has its own clock. */
import { onTestFinished } from 'vitest';
import { type Shape, scales } from '../../simulator/dataset.ts';
import { createSimulator, type Simulator, type SimulatorOptions } from '../../simulator/simulator.ts';

export const noon = Date.UTC(2026, 7, 20, 12);

/** An account with one of everything. */
export const single: Partial<Shape> = Object.fromEntries(Object.keys(scales.small).map((name) => [name, 1]));

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = createSimulator({ now: () => noon, ...options });
  await simulator.start();
  onTestFinished(async () => await simulator.stop());
  return simulator;
}
