import pino from 'pino';
import { expect, onTestFinished } from 'vitest';
import { load } from '../../src/demo.ts';
import { createExporter, type Exporter, type ExporterOptions } from '../../src/exporter.ts';

/** An exporter in this process that has polled once all that is configured; it stops with the test. */
export async function pollAll(
  configured: Parameters<typeof load>[0],
  now?: ExporterOptions['now'],
): Promise<Exporter> {
  const setup = await load(configured);
  const exporter = await createExporter({
    load: () => Promise.resolve(setup),
    addresses: [],
    telemetryPath: '/metrics',
    enableLifecycle: false,
    log: pino({ level: 'silent' }),
    ...(now && { now }),
  });
  onTestFinished(() => exporter.stop());
  expect(await exporter.pollOnce()).toBe(true);
  return exporter;
}

export interface Page {
  readonly text: string;
  /** The sum over the series that begin with the text. */
  sum(start: string): number;
}

export async function readPage(exporter: Exporter): Promise<Page> {
  const text = await exporter.page();
  return {
    text,
    sum(start) {
      const rows = text.split('\n').filter((line) => line.startsWith(start));
      return rows.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
  };
}
