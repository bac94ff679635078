/** What applications run, by region, pod and container (`/apps/{app}/overview`). */
import { hourMs, minuteMs } from '../days.ts';
import { count, round } from '../entities.ts';
import { applicationApi } from '../forms.ts';
import type { Kind } from '../kind.ts';
import { drift, hash, text, unit } from '../random.ts';
import { type Application, ofApplication, statusOf } from './application.ts';

export interface Applications {
  readonly applications: readonly Application[];
}

export const applicationOverview = {
  kind: 'application_overview',
  ...applicationApi,
  path: '/apps/{app}/overview',
  traits: { number: 'desiredInstances', states: ['status'], charts: ['latencyChart'] },
  answers: ({ applications }) => ofApplication(applications, 'overview', overview),
  section: 'application_overviews',
  targets: ({ applications }) => applications.map(({ id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<unknown, object, Applications>;

const regions = ['DE', 'NY', 'SG', 'LA', 'SYD', 'UK', 'BR', 'JP'] as const;
const containers = ['app', 'sidecar'] as const;

/** The regions that an application runs in. */
export function regionsOf({ seed }: Application): readonly string[] {
  const first = hash(seed, 0x51) % regions.length;
  return count(1 + (hash(seed, 0x52) % 3), (index) => regions[(first + index) % regions.length] as string);
}

/** A pod in its place of a region: every few hours another one takes it. */
export function podOf({ seed }: Application, region: number, place: number, nowMs: number) {
  const turn = Math.floor(nowMs / (6 * hourMs) + unit(seed, region, place));
  const podSeed = hash(seed, region * 64 + place, turn);
  return { podSeed, name: `pod-${text(podSeed, 10, 'abcdef0123456789')}` };
}

function graded(indicator: number) {
  // What is 0 has no grade.
  return { indicator, statusGrade: indicator === 0 ? null : indicator > 80 ? 'couldBeBetter' : 'doingGreat' };
}

function overview(one: Application, nowMs: number): unknown {
  const { seed } = one;
  const status = statusOf(one, nowMs);
  const runs = status !== 'inactive' && status !== 'suspended';
  const names = regionsOf(one);
  const perRegion = 1 + (hash(seed, 0x53) % 3);
  // One that fails has lost an instance in each region.
  const active = runs ? perRegion - Number(status === 'failing') : 0;
  const load = 100 * drift(seed, nowMs, 20 * minuteMs);
  return {
    targetLatency: graded(Math.round(one.latencyMs)),
    currentLatency: graded(round(one.latencyMs * (0.8 + 0.4 * drift(seed, nowMs, 5 * minuteMs)), 2)),
    activeRegions: graded(active > 0 ? names.length : 0),
    activeInstances: graded(active * names.length),
    desiredInstances: perRegion * names.length,
    status,
    averageCPU: graded(round(load, 2)),
    averageRAM: graded(round(20 + load / 2, 2)),
    averageVolumesUsage: graded(round(100 * unit(seed, 0x54), 2)),
    regions: names.map((name, region) => ({
      region: name,
      isRequired: region === 0,
      instances: active,
      status: status === 'suspended' ? 'inactive' : status,
      averageCPU: round(load, 2),
      averageRAM: round(20 + load / 2, 2),
      averageVolumesUsagePercentage: round(100 * unit(seed, 0x54), 2),
      requests: Math.floor(1000 * drift(seed, nowMs, 10 * minuteMs)),
      anycastTraffic: Math.floor(1e7 * drift(seed, nowMs, 10 * minuteMs)),
      pods: count(active, (place) => podIn(one, region, place, nowMs)),
    })),
    averageLatency: one.latencyMs,
    totalVolumeSizeInGb: one.volumeGb,
    monthlyCost: round(one.dollarsPerDay * 30, 2),
    latencyChart: { [new Date(nowMs - (nowMs % hourMs)).toISOString()]: round(one.latencyMs, 2) },
  };
}

function podIn(one: Application, region: number, place: number, nowMs: number) {
  const { podSeed, name } = podOf(one, region, place, nowMs);
  return {
    name,
    status: unit(podSeed, Math.floor(nowMs / minuteMs)) < 0.05 ? 'scheduled' : 'ready',
    lastHeartBeat: `${new Date(nowMs - (nowMs % minuteMs)).toISOString().slice(0, 19)}.0000000Z`,
    outboundTrafficChart: null,
    cpuUsage: round(drift(podSeed, nowMs, 10 * minuteMs), 4),
    ramUsage: round(unit(podSeed, 1), 4),
    containers: containers.map((container, index) => ({
      id: text(hash(podSeed, index), 12, 'abcdef0123456789'),
      name: container,
      cpuUsage: round(drift(podSeed, nowMs, 10 * minuteMs), 4),
      ramUsage: round(unit(podSeed, 2), 4),
      reason: '',
      message: '',
      status: 'ready',
      image: `registry.example/${container}:1`,
      imageDisplay: container,
      numberOfRestarts: index === 1 ? null : hash(podSeed, 3) % 4,
      exitCode: null,
    })),
    message: null,
    volumesUtilizationPercentage: { data: round(100 * unit(podSeed, 4), 2) },
    ephemeralStorageUsageBytes: hash(podSeed, 5) % 1_000_000_000,
    ephemeralStorageLimitBytes: 1_000_000_000,
    ephemeralStorageUsageRatio: (hash(podSeed, 5) % 1_000_000_000) / 1_000_000_000,
    outboundConnectionsLimit: 1000,
    outboundConnectionsRejectedDiff: hash(podSeed, 6, Math.floor(nowMs / minuteMs)) % 3,
  };
}
