/**
 * An outage as a real Prometheus sees it: the exporter reads the simulated API, Prometheus scrapes it and evaluates the rules,
 * Alertmanager notifies. A minute of the rules lasts a second here. `playScene` is the script.
 */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { createDataset, type Dataset, scales } from '../../simulator/dataset.ts';
import { monthSoFar } from '../../simulator/days.ts';
import { everything, sectionOf } from '../../simulator/everything.ts';
import { application, statusOf } from '../../simulator/kinds/application.ts';
import { applicationAutoscaling } from '../../simulator/kinds/application-autoscaling.ts';
import { perRegionOf } from '../../simulator/kinds/application-overview.ts';
import { applicationVolume } from '../../simulator/kinds/application-volume.ts';
import { pullZone } from '../../simulator/kinds/pull-zone.ts';
import { cleanRequestsLimit, cleanRequestsOf } from '../../simulator/kinds/shield-overview.ts';
import { configuration } from '../../simulator/kinds/shield-zone.ts';
import { videoEncoding } from '../../simulator/kinds/video-encoding.ts';
import { videoLibrary } from '../../simulator/kinds/video-library.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import {
  compress,
  type Notification,
  startAlertmanager,
  startPrometheusWithRules,
} from '../stack/alerting.ts';
import { eventually, freePort, start, stopAll } from '../stack/processes.ts';
import { ask, type Series } from '../stack/prometheus.ts';
import { alerts, type Rule, ruleFiles } from './rules-read.ts';

/** For how long one of these alerts is kept at most after its reason has gone, in seconds of the scene, and some more. */
function keptSeconds(some: readonly Rule[]): number {
  const kept = some.map((rule) => ('alert' in rule && rule.keep_firing_for) || '0m');
  return 5 + Math.max(...kept.map((time) => Number.parseInt(compress(time), 10)));
}

const longestKept = keptSeconds(alerts);
const exporterKept = keptSeconds(ruleFiles.get('exporter.yml')?.groups.flatMap(({ rules }) => rules) ?? []);

/** The moments of the script. */
export const momentNames = ['calm', 'troubled', 'down', 'after', 'gone'] as const;
export type Moment = (typeof momentNames)[number];

