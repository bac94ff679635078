/** A simulator for one test, at noon unless it has its own clock. */
import { onTestFinished } from 'vitest';
import { type Shape, scales } from '../../simulator/dataset.ts';
import { createSimulator, type Simulator, type SimulatorOptions } from '../../simulator/simulator.ts';

export const noon = Date.UTC(2026, 7, 20, 12);

/** The sizes of a small account with so many of everything at most. */
export function atMost(most: number): Partial<Shape> {
  const sizes = Object.entries(scales.small).map(([name, size]) => [name, Math.min(size, most)]);
  return Object.fromEntries(sizes) as Shape;
}

export const single = atMost(1);
export const few = atMost(2);

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = createSimulator({ now: () => noon, ...options });
  await simulator.start();
  onTestFinished(async () => await simulator.stop());
  return simulator;
}
