import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { demoSeries } from '../../src/cli/flags.ts';
import { runs } from '../runs.ts';

/** The larger ones take a minute, so they are tried at night. */
const scales = Object.entries(demoSeries).slice(0, runs(1, 3));

describe('the demo', () => {
  test.each(scales)('at scale %s serves about %i series', (scale, series) => {
    const { status, stdout } = spawnSync(
      process.execPath,
      ['dist/bunnynet-exporter.js', '--demo', `--demo.scale=${scale}`, '--once', '--log.level=error'],
      { encoding: 'utf8', maxBuffer: 2 ** 28 },
    );
    expect(status).toBe(0);
    const served = stdout.match(/^[^#\n]/gm)?.length ?? 0;
    expect(Math.abs(served / series - 1), `${served} series`).toBeLessThan(0.1);
  });
});
