/** The simulated API in its own process. */
import { randomUUID } from 'node:crypto';
import type { Shape } from '../../simulator/dataset.ts';
import type { Fault } from '../../simulator/faults.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import { serveCommands } from '../processes.ts';

let simulator: Simulator | undefined;

function running(): Simulator {
  if (!simulator) throw new Error('the simulator was not started');
  return simulator;
}

const commands = {
  async start({ seed, shape }: { seed: number; shape: Shape }) {
    simulator = createSimulator({ seed, shape });
    return (await simulator.start()).origin;
  },
  /** The number of answers with status 200 so far. */
  answered: () =>
    Object.values(running().counters).reduce((sum, { statuses }) => sum + (statuses['200'] ?? 0), 0),
  inject: ({ fault }: { fault: Fault }) => void running().inject(fault),
  /** Every library has another key. */
  replaceLibraryKeys() {
    for (const library of running().libraryIds) running().replaceKey(library, randomUUID());
  },
  rename: ({ id, name }: { id: string; name: string }) => running().rename(id, name),
};
export type SimulateCommands = typeof commands;

serveCommands(commands);
