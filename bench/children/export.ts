/** The whole exporter, polling the simulated API of another process and serving its page. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import pino from 'pino';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import type { Shape } from '../../src/simulator/dataset.ts';
import { startSmall } from '../../src/v8.ts';
import { createFleet, type Pace } from '../fleet.ts';
import { serveCommands } from '../processes.ts';
import { stallMs } from '../statistics.ts';

// As the command does it.
startSmall();

let exporter: Exporter | undefined;
let fleet: Awaited<ReturnType<typeof createFleet>> | undefined;
const delay = monitorEventLoopDelay({ resolution: 1 });

const commands = {
  /** Begins to poll and to serve; resolves with the port. */
  async start({ origin, shape, pace }: { origin: string; shape: Shape; pace: Pace }) {
    fleet = await createFleet(origin, shape, pace);
    exporter = await createExporter({
      load: () => (fleet ? Promise.resolve(fleet) : Promise.reject(new Error('there is no fleet'))),
      addresses: [{ host: '127.0.0.1', port: 0 }],
      telemetryPath: '/metrics',
      enableLifecycle: false,
      log: pino({ level: 'silent' }),
    });
    const [url = ''] = await exporter.start();
    return Number(new URL(url).port);
  },
  /** Goes on at another pace, by a reload. */
  async repace({ origin, shape, pace }: { origin: string; shape: Shape; pace: Pace }) {
    fleet = await createFleet(origin, shape, pace);
    await exporter?.reload();
  },
  watch() {
    delay.reset();
    delay.enable();
  },
  /** The longest stall of the event loop since, in milliseconds. */
  unwatch() {
    delay.disable();
    return stallMs(delay);
  },
};
export type ExportCommands = typeof commands;

serveCommands(commands);
