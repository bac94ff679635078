/** How long the event loop of the exporter stalls while an account is found, a target renamed, a configuration reloaded. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shape, scales } from '../src/simulator/dataset.ts';
import type { ConfigDocument } from '../src/simulator/everything.ts';
import { createAccount, type Exporter, fetchPage } from './program.ts';
import { log, milliseconds, type Part } from './report.ts';

/** With the longest stall allowed. */
const accounts: readonly { readonly shape: Shape; readonly targets: number; readonly limitMs: number }[] = [
  { shape: { ...scales.medium, videosPerLibrary: 450 }, targets: 5_000, limitMs: 50 },
  { shape: scales.full, targets: 38_000, limitMs: 500 },
];
/** At which the exporter samples its event loop; part of each sample. */
const resolutionMs = 10;
const giveUpMs = 300_000;

interface Stall {
  readonly stallMs: number;
  readonly tookMs: number;
}

/** The longest stall that the exporter reports until the page holds the text. */
async function stallUntil(
  { port }: Pick<Exporter, 'port'>,
  path: string,
  has: (page: string) => boolean,
): Promise<Stall> {
  const startedMs = performance.now();
  let stallMs = 0;
  for (let isThere = false; !isThere; ) {
    // The exporter renders the metrics of its process at most once a second.
    await sleep(1100);
    isThere = await fetchPage(port, path).then(
      (page) => has(page.toString()),
      () => false,
    );
    const own = await fetchPage(port, '/metrics?kind=exporter').catch(() => '');
    const [, seconds = '0'] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(own.toString()) ?? [];
    stallMs = Math.max(stallMs, Number(seconds) * 1000 - resolutionMs);
    if (performance.now() - startedMs > giveUpMs) throw new Error(`${path} does not show the change`);
  }
  return { stallMs, tookMs: performance.now() - startedMs };
}

export async function measureStalls(quick: boolean): Promise<Part> {
  const found: (Part & { readonly row: readonly string[] })[] = [];
  for (const { shape, targets, limitMs } of quick ? accounts.slice(0, 1) : accounts) {
    const account = await createAccount(shape);
    const document = (interval: string): ConfigDocument => ({
      ...account.everything({
        interval,
        staleAfter: '3d',
        api: () => ({ requests_per_second: targets / 20, max_concurrency: 32 }),
      }),
      discovery: { interval: '5s' },
    });
    const [application] = account.dataset.applications;
    if (!application) throw new Error('there is no application');
    const exporter = await account.start(document('5m'));
    try {
      const finding = await stallUntil(exporter, '/-/ready', (page) => page.startsWith('ready'));
      await account.simulator.ask('rename', { id: application.id, name: 'renamed' });
      const renaming = await stallUntil(exporter, '/metrics?kind=application', (page) =>
        page.includes('name="renamed"'),
      );
      exporter.reload(document('6m'));
      const reloading = await stallUntil(exporter, '/config', (page) => page.includes('"interval": "6m"'));
      const all = [finding, renaming, reloading];
      const longestMs = Math.max(...all.map(({ stallMs }) => stallMs));
      const count = targets.toLocaleString('en');
      log(`stalls with ${count} targets`);
      found.push({
        tables: [],
        row: [count, milliseconds(finding.tookMs), ...all.map(({ stallMs }) => milliseconds(stallMs))],
        aims: [
          {
            what: `longest stall of the event loop while ${count} targets are found, renamed or reloaded`,
            wanted: `≤ ${limitMs} ms`,
            measured: milliseconds(longestMs),
            met: longestMs <= limitMs,
          },
        ],
      });
    } finally {
      await Promise.all([exporter.measured.stop(), account.stop()]);
    }
  }
  return {
    aims: found.flatMap(({ aims }) => aims),
    tables: [
      {
        title: 'Longest stall of the event loop',
        columns: ['targets', 'found and polled after', 'meanwhile', 'when one is renamed', 'at a reload'],
        rows: found.map(({ row }) => row),
      },
    ],
  };
}
