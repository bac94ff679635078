import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSimulator } from '../../simulator/simulator.ts';
import { configMap, exampleChart, type Manifest, parse, render, sidecarValues } from './chart.ts';
import { cases } from './chart-cases.ts';
import { type Outcome, root } from './tools.ts';

const simulator = createSimulator();
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'program-'));
  await simulator.start();
});
afterAll(async () => {
  await simulator.stop();
  rmSync(folder, { recursive: true });
});

interface EnvironmentEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}
interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentEntry[];
}
interface Pod {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly {
    readonly configMap?: { readonly name: string };
    readonly projected?: {
      readonly sources: readonly {
        readonly secret: { readonly name: string; readonly items: readonly { key: string; path: string }[] };
      }[];
    };
  }[];
}

/** The Secrets by name and key. */
type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

function pods(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => (spec as { template: { spec: Pod } }).template.spec);
}

function onlyPod(manifests: readonly Manifest[]): Pod {
  const [pod] = pods(manifests);
  if (!pod) throw new Error('no Pod is rendered');
  return pod;
}

/** Creates what Kubernetes would mount at /etc/bunnynet-exporter and below /var/lib, in a folder that replaces both. */
function mounted(manifests: readonly Manifest[], secrets: Secrets): string {
  const place = mkdtempSync(join(folder, 'etc-'));
  for (const name of ['config', 'credentials', 'state']) mkdirSync(join(place, name));
  const volumes = onlyPod(manifests).volumes ?? [];
  const config = volumes.find((volume) => volume.configMap)?.configMap?.name ?? '';
  for (const [name, text] of Object.entries(configMap(manifests, config))) {
    writeFileSync(join(place, 'config', name), text.replaceAll('/etc/bunnynet-exporter', place));
  }
  for (const { secret } of volumes.flatMap(({ projected }) => projected?.sources ?? [])) {
    for (const { key, path } of secret.items) {
      const value = secrets[secret.name]?.[key];
      if (value !== undefined) writeFileSync(join(place, 'credentials', path), value);
    }
  }
  return place;
}

