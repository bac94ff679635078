/** Pull zones and their paged listing, which also has the keys that sign their addresses. */
import { dayOf } from '../days.ts';
import { count, hexadecimal, nth, streams, without } from '../entities.ts';
import { coreApi, ofEach } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import { type Kind, ok, type Request, type Target } from '../kind.ts';
import { corePaging, listing } from '../paging.ts';
import { hash, magnitude, text, unit } from '../random.ts';
import type { Application } from './application.ts';
import type { Zones } from './shield-zone.ts';
import type { StorageZones } from './storage-zone.ts';
import type { Libraries } from './video-storage.ts';

export type PullZone = ReturnType<typeof createPullZone>;

/** Where its files come from, as the listing has it. */
interface Origin {
  readonly OriginType: number;
  readonly [id: string]: unknown;
}

export interface PullZones {
  readonly pullZones: readonly PullZone[];
}

type Needs = Zones & Libraries & StorageZones & { readonly applications: readonly Application[] };

/** One pull zone for each Shield Zone, and one for each video library. */
export const pullZone = {
  kind: 'pull_zone',
  create: (seed, _sizes, { zones, libraryIds, storageZones, applications }) => ({
    pullZones: [
      ...zones.map(({ pullZoneId, name }, index) => ({
        pullZoneId,
        name,
        origin: originOf(index, storageZones[index]?.storageZoneId, applications[index]?.id),
      })),
      ...libraryIds.map((libraryId, index) => ({
        pullZoneId: pullZoneOfLibrary(index),
        name: `vz-${text(hash(seed, streams.library, index), 8, hexadecimal)}-${libraryId.slice(-3)}`,
        origin: { OriginType: 2, VideoLibraryId: jsonInteger(libraryId) },
      })),
    ].map((one, index) => createPullZone(seed, index, one)),
  }),
  ...coreApi,
  path: '/pullzone',
  traits: {
    field: 'Items',
    list: true,
    ids: ['Id'],
    names: ['Name'],
    number: 'MonthlyBandwidthUsed',
    codes: ['Type', 'OriginType'],
  },
  pages: ({ pullZones }) => listing(corePaging, pullZones, idOf, listed),
  section: 'pull_zones',
  targets: ({ pullZones }) => pullZones.map(targetOf),
} as const satisfies Kind<unknown, PullZones, Needs>;

const idOf = ({ pullZoneId }: PullZone) => pullZoneId;

/** A pull zone as a target of every kind that is about one. */
export function targetOf({ pullZoneId: id, name }: PullZone): Target {
  return { ids: { id }, name };
}

/** Answers for the pull zone that is the first id of a request. */
export function ofPullZone(
  pullZones: readonly PullZone[],
  answer: (zone: PullZone, request: Request) => unknown,
) {
  return ofEach(pullZones, idOf, (zone, request) => ok(answer(zone, request)));
}

/** The pull zone that serves the videos of a library. */
export function pullZoneOfLibrary(index: number): string {
  return String(3_904_551 + 17 * index);
}

function originOf(index: number, storageZoneId?: string, applicationId?: string): Origin {
  if (index % 5 === 1 && storageZoneId !== undefined) {
    return { OriginType: 2, StorageZoneId: jsonInteger(storageZoneId) };
  }
  if (index % 5 === 2 && applicationId !== undefined) {
    return { OriginType: 5, MagicContainersAppId: applicationId };
  }
  return index % 5 === 4 ? { OriginType: 4, EdgeScriptId: 64_201 + index } : { OriginType: 0 };
}

function createPullZone(
  datasetSeed: number,
  index: number,
  about: { readonly pullZoneId: string; readonly name: string; readonly origin: Origin },
) {
  const seed = hash(datasetSeed, streams.pullZone, index);
  return {
    ...about,
    seed,
    index,
    requestsPerDay: magnitude(3_000, 40_000_000, unit(seed, 1)),
    hasOptimizer: index % 3 === 0,
    hasOriginShield: index % 4 === 0,
    hasSafeHop: index % 5 === 0,
  };
}

const terabyte = 1_000_000_000_000;

function listed(zone: PullZone, { nowMs, nameOf }: Request): unknown {
  const { seed, index, pullZoneId, name, origin, requestsPerDay } = zone;
  const dayOfMonth = new Date(nowMs).getUTCDate() - 1 + (nowMs / 86_400_000 - dayOf(nowMs));
  const used = Math.floor(requestsPerDay * dayOfMonth * 42_000);
  const right = {
    Id: jsonInteger(pullZoneId),
    Name: nameOf(pullZoneId, name),
    OriginUrl: origin.OriginType === 0 ? `https://origin.example/${pullZoneId}` : null,
    Enabled: index % 16 !== 15,
    Suspended: index % 40 === 39,
    Hostnames: [
      // Some system hostnames have no certificate of their own: bunny.net's covers them.
      hostname(seed, 0, `${name}.b-cdn.net`, index % 3 !== 1),
      ...count(hash(seed, 0x81) % 4, (order) =>
        hostname(seed, order + 1, `${nth(['cdn', 'static', 'img'], order)}.${name}.example`, order < 2),
      ),
    ],
    StorageZoneId: index % 2 === 0 ? -1 : 0,
    EdgeScriptId: index % 2 === 0 ? -1 : 0,
    MagicContainersAppId: null,
    VideoLibraryId: 0,
    ...origin,
    ZoneSecurityKey: `sim-zone-security-${pullZoneId}-key-${text(hash(seed, 0x82), 32, hexadecimal)}`,
    MonthlyBandwidthLimit: index % 6 === 2 ? 2 * terabyte : 0,
    MonthlyBandwidthUsed: used,
    MonthlyCharges: Math.round((used / terabyte) * 1_000) / 100,
    Type: index % 7 === 6 ? 1 : 0,
    EnableOriginShield: zone.hasOriginShield,
    CnameDomain: 'b-cdn.net',
    OptimizerEnabled: zone.hasOptimizer,
    EnableSafeHop: zone.hasSafeHop,
  };
  // A few say nothing of their hostnames, and leave the limit out.
  if (index % 20 !== 13) return right;
  return { ...without(right, 'MonthlyBandwidthLimit'), Hostnames: null };
}

function hostname(seed: number, order: number, Value: string, HasCertificate: boolean) {
  return {
    Id: 700_000 + (hash(seed, order, 0x83) % 100_000),
    Value,
    ForceSSL: true,
    IsSystemHostname: order === 0,
    HasCertificate,
  };
}
