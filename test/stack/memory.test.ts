import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { eventually, freePort, start, stopAll } from './processes.ts';

const minutes = 5;

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
  const name = `bunnynet-exporter-${process.pid}`;
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

describe('the sidecar', () => {
  it(`stays alive for ${minutes} minutes within the chart's memory limit: polls, scrapes, an outage, a reload`, {
    timeout: (minutes + 2) * 60_000,
  }, async () => {
    const simulator = createSimulator();
    onTestFinished(() => simulator.stop());
    await simulator.start();
    const folder = mkdtempSync(`${tmpdir()}/bunnynet-exporter-`);
    const configure = (applications: number) =>
      writeFileSync(
        `${folder}/config.yml`,
        JSON.stringify({
          credentials: { account: { env: 'BUNNYNET_ACCESS_KEY' } },
          apis: { application: { base_url: simulator.baseUrls.application } },
          applications: {
            interval: '2s',
            targets: simulator.applications.slice(0, applications).map(({ id }) => id),
          },
        }),
      );
    configure(2);
    const limitBytes = sidecarLimit();
    const group = createMemoryGroup(limitBytes);
    // The hook that is registered last runs first: the group must be empty when it is removed.
    onTestFinished(stopAll);
    const port = await freePort();
    // The shell joins the group and then becomes the exporter.
    const exporter = start(
      'sh',
      [
        '-c',
        `${group === undefined ? '' : `echo $$ > ${group} && `}exec "$0" "$@"`,
        process.execPath,
        'dist/bunnynet-exporter.js',
        `--config.file=${folder}/config.yml`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { ...process.env, BUNNYNET_ACCESS_KEY: simulator.keys.account },
    );
    const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const upOf = (page: string) =>
      [...page.matchAll(/^bunnynet_application_up\{.*\} (\d)$/gm)].map(([, up]) => up);
    const untilUp = (...expected: readonly string[]) =>
      eventually(async () => expect(upOf(await scrape())).toEqual(expected), 30_000);
    await untilUp('1', '1');

    const endsAtMs = Date.now() + minutes * 60_000;
    for (let step = 0; Date.now() < endsAtMs; step++) {
      await scrape();
      await fetch(`http://127.0.0.1:${port}/`);
      await sleep(500);
      if (step === 60) {
        const heal = simulator.inject({ type: 'status-502-html' });
        await untilUp('0', '0');
        await sleep(10_000);
        heal();
        await untilUp('1', '1');
        configure(3);
        exporter.kill('SIGHUP');
        await untilUp('1', '1', '1');
      }
      expect([exporter.exitCode, exporter.signalCode]).toEqual([null, null]);
    }
    expect(upOf(await scrape())).toEqual(['1', '1', '1']);
    expect(peakBytes(exporter.pid)).toBeLessThanOrEqual(limitBytes);
  });
});
