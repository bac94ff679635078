/** The exporter as its pages, its log and its metrics show it. */
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { everything } from '../simulator/everything.ts';
import { startWhole } from './held/whole.ts';
import { temporary } from './http/temporary.ts';
import { pollAll } from './simulator/page.ts';
import { atMost, startSimulator } from './simulator/start.ts';

/** The page without the values that differ from run to run: times, durations, metrics of the process. */
function withoutVolatile(page: string): string {
  return (
    page
      .split('\n')
      .filter((line) => !/^(# (HELP|TYPE) )?(process|nodejs)_/.test(line))
      .map((line) =>
        line.startsWith('#') ||
        !/(last_success|reload_success|duration_seconds|schedule_lag|build_info)/.test(line)
          ? line
          : line.replace(/(version|revision)="[^"]*"/g, '$1="…"').replace(/ [^ ]+$/, ' …'),
      )
      .join('\n')
      .replaceAll(/\n{2,}/g, '\n')
      // Found targets are in the order of the answers.
      .replaceAll(/^(?:[^#\n].*\n)+/gm, (rows) => `${rows.trimEnd().split('\n').toSorted().join('\n')}\n`)
  );
}

const summaries = {
  '/mc/apps/a/summary': () => ({ monthlyCost: 1 }),
  '/mc/apps/b/summary': () => ({ monthlyCost: 1 }),
};

/** The unit that Prometheus 3.16 gives each series with `type-and-unit-labels`: the one that was last named above it. */
function unitsOf(page: string): ReadonlyMap<string, string> {
  let unit = '';
  const units = new Map<string, string>();
  for (const line of page.split('\n')) {
    const [, given] = /^# UNIT \w+ (\w*)$/.exec(line) ?? [];
    if (given !== undefined) unit = given;
    const [name] = /^\w+/.exec(line) ?? [];
    if (name) units.set(name, unit);
  }
  return units;
}

describe('the exporter', () => {
  it('serves the golden page of the simulated account', async () => {
    const now = () => Date.parse('2026-08-15T12:00:00Z');
    // With a second page of each listing.
    const shape = { ...atMost(3), endpoints: 1, libraries: 1, videosPerLibrary: 1 };
    const simulator = await startSimulator({ now, maxPageSize: 2, shape });
    const exporter = await pollAll(
      everything(simulator, {
        interval: '1m',
        api: () => ({ timeout: '60s', max_concurrency: 8, requests_per_second: 500, max_retries: 0 }),
        // Besides what is found, some targets are named one by one.
        sections: {
          application: { targets: simulator.applications.slice(0, 2).map(({ id, name }) => ({ id, name })) },
        },
      }),
      now,
    );
    await expect(withoutVolatile(await exporter.page())).toMatchFileSnapshot('golden/page.txt');
  });

  it.each(['/metrics', '/metrics?kind=application', '/metrics?kind=exporter,application'])(
    'gives no series of %s the unit of the family above it',
    async (path) => {
      const whole = await startWhole({
        document: { applications: { targets: ['a'] } },
        routes: { '/mc/apps/a/summary': () => ({ ...summaries['/mc/apps/a/summary'](), state: 'active' }) },
      });
      await whole.poll();
      const { body } = await whole.get(path, { accept: 'application/openmetrics-text; version=1.0.0' });
      const units = unitsOf(body);
      expect([...units.values()]).toContain('seconds');
      for (const [name, unit] of units) {
        const family = name.replace(/_(info|total|sum|count|bucket)$/, '');
        expect(unit, name).toBe(/_(seconds|bytes)$/.exec(family)?.[1] ?? '');
      }
    },
  );

  it('answers only probes without a password if clients need one', async () => {
    const users = `basic_auth_users:\n  alice: ${hashSync('secret', 4)}\n`;
    let answer = (_body: object) => {};
    const answered = new Promise<object>((resolve) => {
      answer = resolve;
    });
    const { exporter, said } = await startWhole({
      web: {
        webConfigFile: join(temporary({ 'web.yml': users }), 'web.yml'),
        probeAddress: { host: '127.0.0.1', port: 0 },
      },
      document: { applications: { targets: ['a'] } },
      routes: { '/mc/apps/a/summary': () => answered },
    });
    const [url] = await exporter.start();
    const probes = String(said('answering probes')[0]?.['url']);
    const status = async (page: string) => (await fetch(page)).status;
    expect(await status(`${url}/-/ready`)).toBe(401);
    expect(await status(`${probes}/-/healthy`)).toBe(200);
    expect(await status(`${probes}/-/ready`)).toBe(503);
    answer({ monthlyCost: 1 });
    await expect.poll(() => status(`${probes}/-/ready`)).toBe(200);
    expect(await status(`${url}/sd/hostnames`)).toBe(401);
    for (const page of ['/', '/metrics', '/config', '/api/v1/targets', '/sd/hostnames', '/-/reload']) {
      expect(await status(`${probes}${page}`), page).toBe(404);
    }
    await exporter.stop();
    await expect(fetch(`${probes}/-/healthy`)).rejects.toThrow();
  });
});