/** Runs the program as the container of the Pod, with `added` flags and environment. */
function start(
  container: Container,
  place: string,
  secrets: Secrets,
  added: {
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<Outcome> {
  const env: Record<string, string> = { ...added.env };
  for (const { name, value, valueFrom } of container.env ?? []) {
    const { name: secret = '', key = '' } = valueFrom?.secretKeyRef ?? {};
    env[name] = value ?? secrets[secret]?.[key] ?? '';
  }
  const args = (container.args ?? []).map((arg) =>
    arg
      .replaceAll('/etc/bunnynet-exporter', place)
      .replaceAll('/var/lib/bunnynet-exporter', `${place}/state`),
  );
  return new Promise((resolve) => {
    const program = `${root}dist/bunnynet-exporter.js`;
    execFile(process.execPath, [program, ...args, ...added.args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
  });
}

const everySecret: Secrets = {
  bunnynet: { 'access-key': 'first-key-of-the-test', second: 'second-key-of-the-test' },
  'bunnynet-stream': { 'library.4711': 'library-key-of-the-test' },
};

describe('the rendered configuration', () => {
  test.each(Object.entries(cases).filter(([name]) => name !== 'demo' && name !== 'own-configuration'))(
    'is accepted by the program: %s',
    async (_, values) => {
      const manifests = parse(render('helm4', values));
      const [container = {}] = onlyPod(manifests).containers;
      const own = container.args?.filter((arg) => !arg.startsWith('--web.config.file')) ?? [];
      const place = mounted(manifests, everySecret);
      const { code, stdout, stderr } = await start({ ...container, args: own }, place, everySecret, {
        args: ['--config.check'],
      });
      expect(code, `${stdout}${stderr}`).toBe(0);
    },
  );
});

function liveValues() {
  const { baseUrls, applications, zones, endpoints, videos, libraryIds } = simulator;
  return {
    credentials: [
      { name: 'account', existingSecret: 'bunnynet' },
      ...libraryIds.map((id) => ({ name: `library-${id}`, existingSecret: 'bunnynet-stream', key: id })),
    ],
    config: {
      apis: {
        application: { base_url: baseUrls.application, requests_per_second: 1000 },
        shield: { base_url: baseUrls.shield, requests_per_second: 1000 },
        core: { base_url: baseUrls.core, requests_per_second: 1000 },
        video: { base_url: baseUrls.video, requests_per_second: 1000 },
      },
      applications: { credential: 'account', targets: applications.map(({ id }) => id) },
      shield_zones: { credential: 'account', targets: zones.map(({ id }) => id) },
      api_guardian: {
        credential: 'account',
        targets: endpoints.map(({ shieldZoneId, id }) => ({
          shield_zone_id: shieldZoneId,
          endpoint_id: id,
        })),
      },
      video_storage: {
        targets: videos.map(({ libraryId, id }) => ({
          library_id: libraryId,
          video_id: id,
          credential: `library-${libraryId}`,
        })),
      },
    },
  };
}

function liveSecrets(): Secrets {
  return { bunnynet: { 'access-key': simulator.keys.account }, 'bunnynet-stream': simulator.keys.libraries };
}

/** The targets whose last poll succeeded, and the others. */
function ups(page: string): { readonly up: string[]; readonly down: string[] } {
  const rows = page.split('\n').filter((line) => /^(?!bunnynet_exporter_)\w+_up\{/.test(line));
  return { up: rows.filter((row) => row.endsWith(' 1')), down: rows.filter((row) => row.endsWith(' 0')) };
}

describe('the program, as the chart starts it', () => {
  test('finds and polls everything but videos if only a Secret is named', async () => {
    const { apis } = liveValues().config;
    const manifests = parse(render('helm4', { existingSecret: 'bunnynet', config: { apis } }));
    const [container = {}] = onlyPod(manifests).containers;
    const { stdout, stderr } = await start(container, mounted(manifests, liveSecrets()), liveSecrets(), {
      args: ['--once'],
    });
    const { applications, zones, endpoints } = simulator;
    const expected = [
      ...applications.map(({ id }) => `bunnynet_application_up{app_id="${id}",account="account"} 1`),
      ...zones.map(({ id }) => `bunnynet_shield_zone_up{shield_zone_id="${id}",account="account"} 1`),
      ...endpoints.map(
        ({ shieldZoneId, id }) =>
          `bunnynet_shield_api_guardian_up{shield_zone_id="${shieldZoneId}",endpoint_id="${id}",account="account"} 1`,
      ),
    ];
    expect(ups(stdout).up, stderr).toEqual(expect.arrayContaining(expected));
    expect(stdout).not.toContain('bunnynet_video_storage_up{');
  });

  test('polls each target that its configuration names', async () => {
    const manifests = parse(render('helm4', liveValues()));
    const [container = {}] = onlyPod(manifests).containers;
    const { code, stdout, stderr } = await start(
      container,
      mounted(manifests, liveSecrets()),
      liveSecrets(),
      {
        args: ['--once'],
      },
    );
    expect(code, stderr).toBe(0);
    const { applications, zones, endpoints, videos } = simulator;
    expect(ups(stdout)).toEqual({ up: expect.any(Array) as string[], down: [] });
    expect(ups(stdout).up).toHaveLength(
      applications.length + zones.length + endpoints.length + videos.length,
    );
  });

  test('runs as a sidecar with only its environment', async () => {
    const [application] = simulator.applications;
    const values = sidecarValues({ applications: [application?.id] });
    const [sidecar = {}] =
      onlyPod(parse(render('helm4', values, exampleChart('helm4', folder)))).initContainers ?? [];
    const { code, stdout, stderr } = await start(sidecar, '', liveSecrets(), {
      args: ['--once'],
      env: { BUNNYNET_APPLICATION_URL: simulator.baseUrls.application },
    });
    expect(code, stderr).toBe(0);
    expect(ups(stdout).up).toEqual([
      `bunnynet_application_up{app_id="${application?.id}",account="account"} 1`,
    ]);
  });
});
