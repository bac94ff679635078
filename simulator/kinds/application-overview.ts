/** What applications run, by region, pod and container (`/apps/{app}/overview`). */
import { ofEach } from '../answers.ts';
import { hourMs, minuteMs } from '../days.ts';
import { count, drift, hash, round, secret, text, unit } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { type Application, statusOf } from './application.ts';

export const applicationOverview = {
  kind: 'application_overview',
  section: 'application_overviews',
  ...applicationApi,
  path: '/apps/{app}/overview',
  traits: { number: 'desiredInstances', status: true, charts: true },
  ...ofEach('applications', overview),
} as const satisfies Kind;

const regions = ['DE', 'NY', 'SG', 'LA', 'SYD', 'UK', 'BR', 'JP'] as const;

/** The regions that an application runs in. */
export function regionsOf({ seed }: Application): readonly string[] {
  const first = hash(seed, 0x51) % regions.length;
  return count(1 + (hash(seed, 0x52) % 3), (index) => regions[(first + index) % regions.length] as string);
}

/** How many instances it has in each region. */
export function perRegionOf({ seed }: Application): number {
  return 1 + (hash(seed, 0x53) % 3);
}

/** The pod at one place of a region. Every few hours a new one replaces it. */
export function podOf({ seed }: Application, region: number, place: number, nowMs: number) {
  const turn = Math.floor(nowMs / (6 * hourMs) + unit(seed, region, place));
  const podSeed = hash(seed, region * 64 + place, turn);
  return { podSeed, name: `pod-${text(podSeed, 10)}` };
}

function graded(indicator: number) {
  return { indicator, statusGrade: indicator > 80 ? 'couldBeBetter' : 'doingGreat' };
}

function overview(one: Application, { nowMs }: Request) {
  const { seed } = one;
  const status = statusOf(one, nowMs);
  const runs = status !== 'inactive' && status !== 'suspended';
  const names = regionsOf(one);
  const perRegion = perRegionOf(one);
  // One that fails has lost an instance in each region.
  const active = runs ? perRegion - Number(status === 'failing') : 0;
  const load = 100 * drift(seed, nowMs, 20 * minuteMs);
  const cpu = round(load, 2);
  const memory = round(20 + load / 2, 2);
  const volumes = round(100 * unit(seed, 0x54), 2);
  const busy = drift(seed, nowMs, 10 * minuteMs);
  return ok({
    targetLatency: graded(Math.round(one.latencyMs)),
    currentLatency: graded(round(one.latencyMs * (0.8 + 0.4 * drift(seed, nowMs, 5 * minuteMs)), 2)),
    activeRegions: graded(active > 0 ? names.length : 0),
    activeInstances: graded(active * names.length),
    desiredInstances: perRegion * names.length,
    status,
    averageCPU: graded(cpu),
    averageRAM: graded(memory),
    averageVolumesUsage: graded(volumes),
    limits: limitsOf(one),
    regions: names.map((region, order) => ({
      region,
      instances: active,
      status: status === 'suspended' ? 'inactive' : status,
      isRequired: order === 0,
      averageCPU: cpu,
      averageRAM: memory,
      averageVolumesUsagePercentage: volumes,
      requests: Math.floor(1000 * busy),
      anycastTraffic: Math.floor(1e7 * busy),
      pods: count(active, (place) => podIn(one, order, place, nowMs)),
    })),
    averageLatency: one.latencyMs,
    totalVolumeSizeInGb: one.volumeGb,
    monthlyCost: round(one.dollarsPerDay * 30, 2),
    latencyChart: { [new Date(nowMs - (nowMs % hourMs)).toISOString()]: round(one.latencyMs, 2) },
  });
}

const gibibyte = 2 ** 30;

/** What one instance may use. Some applications run on an older installation, which does not say. */
function limitsOf({ seed, index }: Application) {
  if (index % 6 === 5) return undefined;
  return {
    cpuCores: 1 + (hash(seed, 0x55) % 4),
    ramBytes: (1 + (hash(seed, 0x56) % 4)) * gibibyte,
    outboundBandwidthBytesPerSecond: 125_000_000,
  };
}

/** What a pod uses of its limits, where the installation says so; null while it is being scheduled. */
function usageOf(one: Application, podSeed: number, nowMs: number, isReady: boolean) {
  const limits = limitsOf(one);
  if (!limits) return {};
  const used = (limit: number, figure: number) =>
    isReady ? limit * (0.1 + 0.8 * drift(hash(podSeed, figure), nowMs, 30 * minuteMs)) : null;
  const bytes = used(limits.ramBytes, 8);
  return {
    cpuUsageCores: used(limits.cpuCores, 7),
    ramUsageBytes: bytes === null ? null : Math.floor(bytes),
    outboundBandwidthBytesPerSecond: used(limits.outboundBandwidthBytesPerSecond / 10, 9),
    volumes: [{ id: `vol-${text(podSeed, 8)}`, usageBytes: 1e9 * (1 + unit(podSeed, 10)), sizeBytes: 10e9 }],
  };
}

/** Up to seven fractional digits. */
function heartBeat(nowMs: number, podSeed: number): string {
  const atMs = nowMs - (nowMs % 15_000) - (hash(podSeed, 11) % 15_000);
  return new Date(atMs).toISOString().replace('Z', `${hash(podSeed, 12) % 10_000}Z`);
}

function podIn(one: Application, region: number, place: number, nowMs: number) {
  const { podSeed, name } = podOf(one, region, place, nowMs);
  const minute = Math.floor(nowMs / minuteMs);
  const isReady = unit(podSeed, minute) >= 0.05;
  // Most have never restarted.
  const restarts = Math.max(0, (hash(podSeed, 3) % 8) - 4);
  const scratchBytes = 10e9;
  const scratchShare = (hash(podSeed, 5) % 800_000_000) / 1_000_000_000;
  return {
    name,
    status: isReady ? 'ready' : 'scheduled',
    message: secret('pod-message', podSeed),
    lastHeartBeat: isReady ? heartBeat(nowMs, podSeed) : null,
    cpuUsage: round(drift(podSeed, nowMs, 10 * minuteMs), 4),
    ramUsage: round(unit(podSeed, 1), 4),
    ...usageOf(one, podSeed, nowMs, isReady),
    outboundTrafficChart: null,
    volumesUtilizationPercentage: {},
    containers: ['app', 'sidecar'].map((container, order) => ({
      id: text(hash(podSeed, order), 12),
      name: container,
      status: 'ready',
      image: `registry.example/${container}:${secret('image', podSeed)}`,
      reason: secret('container-reason', podSeed),
      message: secret('container-message', podSeed),
      cpuUsage: 0,
      ramUsage: 0,
      numberOfRestarts: order === 1 ? null : restarts,
      ...(order === 0 && { exitCode: restarts === 0 ? null : [1, 137, 143][restarts - 1] }),
    })),
    ephemeralStorageUsageBytes: Math.floor(scratchBytes * scratchShare),
    ephemeralStorageLimitBytes: scratchBytes,
    ephemeralStorageUsageRatio: scratchShare,
    outboundConnectionsLimit: 500,
    outboundConnectionsRejectedDiff: hash(podSeed, 6, minute) % 3,
  };
}
