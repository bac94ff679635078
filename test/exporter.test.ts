import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../src/config/config.ts';
import { load } from '../src/demo.ts';
import { createExporter, type Exporter, type ExporterOptions } from '../src/exporter.ts';
import type { KindName } from '../src/simulator/dataset.ts';
import { everything } from '../src/simulator/everything.ts';
import { createSimulator, type Simulator } from '../src/simulator/simulator.ts';
import { sectionConfig, targetConfig } from './polling/fixtures.ts';
import { kindNames, referenceKinds } from './simulator/targets.ts';

const now = Date.parse('2026-08-15T12:00:00Z');
const running: (Exporter | Simulator)[] = [];

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

/** The whole program against a simulator whose clock stands still; `change` adapts its configuration. */
async function startAll(
  change: (config: Config, simulator: Simulator) => Config = (config) => config,
  kinds: readonly KindName[] = referenceKinds,
  web: Pick<ExporterOptions, 'probeAddress' | 'webConfigFile'> = {},
) {
  const shape = { endpoints: 1, libraries: 1, videosPerLibrary: 1 };
  const simulator = createSimulator({ now: () => now, maxPageSize: 2, shape });
  await simulator.start();
  running.push(simulator);
  const { config: base, credentials } = await load(
    everything(simulator, {
      kinds,
      interval: '1m',
      api: () => ({
        timeout: '30s',
        max_concurrency: 8,
        requests_per_second: 500,
        max_retries: 0,
      }),
      // Besides what is found, some targets are named one by one.
      sections: {
        application: { targets: simulator.applications.slice(0, 2).map(({ id, name }) => ({ id, name })) },
      },
    }),
  );
  let config = change(base, simulator);
  let loadError: Error | undefined;
  const lines: string[] = [];
  const exporter = await createExporter({
    load: () => {
      if (loadError) return Promise.reject(loadError);
      return Promise.resolve({ config, credentials });
    },
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    ...web,
    enableLifecycle: true,
    log: pino({ base: null, level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    now: () => now,
  });
  running.push(exporter);
  const rows = async () => (await exporter.page()).split('\n').filter((line) => !line.startsWith('#'));
  return {
    simulator,
    exporter,
    rows,
    logged: (text: string) => lines.filter((line) => line.includes(text)),
    failLoads: (error: Error | undefined) => {
      loadError = error;
    },
    setConfig: (next: (config: Config) => Config) => {
      config = next(config);
    },
  };
}

/** The video API gives up soon. */
const impatient =
  (timeoutMs: number) =>
  (config: Config): Config => ({
    ...config,
    apis: { ...config.apis, video: { ...config.apis.video, timeoutMs } },
  });

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

describe('the exporter', () => {
  it('serves the golden page of the simulated account', async () => {
    const { exporter } = await startAll(undefined, kindNames);
    expect(await exporter.pollOnce()).toBe(true);
    await expect(withoutVolatile(await exporter.page())).toMatchFileSnapshot('golden/page.txt');
  });

  it('answers only probes without a password if clients need one', async () => {
    const webConfigFile = join(mkdtempSync(join(tmpdir(), 'web-')), 'web.yml');
    writeFileSync(webConfigFile, `basic_auth_users:\n  alice: ${hashSync('secret', 4)}\n`);
    const probeAddress = { host: '127.0.0.1', port: 0 };
    const { simulator, exporter, logged } = await startAll(impatient(2000), undefined, {
      probeAddress,
      webConfigFile,
    });
    const hang = simulator.inject({ type: 'hang', api: 'video' });
    const [url] = await exporter.start();
    const probes = /"url":"(http:[^"]+)"/.exec(logged('answering probes')[0] ?? '')?.[1];
    const status = async (page: string) => (await fetch(page)).status;
    expect(await status(`${url}/-/ready`)).toBe(401);
    expect(await status(`${probes}/-/healthy`)).toBe(200);
    expect(await status(`${probes}/-/ready`)).toBe(503);
    hang();
    await expect.poll(() => status(`${probes}/-/ready`), { timeout: 10_000 }).toBe(200);
    expect(await status(`${url}/sd/hostnames`)).toBe(401);
    for (const page of ['/', '/metrics', '/config', '/api/v1/targets', '/sd/hostnames', '/-/reload']) {
      expect(await status(`${probes}${page}`), page).toBe(404);
    }
    await exporter.stop();
    await expect(fetch(`${probes}/-/healthy`)).rejects.toThrow();
  });

  it('shows a configured zone that is not in the listing as down, with no other series', async () => {
    const { exporter, rows } = await startAll((config) => ({
      ...config,
      sections: [sectionConfig('shield_zone', [targetConfig({ shield_zone_id: '999999' })])],
    }));
    expect(await exporter.pollOnce()).toBe(false);
    const about = (await rows()).filter((row) => row.includes('"999999"'));
    expect(about).toEqual(['bunnynet_shield_zone_up{shield_zone_id="999999"} 0']);
  });

  it('keeps polling other targets when one fails, and other APIs when one fails', async () => {
    const { simulator, exporter, rows } = await startAll(impatient(300));
    const [broken, whole] = simulator.applications;
    simulator.inject({ type: 'status-500', kind: 'application', target: broken?.id ?? '' });
    simulator.inject({ type: 'hang', kind: 'video_storage' });
    expect(await exporter.pollOnce()).toBe(false);
    const page = await rows();
    expect(page).toContain(`bunnynet_application_up{app_id="${broken?.id}"} 0`);
    expect(page).toContain(`bunnynet_application_up{app_id="${whole?.id}"} 1`);
    expect(page.filter((row) => /^bunnynet_shield_\w+_up.* 0$/.test(row))).toEqual([]);
    expect(page).toContain('bunnynet_exporter_polls_total{kind="video_storage",result="timeout"} 1');
  });

  it('changes nothing when a reload fails, and reports it in its metrics and over HTTP', async () => {
    const { exporter, rows, logged, failLoads } = await startAll();
    const [url] = await exporter.start();
    await expect.poll(async () => (await fetch(`${url}/-/ready`)).status).toBe(200);
    const ofApi = async () =>
      (await rows()).filter((row) => !/^(bunnynet_exporter|process|nodejs)_/.test(row));
    const before = await ofApi();
    failLoads(new Error('config.yml:3: applications.interval: expected a duration'));
    const response = await fetch(`${url}/-/reload`, { method: 'POST' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('config.yml:3: applications.interval');
    expect(await ofApi()).toEqual(before);
    expect(await rows()).toContain('bunnynet_exporter_config_last_reload_successful 0');
    expect(logged('keeping the previous configuration: config.yml:3')).toHaveLength(1);
    failLoads(undefined);
    expect((await fetch(`${url}/-/reload`, { method: 'POST' })).status).toBe(200);
    expect(await rows()).toContain('bunnynet_exporter_config_last_reload_successful 1');
    expect(await ofApi()).toEqual(before);
  });

  it('logs once that series are left out, and once that this is over', async () => {
    const { exporter, rows, logged, setConfig } = await startAll((config) => ({
      ...config,
      limits: { maxSeries: 20 },
    }));
    const leftOut = () => logged('series are left out: limits.max_series is 20');
    await exporter.pollOnce();
    await exporter.pollOnce();
    expect(leftOut()).toHaveLength(1);
    expect((await rows()).some((row) => /^bunnynet_exporter_series_dropped\{.*\} [1-9]/.test(row))).toBe(
      true,
    );
    setConfig((config) => ({ ...config, limits: { maxSeries: 1_000_000 } }));
    await exporter.reload();
    await exporter.pollOnce();
    expect(leftOut()).toHaveLength(2);
    expect(leftOut()[1]).toContain('over after');
  });

  it('logs every request at the level debug, without a key', async () => {
    const { simulator, exporter, logged } = await startAll();
    await exporter.pollOnce();
    const asked = Object.values(simulator.counters).reduce((sum, { requests }) => sum + requests, 0);
    expect(logged('asked the API')).toHaveLength(asked);
    expect(logged(simulator.keys.account)).toEqual([]);
  });

  it('takes removed targets off the page during the reload, and polls new ones', async () => {
    const { simulator, exporter, rows, setConfig } = await startAll((config) => ({
      ...config,
      sections: config.sections.filter(({ kind }) => kind === 'application'),
    }));
    await exporter.pollOnce();
    const [gone, kept, added] = simulator.applications;
    const about = async (id = '') => (await rows()).filter((row) => row.includes(`app_id="${id}"`));
    const keptRows = await about(kept?.id);
    const asked = simulator.counters.application.requests;
    setConfig((config) => ({
      ...config,
      sections: config.sections.map((section) =>
        section.kind === 'application'
          ? sectionConfig('application', [
              targetConfig({ app_id: kept?.id ?? '' }, { name: kept?.name }),
              targetConfig({ app_id: added?.id ?? '' }),
            ])
          : section,
      ),
    }));
    await exporter.reload();
    expect(await about(gone?.id)).toEqual([]);
    expect(await about(kept?.id)).toEqual(keptRows);
    await expect.poll(async () => (await about(added?.id)).length).toBeGreaterThan(2);
    expect(simulator.counters.application.requests).toBe(asked + 1);
  });

  it('leaves out no series that fit once the targets removed by the same reload are gone', async () => {
    const { simulator, exporter, rows, setConfig } = await startAll((config) => ({
      ...config,
      sections: config.sections.filter(({ kind }) => kind === 'application'),
    }));
    await exporter.pollOnce();
    const { id = '', name } = simulator.applications[1] ?? {};
    const kept = async () => (await rows()).filter((row) => row.includes(`app_id="${id}"`));
    const before = await kept();
    expect(before.length).toBeGreaterThan(2);
    setConfig((config) => ({
      ...config,
      limits: { maxSeries: before.length },
      sections: [sectionConfig('application', [targetConfig({ app_id: id }, { name })])],
    }));
    await exporter.reload();
    expect(await kept()).toEqual(before);
  });
});
