import { describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';

describe('the committed dashboards', () => {
  it.each([...buildDashboards()])('%s is what the code builds', async (file, dashboard) => {
    await expect(`${JSON.stringify(dashboard, undefined, 2)}\n`).toMatchFileSnapshot(
      `../../monitoring/dashboards/${file}`,
    );
  });
});
