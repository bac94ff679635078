/** The whole exporter, polling the simulated API of another process and serving its page. */
import pino from 'pino';
import { createExporter, type Exporter } from '../../src/exporter.ts';
import type { Shape } from '../../src/simulator/dataset.ts';
import { createFleet, type Pace } from '../fleet.ts';
import { serveCommands } from '../processes.ts';

let exporter: Exporter | undefined;

const commands = {
  /** Starts to poll and serve; resolves with the port. */
  async start({ origin, shape, pace }: { origin: string; shape: Shape; pace: Pace }) {
    const fleet = await createFleet(origin, shape, pace);
    exporter = await createExporter({
      load: () => Promise.resolve(fleet),
      addresses: [{ host: '127.0.0.1', port: 0 }],
      telemetryPath: '/metrics',
      enableLifecycle: false,
      log: pino({ level: 'silent' }),
    });
    const [url = ''] = await exporter.start();
    return Number(new URL(url).port);
  },
};
export type ExportCommands = typeof commands;

serveCommands(commands);
