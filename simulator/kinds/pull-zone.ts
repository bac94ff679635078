/** Pull zones and their paged listing, which also has the keys that sign their addresses. */
import { corePaging, listed } from '../answers.ts';
import { dayMs, dayOf } from '../days.ts';
import { count, entities, guid, hash, magnitude, nth, numberedId, secret, text, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';
import type { Applications } from './application.ts';
import type { LoadBalancers } from './load-balancer.ts';
import type { Zones } from './shield-zone.ts';
import type { StorageZones } from './storage-zone.ts';
import type { Videos } from './video-storage.ts';

export type PullZone = ReturnType<typeof zonesOf>[number];

type Needs = Zones & Videos & StorageZones & Applications & LoadBalancers;

export const pullZone = {
  kind: 'pull_zone',
  section: 'pull_zones',
  create: (seed, _sizes, dataset: Needs) => ({ pullZones: zonesOf(seed, dataset) }),
  ...coreApi,
  path: '/pullzone',
  traits: {
    field: 'Items',
    ids: ['Id'],
    name: 'Name',
    number: 'MonthlyBandwidthUsed',
    codes: ['Type', 'OriginType'],
  },
  ...listed('pullZones', corePaging, itemOf),
} as const satisfies Kind;

/** The pull zone that serves the videos of a library. */
export function pullZoneOfLibrary(datasetSeed: number, index: number): string {
  return numberedId(datasetSeed, 3_904_551 + 17 * index);
}

/** One pull zone for each Shield Zone, and one for each video library. */
function zonesOf(datasetSeed: number, dataset: Needs) {
  const { zones, libraryIds } = dataset;
  return entities(datasetSeed, 7, zones.length + libraryIds.length, (seed, index) => ({
    ...(index < zones.length
      ? ofShield(index, dataset)
      : ofLibrary(index - zones.length, datasetSeed, dataset)),
    requestsPerDay: magnitude(3_000, 40_000_000, unit(seed, 1)),
    hasOptimizer: index % 3 === 0,
    hasOriginShield: index % 4 === 0,
    hasSafeHop: index % 5 === 0,
  }));
}

/** Where the files of a pull zone come from, as the listing has it. */
interface Origin {
  readonly OriginType: number;
  readonly [id: string]: unknown;
}

function ofShield(index: number, { zones, storageZones, applications, loadBalancers }: Needs) {
  const { pullZoneId: id, name } = zones[index] as Zones['zones'][number];
  const storageZone = storageZones[index];
  const application = applications[index];
  const scripted = index % 5 === 4 ? { OriginType: 4, EdgeScriptId: 64_201 + index } : { OriginType: 0 };
  let origin: Origin = scripted;
  if (index % 5 === 1 && storageZone) {
    origin = { OriginType: 2, StorageZoneId: jsonInteger(storageZone.id) };
  } else if (index % 5 === 2 && application) {
    origin = { OriginType: 5, MagicContainersAppId: application.id };
  }
  // Two of five have one of the load balancers: without a pull zone, one has no traffic.
  const place = { 3: 2 * Math.floor(index / 5), 0: 2 * Math.floor(index / 5) + 1 }[index % 5];
  const balancer = place === undefined ? undefined : loadBalancers.at(-1 - (place % loadBalancers.length));
  if (balancer) origin = { OriginType: 3 };
  return { id, name, origin, loadBalancer: balancer?.id };
}

function ofLibrary(index: number, datasetSeed: number, { libraryIds }: Needs) {
  const [library = ''] = libraryIds.slice(index);
  const origin: Origin = { OriginType: 2, VideoLibraryId: jsonInteger(library) };
  const name = `vz-${text(hash(datasetSeed, 8, index), 8)}-${library.slice(-3)}`;
  return { id: pullZoneOfLibrary(datasetSeed, index), name, origin, loadBalancer: undefined };
}

const terabyte = 1_000_000_000_000;
export const bytesPerRequest = 42_000;

function itemOf(zone: PullZone, { nowMs, nameOf, isRemoved }: Request) {
  const { seed, index, id, name, origin, loadBalancer } = zone;
  const isBalanced = loadBalancer !== undefined && !isRemoved(loadBalancer);
  const dayOfMonth = new Date(nowMs).getUTCDate() - 1 + (nowMs / dayMs - dayOf(nowMs));
  const used = Math.floor(zone.requestsPerDay * dayOfMonth * bytesPerRequest);
  const certificate = { CertificateKeyType: 0, Certificate: null, CertificateKey: null };
  const hostnames = [
    // Some system hostnames have no certificate of their own: bunny.net's covers them.
    {
      Value: `${name}.b-cdn.net`,
      IsSystemHostname: true,
      HasCertificate: index % 3 !== 1,
      CertificateProvisionType: 0,
      ...certificate,
    },
    ...count(hash(seed, 0x81) % 4, (order) => ({
      Value: `${nth(['cdn', 'static', 'img'], order)}.${name}.example`,
      IsSystemHostname: false,
      ForceSSL: order === 0,
      HasCertificate: order < 2 - Number(index % 6 === 3),
      CertificateProvisionType: 1 + (hash(seed, 0x86, order) % 4),
      ...certificate,
      CertificateKey: secret(`certificate-${id}`, hash(seed, 0x87, order)),
    })),
  ];
  const edgeRules = count(hash(seed, 0x88) % 4, (order) => ({
    Guid: guid(hash(seed, 0x88, order)),
    ActionType: 5,
    ActionParameter1: 'Authorization',
    ActionParameter2: secret(`edge-rule-${id}`, hash(seed, 0x89, order)),
    Triggers: [{ Type: 0, PatternMatches: [secret(`edge-trigger-${id}`, hash(seed, 0x8a, order))] }],
    Enabled: order !== 1,
  }));
  // A few say nothing of their hostnames, and leave the limit out.
  const hasGaps = index % 20 === 13;
  const limit = index % 6 === 2 ? 2 * terabyte : 0;
  return {
    Id: jsonInteger(id),
    Name: nameOf(id, name),
    OriginUrl: origin.OriginType === 0 ? `https://origin.example/${id}` : null,
    Enabled: index % 16 !== 15,
    Suspended: index % 40 === 39,
    Hostnames: hasGaps ? null : hostnames,
    StorageZoneId: index % 2 === 0 ? -1 : 0,
    EdgeScriptId: index % 2 === 0 ? -1 : 0,
    MagicContainersAppId: null,
    VideoLibraryId: 0,
    LoadBalancerId: isBalanced ? jsonInteger(loadBalancer) : null,
    ...origin,
    ZoneSecurityKey: secret(`zone-security-${id}`, hash(seed, 0x82)),
    MonthlyBandwidthLimit: hasGaps ? undefined : limit,
    MonthlyBandwidthUsed: used,
    MonthlyCharges: Math.round((used / terabyte) * 1_000) / 100,
    Type: index % 7 === 6 ? 1 : 0,
    EnableOriginShield: zone.hasOriginShield,
    OptimizerEnabled: zone.hasOptimizer,
    EnableSafeHop: zone.hasSafeHop,
    EdgeRules: index % 9 === 8 ? null : edgeRules,
    EnableLogging: index % 4 !== 3,
    LogForwardingEnabled: index % 10 === 4,
    LogForwardingHostname: index % 10 === 4 ? 'logs.example' : null,
    LogForwardingToken: secret(`log-forwarding-${id}`, hash(seed, 0x8b)),
    AWSSigningKey: secret(`aws-signing-${id}`, hash(seed, 0x8c)),
    AWSSigningSecret: secret(`aws-signing-secret-${id}`, hash(seed, 0x8d)),
    VerifyOriginSSL: index % 3 !== 2,
    EnableAutoSSL: index % 4 !== 2,
    DisableLetsEncrypt: index % 9 === 5,
    EnableTLS1: index % 8 === 7,
    TlsSecurityLevel: index % 3,
    OriginShieldEnableConcurrencyLimit: zone.hasOriginShield,
    OriginShieldMaxConcurrentRequests: 200,
    OriginShieldMaxQueuedRequests: 5_000,
    OriginShieldQueueMaxWaitTime: 30,
  };
}
