import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { readExpression } from './promql.ts';

function panel(...words: readonly string[]) {
  const { PROMETHEUS_URL: _, ...env } = process.env;
  return spawnSync(process.execPath, ['scripts/panel.mjs', ...words], { encoding: 'utf8', env });
}

it('prints the queries of panels without variables, and where Prometheus draws them', () => {
  const { status, stdout } = panel('current', 'latency', '(top');
  expect(status).toBe(0);
  expect(stdout.match(/^\S.*$/gm)).toEqual([
    'bunny.net / Application: Current latency (top 20)',
    'bunny.net / Overview: Current latency (top 10)',
  ]);
  const lines = stdout.split('\n').map((line) => line.trim());
  const addresses = lines.filter((line) => line.startsWith('http://localhost:9090/graph?'));
  expect(addresses).toHaveLength(2);
  for (const address of addresses) {
    const query = new URL(address).searchParams.get('g0.expr') ?? '';
    expect(lines).toContain(query);
    expect(readExpression(query).errors).toEqual([]);
    expect(query).not.toContain('$');
  }
});

it('says what it needs, and that there is no such panel', () => {
  expect(panel()).toMatchObject({ status: 2, stderr: 'usage: npm run panel -- PART OF A TITLE\n' });
  expect(panel('weather')).toMatchObject({ status: 1, stderr: 'no panel has "weather" in its title\n' });
});
