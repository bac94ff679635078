import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { checkBodies } from '../properties/property.ts';
import { kindOfEachApi } from '../simulator/targets.ts';
import { toolPath } from './processes.ts';

const bodiesPerKind = process.env['NIGHTLY'] ? 100_000 : 1000;
/** One page in this many is also checked by promtool. */
const checkedPages = bodiesPerKind / 20;

describe(`${bodiesPerKind.toLocaleString('en')} bodies`, () => {
  it.each(kindOfEachApi)(
    'of %s become a reading with a valid page, or a known error',
    { timeout: 900_000 },
    async (kind) => {
      const promtool = toolPath('promtool');
      let pages = 0;
      let found = '';
      const { bodies, results, samples } = await checkBodies(kind, bodiesPerKind, (page) => {
        pages++;
        if (pages % checkedPages !== 1 || page === '') return;
        found += execFileSync(promtool, ['check', 'metrics'], { input: page, encoding: 'utf8' });
      });
      expect(bodies).toBe(bodiesPerKind);
      expect(found).toBe('');
      expect(pages).toBeGreaterThan(checkedPages);
      expect(results['schema']).toBeGreaterThan(bodiesPerKind / 100);
      expect(samples).toBeGreaterThan(bodiesPerKind);
    },
  );
});
