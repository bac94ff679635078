/** What applications run, by region, pod and container (`/apps/{app}/overview`). */
import { ofEach } from '../answers.ts';
import { hourMs, minuteMs } from '../days.ts';
import { count, drift, hash, round, text, unit } from '../entities.ts';
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
    regions: names.map((region, order) => ({
      region,
      instances: active,
      status: status === 'suspended' ? 'inactive' : status,
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

function podIn(one: Application, region: number, place: number, nowMs: number) {
  const { podSeed, name } = podOf(one, region, place, nowMs);
  const minute = Math.floor(nowMs / minuteMs);
  return {
    name,
    status: unit(podSeed, minute) < 0.05 ? 'scheduled' : 'ready',
    cpuUsage: round(drift(podSeed, nowMs, 10 * minuteMs), 4),
    ramUsage: round(unit(podSeed, 1), 4),
    containers: ['app', 'sidecar'].map((container, order) => ({
      id: text(hash(podSeed, order), 12),
      name: container,
      status: 'ready',
      image: `registry.example/${container}:1`,
      numberOfRestarts: order === 1 ? null : hash(podSeed, 3) % 4,
    })),
    ephemeralStorageUsageRatio: (hash(podSeed, 5) % 1_000_000_000) / 1_000_000_000,
    outboundConnectionsRejectedDiff: hash(podSeed, 6, minute) % 3,
  };
}
