import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { demoSeries } from '../../src/cli/flags.ts';

describe('the demo', () => {
  test.each(Object.entries(demoSeries))(
    'at scale %s serves about %i series, and drops none',
    (scale, series) => {
      const { status, stdout } = spawnSync(
        process.execPath,
        ['dist/bunnynet-exporter.js', '--demo', `--demo.scale=${scale}`, '--once', '--log.level=error'],
        { encoding: 'utf8', maxBuffer: 2 ** 28 },
      );
      expect(status).toBe(0);
      const dropped = [...stdout.matchAll(/^bunnynet_exporter_series_dropped\{.*\} (\d+)$/gm)];
      expect(new Set(dropped.map(([, number]) => number))).toEqual(new Set(['0']));
      const served = stdout.match(/^[^#\n]/gm)?.length ?? 0;
      expect(Math.abs(served / series - 1), `${served} series`).toBeLessThan(0.1);
    },
  );
});
