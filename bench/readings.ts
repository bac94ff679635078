/**
 * What every contender holds: the readings that the exporter makes of the simulated API's answers, at
 * three times a minute apart, written to files so that nobody's memory but the reader's need holds them.
 */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseJson } from '../src/api/body.ts';
import { type Target, targetKey } from '../src/polling/plan.ts';
import { type FamilyRows, rowsOf } from '../src/polling/target-states.ts';
import { firstFamilyOf } from '../src/resources/catalogue.ts';
import { resources } from '../src/resources/index.ts';
import { type Ids, isReadAlone } from '../src/resources/resource.ts';
import {
  applicationSummary,
  guardianMetrics,
  rateLimitMetrics,
  videoStorage,
  zonePage,
} from '../src/simulator/answers.ts';
import { createWorld, type Scale, scales } from '../src/simulator/dataset.ts';
import { writeJson } from '../src/simulator/json.ts';

/** One target after a good poll: a line of a file. */
export interface TargetReading {
  readonly key: string;
  readonly kind: string;
  readonly ids: Ids;
  readonly name: string;
  /** When it was read: Unix time. */
  readonly atMs: number;
  readonly reading: unknown;
}

/** As a target of the exporter's configuration; its values never become stale. */
export function toTarget({ key, kind, ids, name }: Omit<TargetReading, 'reading' | 'atMs'>): Target {
  return {
    key,
    kind,
    ids,
    name,
    credential: 'account',
    intervalMs: 60_000,
    staleAfterMs: Number.POSITIVE_INFINITY,
    pollKey: key,
    settings,
    baseUrl: '',
  };
}

/** All rows of a target, those of its state too. */
export function rowsOfTarget(one: TargetReading): readonly FamilyRows[] {
  const first = firstFamilyOf(one.kind);
  return [
    { family: first, samples: [{ value: 1 }] },
    { family: first + 1, samples: [{ value: one.atMs / 1000 }] },
    ...rowsOf(toTarget(one), one.reading),
  ];
}

export const versions = 3;
const startMs = Date.UTC(2026, 7, 14, 12, 0, 0);
const betweenMs = 60_000;

export function fileOf(folder: string, version: number): string {
  return `${folder}/readings-${version}.jsonl`;
}

/** Writes every version; returns how many targets and series there are. */
export async function writeReadings(
  folder: string,
  scale: Scale,
): Promise<{ targets: number; applications: number; series: number }> {
  const world = createWorld(1, scales[scale]);
  let targets = 0;
  let series = 0;
  for (let version = 0; version < versions; version++) {
    const nowMs = startMs + version * betweenMs;
    const out = createWriteStream(fileOf(folder, version));
    targets = 0;
    series = 0;
    for await (const one of readAll(world, nowMs)) {
      targets++;
      for (const { samples } of rowsOfTarget(one)) series += samples.length;
      if (!out.write(`${JSON.stringify(one)}\n`)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'close');
  }
  return { targets, applications: world.applications.length, series };
}

/**
 * The targets of a version, by their place: those of a kind in the order in which the exporter first polls them,
 * applications before all others. Only what is wanted is parsed.
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

type World = ReturnType<typeof createWorld>;

async function* readAll(world: World, nowMs: number): AsyncGenerator<TargetReading> {
  for (const app of world.applications) {
    yield await readOne(
      'application',
      { app_id: app.id },
      app.name,
      nowMs,
      applicationSummary(app, nowMs).body,
    );
  }
  const page = zonePage(world.zones, 1, world.zones.length, nowMs).body;
  const listing = resources.find((resource) => !isReadAlone(resource));
  if (!listing || isReadAlone(listing)) throw new Error('no resource is a listing');
  const found = await listing.listing.discover(
    (path) => Promise.resolve(path.includes('page=1') ? parsed(page) : { data: [] }),
    undefined,
    notes,
  );
  const zones = new Map(found.map(({ ids, reading }) => [ids['shield_zone_id'], reading]));
  for (const zone of world.zones) {
    const ids = { shield_zone_id: zone.shieldZoneId };
    yield toLine(listing.kind, ids, zone.name, nowMs, zones.get(zone.shieldZoneId));
  }
  for (const endpoint of world.endpoints) {
    const ids = { shield_zone_id: endpoint.shieldZoneId, endpoint_id: endpoint.endpointId };
    yield await readOne('api_guardian', ids, endpoint.name, nowMs, guardianMetrics(endpoint, nowMs).body);
  }
  for (const zone of world.rateLimitZones) {
    const ids = { shield_zone_id: zone.shieldZoneId };
    yield await readOne('rate_limit', ids, zone.name, nowMs, rateLimitMetrics(zone, nowMs).body);
  }
  for (const video of world.videos) {
    const ids = { library_id: video.libraryId, video_id: video.videoId };
    yield await readOne('video_storage', ids, video.name, nowMs, videoStorage(video, nowMs).body);
  }
}

const notes = { mismatch: () => undefined, unrecognized: () => undefined };
const settings = { latency_unit: 'milliseconds', latency_chart: 'latest' };

function parsed(body: unknown): unknown {
  return parseJson(writeJson(body), {});
}

async function readOne(
  kind: string,
  ids: Ids,
  name: string,
  nowMs: number,
  body: unknown,
): Promise<TargetReading> {
  const resource = resources.find((one) => one.kind === kind);
  if (!resource || !isReadAlone(resource)) throw new Error(`no resource reads one ${kind}`);
  return toLine(kind, ids, name, nowMs, await resource.read(() => Promise.resolve(parsed(body)), ids, notes));
}

let polled = 0;

function toLine(kind: string, ids: Ids, name: string, nowMs: number, reading: unknown): TargetReading {
  polled = (polled + 7) % betweenMs;
  return { key: targetKey(kind, ids), kind, ids, name, atMs: nowMs + polled, reading };
}