export interface Scene {
  readonly simulator: Simulator;
  /** Unix time, in seconds, of each moment. */
  readonly moments: Readonly<Record<Moment, number>>;
  /** The families of all pages that were read, and the labels of their series. */
  readonly page: ReadonlyMap<string, ReadonlySet<string>>;
  readonly notifications: readonly Notification[];
  /** Applications without a name in the configuration. */
  readonly nameless: ReadonlySet<string>;
  /** The application that is deleted at `troubled` and back at `after`. */
  readonly deleted: string;
  /** Whether a Shield Zone has had all the requests that its plan includes in the month: late in it, some have. */
  readonly isPlanUsedUp: boolean;
  query(expr: string, at: Moment): Promise<readonly Series[]>;
  /** From the first moment to the last but one, every second. */
  queryRange(expr: string): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/**
 * Without a twelfth application: it has no average latency, so none would leap while it is the failing one. Few endpoints: in more
 * datasets all are calm.
 */
const shape = { ...scales.small, applications: 11, zones: 40, endpoints: 3 };

/** How long before midnight the scene opens. */
const earlyMs = 40 * 60_000;

/** How far the clock jumps: past midnight, when both the day and the failing application change. */
const laterMs = earlyMs + 11 * 60_000;

// What the exporter requests and what the rules judge depend on the hour, so the scene is played within one.
const leftOfHourMs = hourMs - (Date.now() % hourMs);
if (leftOfHourMs < 4 * 60_000) await sleep(leftOfHourMs + 1000);
export const startedAt = new Date();

/** On the second of a month the scene opens on the first: after a single day, no pull zone is close to its limit. */
export const isEarlyInMonth = startedAt.getUTCDate() === 2;

/** Before the last midnight. */
function openingMs(): number {
  return Math.floor(Date.now() / dayMs) * dayMs - earlyMs;
}

/** It depends on the date which dataset makes the alerts fire. */
function chooseSeed(nowMs: number): number {
  const suits = [
    hasZones,
    hasExpiringCertificate,
    hasWaitingVideo,
    hasLeap,
    hasRoom,
    hasApplicationAtMaximum,
    hasCalmEndpoints,
  ];
  if (!isEarlyInMonth) suits.push(hasBusyPullZone);
  for (let seed = 1; seed < 50_000; seed += 1) {
    const dataset = createDataset(seed, shape);
    if (suits.every((has) => has(dataset, nowMs))) return seed;
  }
  throw new Error(`no dataset suits the scene that opens at ${new Date(nowMs).toISOString()}`);
}

/** One zone learns for another day or so, one has its firewall off, one has nearly used up its custom rules. */
function hasZones(dataset: Dataset, nowMs: number): boolean {
  const zones = dataset.zones.map((zone) => configuration(zone, nowMs));
  const leftMs = zones
    .filter(({ learningMode }) => learningMode)
    .map(({ learningModeUntil }) => Date.parse(learningModeUntil ?? '') - Date.now());
  return (
    leftMs.some((ms) => ms > dayMs / 4 && ms < 1.75 * dayMs) &&
    zones.some((zone) => !zone.wafEnabled) &&
    zones.some(
      ({ wafCustomRuleOrder, customWafRulesLimit }) =>
        customWafRulesLimit > 0 && wafCustomRuleOrder.length >= 0.8 * customWafRulesLimit,
    )
  );
}

const asked = {
  ids: [],
  query: new URLSearchParams('page=1&perPage=1000'),
  maxPageSize: 1000,
  keys: { libraries: {}, readOnlyLibraries: {} },
  isRemoved: () => false,
  nameOf: (_id: string, name: string) => name,
};

/** The items of a listing, on one page. */
function itemsOf<Item>(kind: typeof pullZone | typeof videoLibrary, dataset: Dataset, nowMs: number) {
  const pages = kind.pages(dataset)({ ...asked, nowMs });
  return (pages.answer(1).body as { readonly Items: readonly Item[] }).Items;
}

/** The API's answer for each application. */
function ofApplications<Body>(
  kind: typeof application | typeof applicationAutoscaling | typeof applicationVolume,
  dataset: Dataset,
  nowMs: number,
): readonly Body[] {
  const answers = kind.answers(dataset);
  return dataset.applications.map(({ id }) => answers({ ...asked, ids: [id], nowMs })?.body as Body);
}

/** A certificate of a library expires within two weeks, but not today. */
function hasExpiringCertificate(dataset: Dataset, nowMs: number): boolean {
  interface Library {
    readonly AppleFairPlayDrm: { readonly CertificateExpirationDate: string } | null;
  }
  return itemsOf<Library>(videoLibrary, dataset, nowMs).some(({ AppleFairPlayDrm: drm }) => {
    const leftMs = Date.parse(`${drm?.CertificateExpirationDate}Z`) - Date.now();
    return leftMs > dayMs && leftMs < 13 * dayMs;
  });
}

/** A video waits for more than an hour by the real clock. */
function hasWaitingVideo(dataset: Dataset, nowMs: number): boolean {
  interface Page {
    readonly items: readonly { readonly status: number; readonly dateUploaded: string }[];
  }
  return dataset.libraryIds.some((library) => {
    const pages = videoEncoding.pages(dataset)({ ...asked, ids: [library], nowMs });
    return (pages.answer(1).body as Page).items.some(
      ({ status, dateUploaded }) => status < 4 && Date.now() - Date.parse(dateUploaded) > hourMs,
    );
  });
}

/** A pull zone has used most of its bandwidth limit for the month. */
function hasBusyPullZone(dataset: Dataset, nowMs: number): boolean {
  interface Zone {
    readonly MonthlyBandwidthUsed: number;
    readonly MonthlyBandwidthLimit?: number;
  }
  return itemsOf<Zone>(pullZone, dataset, nowMs).some(
    ({ MonthlyBandwidthUsed: used, MonthlyBandwidthLimit: limit = 0 }) => limit > 0 && used > 0.91 * limit,
  );
}

/** For the first four minutes, one application's latency is far above its average, and above 0.25 s. */
function hasLeap(dataset: Dataset, nowMs: number): boolean {
  interface Figures {
    readonly averageLatency: number;
    readonly currentLatency: number;
  }
  const readings = [0, 1, 2, 3, 4].map((minute) =>
    ofApplications<Figures>(application, dataset, nowMs + minute * 60_000),
  );
  return dataset.applications.some((_, index) =>
    readings.every((each) => {
      const { averageLatency = 0, currentLatency = 0 } = each[index] ?? {};
      return currentLatency > Math.max(260, 3.1 * averageLatency);
    }),
  );
}

/** No volume is nearly full: one could be, by a hair. */
function hasRoom(dataset: Dataset, nowMs: number): boolean {
  interface Volumes {
    readonly items?: readonly { readonly size: number; readonly totalUsage: number }[];
  }
  return ofApplications<Volumes>(applicationVolume, dataset, nowMs).every(({ items = [] }) =>
    items.every(({ size, totalUsage }) => totalUsage < 0.89 * size),
  );
}

/** An application that scales has as many instances as it may. */
function hasApplicationAtMaximum(dataset: Dataset, nowMs: number): boolean {
  const ranges = ofApplications<{ readonly min: number; readonly max: number }>(
    applicationAutoscaling,
    dataset,
    nowMs,
  );
  return dataset.applications.some((one, index) => {
    const { min = 0, max = 0 } = ranges[index] ?? {};
    return statusOf(one, nowMs) === 'active' && max === perRegionOf(one) && min < max;
  });
}

/** Each endpoint blocks fewer than 100 requests while the scene is played, so a whole day that is taken for a rise stands out. */
function hasCalmEndpoints({ endpoints }: Dataset): boolean {
  return endpoints.every(({ requestsPerDay }) => requestsPerDay < 300_000);
}

/** All kinds, with some applications without a name. */
function configOf(simulator: Simulator, nameless: ReadonlySet<string>) {
  const whole = everything(simulator, {
    isNamed: true,
    interval: '4s',
    staleAfter: '12s',
    api: () => ({ timeout: '2s', requests_per_second: 1000, max_concurrency: 32, max_retries: 0 }),
  });
  const section = sectionOf(whole.document, application);
  if (section.targets === 'all') throw new Error('the applications are not listed one by one');
  for (const target of section.targets) {
    if (typeof target['id'] === 'string' && nameless.has(target['id'])) delete target['name'];
  }
  return whole;
}

function readPage(text: string, into: Map<string, Set<string>>): void {
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = into.get(name) ?? new Set<string>();
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    into.set(name, known);
  }
}

