import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { type Shape, scales } from '../../simulator/dataset.ts';
import { everything } from '../../simulator/everything.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { eventually, freePort, start, stopAll } from './processes.ts';
import { tools } from './tools.ts';

const minutes = 2;

/** The sidecar's memory limit in the chart, in bytes. */
function sidecarLimit(): number {
  const values = parse(readFileSync('helm/bunnynet-exporter/values.yaml', 'utf8')) as {
    sidecar: { resources: { limits: { memory: string } } };
  };
  const { memory } = values.sidecar.resources.limits;
  expect(memory).toMatch(/^\d+Mi$/);
  return Number.parseInt(memory, 10) * 2 ** 20;
}

/**
 * Creates a cgroup whose processes the kernel kills above the limit. Returns the file for joining it, or undefined
 * if this machine does not allow it: then only the peak is compared with the limit.
 */
function createMemoryGroup(limitBytes: number): string | undefined {
  const name = `bunnynet-exporter-${process.pid}-${limitBytes}`;
  const isFirstVersion = existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes');
  const folder = isFirstVersion ? `/sys/fs/cgroup/memory/${name}` : `/sys/fs/cgroup/${name}`;
  try {
    if (!isFirstVersion) writeFileSync('/sys/fs/cgroup/cgroup.subtree_control', '+memory');
    mkdirSync(folder);
    writeFileSync(`${folder}/${isFirstVersion ? 'memory.limit_in_bytes' : 'memory.max'}`, String(limitBytes));
  } catch {
    return undefined;
  }
  onTestFinished(() => rmdirSync(folder));
  return `${folder}/cgroup.procs`;
}

/** The peak resident memory of a process, including shared pages. */
function peakBytes(pid: number | undefined): number {
  const kilobytes = /^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/**
 * Starts an exporter within the limit of memory, where that is possible: the shell joins the group and then becomes the program.
 * `document` is its configuration; `write` changes that.
 */
async function startWithin(
  limitBytes: number,
  document: object,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (changed: object) => writeFileSync(`${folder}/config.yml`, JSON.stringify(changed));
  write(document);
  const group = createMemoryGroup(limitBytes);
  // The hook that is registered last runs first: the group must be empty when it is removed.
  onTestFinished(stopAll);
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${folder}/config.yml`, `--web.listen-address=${address}`];
  const join = group === undefined ? '' : `echo $$ > ${group} && `;
  const child = start('sh', ['-c', `${join}exec "$0" "$@"`, ...command, ...flags], {
    ...process.env,
    ...env,
  });
  const fetched = async (path: string) => {
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    return await fetch(`http://${address}${path}`);
  };
  return { child, write, fetched, isLimited: group !== undefined };
}

describe('the image', () => {
  /** The image's own Node with the options of its entry point, without the program. */
  const [node, ...options] = [`${tools}/node/bin/node`, ...entryPoint().slice(1, -1)];

  function entryPoint(): readonly string[] {
    const [, json = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    return JSON.parse(json) as string[];
  }

  it('exports 5,000 targets within 192 MiB, because its heap follows the limit', {
    timeout: 900_000,
  }, async () => {
    const shape = Object.fromEntries(
      Object.entries(scales.medium).map(([name, count]) => [name, Math.ceil(count * 1.3)]),
    ) as Shape;
    const simulator = createSimulator({ shape });
    onTestFinished(() => simulator.stop());
    await simulator.start();
    const pace = { timeout: '30s', max_concurrency: 16, requests_per_second: 400 };
    const { document, env } = everything(simulator, { interval: '30s', staleAfter: '10m', api: () => pace });
    const limitBytes = 192 * 2 ** 20;
    const { child, fetched, isLimited } = await startWithin(
      limitBytes,
      document,
      [node, ...options, 'dist/bunnynet-exporter.js'],
      { ...env, MALLOC_TRIM_THRESHOLD_: '131072', NODE_OPTIONS: '--max-semi-space-size=4' },
    );
    await eventually(async () => expect((await fetched('/-/ready')).status).toBe(200));
    let page = '';
    const sumOf = (family: string) =>
      [...page.matchAll(new RegExp(`^${family}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    // Some rounds of polls, with scrapes meanwhile. A busy machine takes its time.
    do {
      await sleep(2000);
      page = await (await fetched('/metrics')).text();
    } while (sumOf('bunnynet_exporter_polls_total') < 2 * sumOf('bunnynet_exporter_targets'));
    expect(sumOf('bunnynet_exporter_targets')).toBeGreaterThanOrEqual(5000);
    expect(sumOf('bunnynet_exporter_stale_targets')).toBe(0);
    // Where the kernel sets no limit here, at least the heap must keep to one.
    if (!isLimited) expect(peakBytes(child.pid)).toBeLessThanOrEqual(2 * limitBytes);
  });
});

describe('the sidecar', () => {
  it(`stays alive for ${minutes} minutes within the chart's memory limit: polls, scrapes, an outage, a reload`, async () => {
    const simulator = createSimulator();
    onTestFinished(() => simulator.stop());
    await simulator.start();
    const configOf = (applications: number) => ({
      credentials: { account: { env: 'BUNNYNET_ACCESS_KEY' } },
      apis: { application: { base_url: simulator.baseUrls.application } },
      applications: {
        interval: '2s',
        targets: simulator.applications.slice(0, applications).map(({ id }) => id),
      },
    });
    const limitBytes = sidecarLimit();
    const { child, write, fetched } = await startWithin(
      limitBytes,
      configOf(2),
      [process.execPath, 'dist/bunnynet-exporter.js'],
      { BUNNYNET_ACCESS_KEY: simulator.keys.account },
    );
    const scrape = async () => (await fetched('/metrics')).text();
    const upOf = (page: string) =>
      [...page.matchAll(/^bunnynet_application_up\{.*\} (\d)$/gm)].map(([, up]) => up);
    const untilUp = (...expected: readonly string[]) =>
      eventually(async () => expect(upOf(await scrape())).toEqual(expected));
    await untilUp('1', '1');

    const endsAtMs = Date.now() + minutes * 60_000;
    for (let step = 0; Date.now() < endsAtMs; step++) {
      await scrape();
      await fetched('/');
      await sleep(500);
      if (step === 20) {
        const heal = simulator.inject({ type: 'status-502-html' });
        await untilUp('0', '0');
        await sleep(10_000);
        heal();
        await untilUp('1', '1');
        write(configOf(3));
        child.kill('SIGHUP');
        await untilUp('1', '1', '1');
      }
    }
    expect(upOf(await scrape())).toEqual(['1', '1', '1']);
    expect(peakBytes(child.pid)).toBeLessThanOrEqual(limitBytes);
  });
});
