/**
 * The data of every contender: the exporter's readings of the simulated API's answers, at three times a minute apart.
 * They are written to files, so that no process holds more of them than it needs.
 */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseJson } from '../src/api/body.ts';
import { idText } from '../src/discovery/discovered.ts';
import { type Target, targetKey } from '../src/polling/target.ts';
import { type FamilyRows, rowsOf } from '../src/polling/target-states.ts';
import { catalogue, firstFamilyOf } from '../src/resources/catalogue.ts';
import { resources } from '../src/resources/index.ts';
import { type Ids, isReadAlone } from '../src/resources/resource.ts';
import { createApi } from '../src/simulator/api.ts';
import { allKinds, createDataset, createKeys, type Dataset } from '../src/simulator/dataset.ts';
import { writeJson } from '../src/simulator/json.ts';
import { prefixes, type Scale } from '../src/simulator/kind.ts';
import { measuredKinds, shapes } from './datasets.ts';

/** One target after a good poll, as a line of a file. */
export interface TargetReading {
  readonly key: string;
  readonly kind: string;
  readonly ids: Ids;
  readonly name: string;
  /** Unix time of the reading. */
  readonly atMs: number;
  readonly reading: unknown;
}

/** The exporter's own strings, which its targets share, unlike strings from a file. */
const kinds = new Map(resources.map(({ kind }) => [kind, kind]));

/** As a target of the exporter whose values never become stale. */
export function toTarget({ key, kind, ids, name }: Omit<TargetReading, 'reading' | 'atMs'>): Target {
  return {
    key,
    kind: kinds.get(kind) ?? kind,
    ids,
    name,
    credential: 'account',
    intervalMs: 60_000,
    staleAfterMs: Number.POSITIVE_INFINITY,
    pollKey: key,
    settings,
    baseUrl: '',
    keyId: '',
  };
}

/** All rows of a target, including its state. */
export function rowsOfTarget(one: TargetReading): readonly FamilyRows[] {
  const first = firstFamilyOf(one.kind);
  return [
    { family: first, samples: [{ value: 1 }] },
    { family: first + 1, samples: [{ value: one.atMs / 1000 }] },
    ...rowsOf(toTarget(one), one.reading),
    ...countersOf(one),
  ];
}

/** Counters start at 0. */
function countersOf(one: TargetReading): readonly FamilyRows[] {
  return catalogue.flatMap((declared, family) => {
    const counted = declared.kind === one.kind ? declared.days?.(one.reading, toTarget(one)) : undefined;
    return counted ? [{ family, samples: counted.map(({ labels = {} }) => ({ labels, value: 0 })) }] : [];
  });
}

const seed = 1;
export const versions = 3;
const startMs = Date.UTC(2026, 7, 14, 12, 0, 0);
const betweenMs = 60_000;

export function fileOf(folder: string, version: number): string {
  return `${folder}/readings-${version}.jsonl`;
}

/** Writes every version; returns the numbers of targets and series. */
export async function writeReadings(
  folder: string,
  scale: Scale,
): Promise<{ targets: number; applications: number; series: number }> {
  const dataset = createDataset(seed, shapes[scale]);
  let targets = 0;
  let series = 0;
  for (let version = 0; version < versions; version++) {
    const nowMs = startMs + version * betweenMs;
    const out = createWriteStream(fileOf(folder, version));
    targets = 0;
    series = 0;
    for await (const one of readAll(dataset, nowMs)) {
      targets++;
      for (const { samples } of rowsOfTarget(one)) series += samples.length;
      if (!out.write(`${JSON.stringify(one)}\n`)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'close');
  }
  return { targets, applications: dataset.applications.length, series };
}

/**
 * The targets of a version in the order in which the exporter first polls each kind, applications first. Only the wanted
 * ones are parsed.
 */
export async function* readReadings(
  folder: string,
  version: number,
  isWanted: (place: number) => boolean = () => true,
): AsyncGenerator<TargetReading> {
  const lines = createInterface({ input: createReadStream(fileOf(folder, version)) });
  let place = 0;
  for await (const line of lines) if (isWanted(place++)) yield JSON.parse(line) as TargetReading;
}

/** The readings of every kind, made by its resource from simulated answers. */
async function* readAll(dataset: Dataset, nowMs: number): AsyncGenerator<TargetReading> {
  const keys = createKeys(seed, dataset.libraryIds);
  const api = createApi({ dataset, keys, now: () => nowMs, maxPageSize: 1_000 });
  for (const kind of allKinds.filter(({ kind: name }) => measuredKinds.includes(name))) {
    const resource = resources.find((one) => one.kind === kind.kind);
    if (!resource) throw new Error(`no resource reads ${kind.kind}`);
    const getWith = (key: string | undefined) => (path: string) => {
      const { answer } = api.ask({ method: 'GET', url: prefixes[resource.api] + path, key });
      return Promise.resolve(parseJson(writeJson(answer.body), {}));
    };
    const found = isReadAlone(resource)
      ? []
      : await resource.listing.discover(getWith(keys.account), undefined, notes);
    const listed = new Map(Array.from(found, (one) => [idText(one.ids), one.reading]));
    for (const { ids: settings, name = '', library } of kind.targets(dataset)) {
      const ids = Object.fromEntries(
        resource.ids.map(({ label, setting }) => [label, settings[setting] ?? '']),
      );
      const get = getWith(library === undefined ? keys.account : keys.libraries[library]);
      const reading = isReadAlone(resource)
        ? await resource.read(get, ids, notes, { nowMs })
        : listed.get(idText(ids));
      yield toLine(resource.kind, ids, name, nowMs, reading);
    }
  }
}

const notes = { mismatch: () => undefined, unrecognized: () => undefined };
const settings = { latency_unit: 'milliseconds', latency_chart: 'latest' };

let polled = 0;

function toLine(kind: string, ids: Ids, name: string, nowMs: number, reading: unknown): TargetReading {
  polled = (polled + 7) % betweenMs;
  return { key: targetKey(kind, ids), kind, ids, name, atMs: nowMs + polled, reading };
}