/** Nothing of these can be read in the trouble before the outage. */
export const unreadableKinds = ['video_storage', 'audit_log', 'pull_zone_safehop'] as const;

/** Plays the scene, which takes some three minutes. Rejects if a moment is not reached, with what was missing. */
export async function playScene(): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'scene-'));
  const opensAtMs = openingMs();
  const seed = chooseSeed(opensAtMs);
  const startedMs = Date.now();
  let jumpMs = 0;
  const now = () => opensAtMs + (Date.now() - startedMs) + jumpMs;
  const simulator = createSimulator({ seed, shape, now });
  await simulator.start();
  let closeReceiver = () => {};
  const stop = async () => {
    await stopAll();
    closeReceiver();
    await simulator.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const nameless = new Set(simulator.applications.slice(2, 4).map(({ id }) => id));
    const ids = simulator.applications.map(({ id }) => id);
    const deleted = ids[5] ?? '';
    const configFile = join(folder, 'exporter.yml');
    const { document, env } = configOf(simulator, nameless);
    const writeConfig = () => writeFile(configFile, stringify(document));
    await writeConfig();

    const exporterAddress = `127.0.0.1:${await freePort()}`;
    const exporter = start(
      process.execPath,
      [
        'dist/bunnynet-exporter.js',
        `--config.file=${configFile}`,
        `--web.listen-address=${exporterAddress}`,
        '--log.level=error',
      ],
      env,
    );
    const { address, deliveries, close } = await startAlertmanager(folder, {
      route: { group_by: ['...'], group_wait: '1s', group_interval: '1s' },
    });
    closeReceiver = close;
    const prometheus = await startPrometheusWithRules(folder, readdirSync(rulesFolder), address, [
      { targets: [exporterAddress] },
    ]);

    const query = (expr: string, at: Moment) =>
      ask(prometheus, 'query', { query: expr, time: String(moments[at]) });
    const page = new Map<string, Set<string>>();
    const moments = {} as Record<Moment, number>;
    /** A scrape that takes a busy machine more than a second is lost; no moment may fall into such a gap. */
    const scraped = 'min_over_time(up[4s]) == 1';
    /** Waits until each of the expressions has a result. */
    const reach = async (moment: Moment, signs: readonly string[], withPage = true) => {
      await eventually(async () => {
        // A scrape that is under way may still be lost, from its start on. It ends within a second.
        const time = Date.now() / 1000 - 1.5;
        for (const sign of signs) {
          const found = await ask(prometheus, 'query', { query: sign, time: String(time) });
          if (found.length === 0) throw new Error(`no sign of "${moment}": ${sign}`);
        }
        moments[moment] = time;
      });
      if (withPage) readPage(await (await fetch(`http://${exporterAddress}/metrics`)).text(), page);
    };
    const firing = (alert: string, more = '') => `ALERTS{alertname="${alert}",alertstate="firing"${more}}`;

    await reach('calm', [
      scraped,
      firing('BunnynetApplicationFailing'),
      firing('BunnynetShieldLearningModeEnding'),
      // Those that wait for an hour.
      firing('BunnynetShieldWafLogOnly'),
      firing('BunnynetShieldCustomRulesNearLimit'),
      // Long enough for alerts from the start itself, and for rules that look back an hour.
      'bunnynet_exporter_build_info offset 30s',
      // Where a busy machine answers polls too late, that is not calm until the alerts about them have ended.
      `absent_over_time(bunnynet_exporter_failing_targets[${exporterKept}s])`,
      `max_over_time(sum(bunnynet_exporter_stale_targets)[${exporterKept}s:1s]) == 0`,
      'bunnynet:shield_api_guardian_blocked_requests:growth1h',
      'bunnynet:shield_api_guardian_rate_limited_requests:growth1h',
      'bunnynet:shield_rate_limit_breaches:growth1h',
    ]);

    const [library = ''] = simulator.libraryIds;
    const unrecognized = ids[2] ?? '';
    // One without alerts: an alert ends if its status can no longer be read.
    const active = await query('bunnynet_application_status{status="active"} == 1', 'calm');
    const misread = active
      .map(({ metric }) => metric['app_id'] ?? '')
      .find((id) => id !== deleted && id !== unrecognized);
    if (misread === undefined) throw new Error('no application is active');
    // The newest fault counts: the key of the library is refused by all of its API, also for the first of these kinds.
    simulator.inject({ type: 'status-400', kind: [...unreadableKinds] });
    simulator.inject({ type: 'status-401', api: 'video', target: `library/${library}` });
    simulator.inject({ type: 'wrong-types', kind: 'application', target: misread });
    simulator.inject({ type: 'unknown-values', kind: 'application', target: unrecognized });
    simulator.inject({
      type: 'status-429-retry-seconds',
      kind: ['api_guardian', 'rate_limit'],
      share: 0.5,
      retryAfterSeconds: 3,
    });
    const bringBack = simulator.remove(deleted);
    await writeFile(configFile, 'applications: { targets: nonsense }\n');
    exporter.kill('SIGHUP');
    await reach('troubled', [
      firing('BunnynetKeyRefused'),
      firing('BunnynetTargetNotFound'),
      firing('BunnynetSchemaDrift', ',field="status"'),
      firing('BunnynetReloadFailed'),
      firing('BunnynetReadingsStale'),
      `count(${firing('BunnynetKindUnreadable')}) == ${unreadableKinds.length}`,
      // The record for the dashboards follows a moment later.
      `count(bunnynet:firing_alerts:since_seconds{alertname="BunnynetKindUnreadable"}) == ${unreadableKinds.length}`,
    ]);

    simulator.clearFaults();
    simulator.inject({ type: 'reset' });
    await reach('down', [
      // All of them at once are one alert, without the name of an API.
      firing('BunnynetApiUnreadable', ',api=""'),
      `absent(${firing('BunnynetApiUnreadable', ',api!=""')})`,
      // For longer than the alert about a kind waits elsewhere.
      'min_over_time((sum(bunnynet_exporter_stale_targets) / sum(bunnynet_exporter_targets))[12s:1s]) == 1',
    ]);

    simulator.clearFaults();
    bringBack();
    jumpMs = laterMs;
    await writeConfig();
    exporter.kill('SIGHUP');
    await reach('after', [
      scraped,
      // Long enough for every rule to see the first readings.
      'max_over_time(sum(bunnynet_exporter_stale_targets)[5s:1s]) == 0',
      // Long enough for every keep_firing_for to run out: what fires has a reason.
      `absent_over_time(bunnynet:application_unread[${longestKept}s])`,
      `absent_over_time(bunnynet:application_overview_unread[${longestKept}s])`,
      'bunnynet_exporter_config_last_reload_successful == 1',
      `absent(${firing('BunnynetApiUnreadable')})`,
      `absent(${firing('BunnynetKindUnreadable')})`,
      `absent(${firing('BunnynetKeyRefused')})`,
      `absent(${firing('BunnynetReadingsStale')})`,
    ]);

    exporter.kill('SIGKILL');
    await reach('gone', [firing('BunnynetExporterDown')], false);
    await eventually(() => {
      const resolved = deliveries.some(({ status }) => status === 'resolved');
      return resolved ? Promise.resolve() : Promise.reject(new Error('Alertmanager resolves nothing'));
    });

    return {
      simulator,
      moments,
      page,
      notifications: deliveries.flatMap(({ alerts }) => alerts),
      nameless,
      deleted,
      isPlanUsedUp: simulator.zones.some(
        (zone) => monthSoFar(opensAtMs, cleanRequestsOf(zone, opensAtMs)) >= cleanRequestsLimit(zone),
      ),
      query,
      queryRange: (expr) =>
        ask(prometheus, 'query_range', {
          query: expr,
          start: String(moments.calm - 10),
          end: String(moments.after),
          step: '1',
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
