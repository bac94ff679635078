/** Debian's prometheus-pushgateway as a contender: Go's client library with the same families, pushed in chunks. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { renderHeader, renderLabels, renderRows } from '../src/exposition/format.ts';
import { catalogue } from '../src/resources/catalogue.ts';
import type { Scale } from '../src/simulator/kind.ts';
import { freePort } from './ports.ts';
import { type Measured, startProgram } from './processes.ts';
import { readReadings, rowsOfTarget, type TargetReading, versions } from './readings.ts';

const program = '/usr/bin/prometheus-pushgateway';
/** Groups in which the applications are pushed, so that a fifth of them can be pushed again. */
const groups: Readonly<Record<Scale, number>> = { small: 5, medium: 10, full: 20 };

export async function startPushgateway(folder: string, applications: number, scale: Scale) {
  if (!existsSync(program)) return undefined;
  const port = await freePort();
  const arguments_ = [
    `--web.listen-address=127.0.0.1:${port}`,
    '--push.disable-consistency-check',
    // By default, Debian's version keeps pushed data from one run to the next.
    '--persistence.file=',
    '--log.level=error',
  ];
  const measured: Measured = startProgram('pushgateway', program, arguments_);
  const groupOf = (place: number) =>
    place < applications ? Math.floor((place * groups[scale]) / applications) : groups[scale];
  const push = async (version: number, isWanted: (group: number) => boolean) => {
    let group = -1;
    let targets: TargetReading[] = [];
    let place = 0;
    for await (const target of readReadings(folder, version)) {
      const next = groupOf(place++);
      if (next !== group) {
        if (targets.length > 0) await pushGroup(port, group, targets);
        targets = [];
        group = next;
      }
      if (isWanted(group)) targets.push(target);
    }
    if (targets.length > 0) await pushGroup(port, group, targets);
  };
  await untilServing(port);
  await push(0, () => true);
  return {
    name: 'pushgateway',
    measured,
    port,
    // It renders all of its series at every scrape, so it does not matter which of them changed.
    change: (turn: number) =>
      push(
        (Math.floor(turn / 5) + 1) % versions,
        (group) => Math.floor((group * 5) / groups[scale]) === turn % 5,
      ),
  };
}

async function pushGroup(port: number, group: number, targets: readonly TargetReading[]): Promise<void> {
  const rows = new Map<number, string[]>();
  for (const target of targets) {
    const labels = renderLabels(target.ids);
    for (const { family, samples } of rowsOfTarget(target)) {
      const name = catalogue[family]?.name ?? '';
      const into = rows.get(family) ?? [];
      rows.set(family, into);
      into.push(renderRows(name, labels, samples).text);
    }
  }
  const parts: Buffer[] = [];
  for (const [family, lines] of rows) {
    const header = catalogue[family];
    if (header) parts.push(Buffer.from(renderHeader(header, 'text')), Buffer.from(lines.join('')));
  }
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/metrics/job/g${group}`, {
    method: 'PUT',
    body: Buffer.concat(parts),
    headersTimeout: 60_000,
  });
  const answer = await body.text();
  if (statusCode >= 300) throw new Error(`pushgateway refused a push: ${statusCode} ${answer.slice(0, 300)}`);
}

async function untilServing(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const ready = await request(`http://127.0.0.1:${port}/-/ready`).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode === 200;
      },
      () => false,
    );
    if (ready) return;
    await sleep(50);
  }
  throw new Error('pushgateway does not serve');
}
