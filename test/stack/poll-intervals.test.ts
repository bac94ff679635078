/**
 * The alerts whose windows are as long as the intervals of their kinds, with the default intervals and with those of
 * `interval_factor: 10`: silent while all is as usual, and firing without a gap while something is wrong.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { alerts } from '../monitoring/rules-read.ts';
import { runs } from '../runs.ts';
import { testRules } from './promtool.ts';

const folder = mkdtempSync(join(tmpdir(), 'polls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const dayMinutes = 24 * 60;
/** When the trouble begins, in minutes. What is usual is known after a day. */
const onset = 27 * 60;

/** What the API would answer at a minute. */
type Figure = (minute: number) => number;

const always: Figure = () => 1;
/** When it was read. */
const read: Figure = (minute) => 60 * minute;

/** A figure that grows by so much a minute, and by so much while something is wrong. */
function growing(usual: number, troubled = usual): Figure {
  return (minute) => usual * minute + (troubled - usual) * Math.max(minute - onset, 0);
}

interface Case {
  readonly kind: string;
  /** By names and labels. */
  readonly series: (troubled: boolean) => Readonly<Record<string, Figure>>;
}

/** By the alert. */
const cases: Readonly<Record<string, Case>> = {
  BunnynetPullZoneServerErrors: {
    kind: 'pull_zone_statistics',
    series: (troubled) => ({
      'bunnynet_pull_zone_requests_total{pull_zone_id="1"}': growing(100),
      'bunnynet_pull_zone_responses_total{pull_zone_id="1",code="5xx"}': growing(1, troubled ? 20 : 1),
      'bunnynet_pull_zone_statistics_last_success_timestamp_seconds{pull_zone_id="1"}': read,
    }),
  },
  BunnynetPullZoneHitRatioDrop: {
    kind: 'pull_zone_statistics',
    series: (troubled) => ({
      'bunnynet_pull_zone_requests_total{pull_zone_id="1"}': growing(100),
      'bunnynet_pull_zone_uncached_requests_total{pull_zone_id="1"}': growing(10, troubled ? 60 : 10),
    }),
  },
  BunnynetPullZoneOriginErrorsRising: {
    kind: 'pull_zone_origin_errors',
    series: (troubled) => ({
      'bunnynet_pull_zone_origin_errors_total{pull_zone_id="1"}': growing(5, troubled ? 50 : 5),
      'bunnynet_pull_zone_origin_errors_truncated{pull_zone_id="1"}': () => 0,
      'bunnynet_pull_zone_origin_errors_last_success_timestamp_seconds{pull_zone_id="1"}': read,
    }),
  },
  BunnynetShieldBlockedRequestsRising: {
    kind: 'api_guardian',
    series: (troubled) => ({
      'bunnynet_shield_api_guardian_blocked_requests_total{shield_zone_id="1",endpoint_id="2"}': growing(
        10,
        troubled ? 100 : 10,
      ),
      'bunnynet_shield_api_guardian_latest_day_timestamp_seconds{shield_zone_id="1",endpoint_id="2"}': () =>
        1,
    }),
  },
  BunnynetShieldRateLimitBreachesRising: {
    kind: 'rate_limit',
    series: (troubled) => ({
      'bunnynet_shield_rate_limit_breaches_total{shield_zone_id="1",rate_limit_id="2"}': growing(
        10,
        troubled ? 100 : 10,
      ),
      'bunnynet_shield_rate_limit_latest_day_timestamp_seconds{shield_zone_id="1",rate_limit_id="2"}': () =>
        1,
    }),
  },
  BunnynetLoadBalancerOriginsExhausted: {
    kind: 'load_balancer_statistics',
    series: (troubled) => ({
      'bunnynet_load_balancer_requests_total{load_balancer_id="1"}': growing(100),
      'bunnynet_load_balancer_origins_exhausted_total{load_balancer_id="1"}': growing(
        0.1,
        troubled ? 10 : 0.1,
      ),
      'bunnynet_load_balancer_statistics_last_success_timestamp_seconds{load_balancer_id="1"}': read,
    }),
  },
  BunnynetLoadBalancerOriginFailing: {
    kind: 'load_balancer_statistics',
    series: (troubled) => ({
      'bunnynet_load_balancer_origin_requests_total{load_balancer_id="1",origin_id="2"}': growing(100),
      'bunnynet_load_balancer_origin_failures_total{load_balancer_id="1",origin_id="2",code="502"}': growing(
        1,
        troubled ? 300 : 1,
      ),
      'bunnynet_load_balancer_statistics_last_success_timestamp_seconds{load_balancer_id="1"}': read,
    }),
  },
  BunnynetApplicationContainerRestarting: {
    kind: 'application_overview',
    series: (troubled) => ({
      'bunnynet_application_container_restarts_total{app_id="a",region="DE",pod_name="p",container_name="c"}':
        growing(0.0005, troubled ? 0.1 : 0.0005),
    }),
  },
  BunnynetVideoEncodingSlow: {
    kind: 'video_encoding',
    series: (troubled) => ({
      // Each video takes 40 minutes, or for ever.
      'bunnynet_video_encoding_oldest_unfinished_timestamp_seconds{library_id="1"}': (minute) =>
        60 * (troubled && minute > onset ? onset : Math.max(minute - 40, 0)),
      'bunnynet_video_encoding_last_success_timestamp_seconds{library_id="1"}': (minute) => 60 * minute,
    }),
  },
  BunnynetEdgeScriptCostLeap: {
    kind: 'edge_script_usage',
    series: (troubled) => ({
      'bunnynet_edge_script_usage_monthly_cost_dollars{script_id="1"}': growing(0.01, troubled ? 0.2 : 0.01),
    }),
  },
  BunnynetAccountBalanceRunningOut: {
    kind: 'billing',
    series: (troubled) => ({
      // The month is January 1970: 29 days are left of it when the trouble begins.
      'bunnynet_billing_monthly_charges_dollars{account="acme"}': growing(0.01, troubled ? 0.1 : 0.01),
      'bunnynet_billing_balance_dollars{account="acme"}': () => 600,
    }),
  },
};

/** How long something must have been wrong, in minutes; a leap also needs the growth of the day before. Default: 10. */
const slow: Readonly<Record<string, number>> = {
  BunnynetPullZoneHitRatioDrop: 60,
  BunnynetApplicationContainerRestarting: 30,
  BunnynetVideoEncodingSlow: 60,
  BunnynetEdgeScriptCostLeap: 24 * 60,
  BunnynetAccountBalanceRunningOut: 12 * 60,
};

function intervalMinutes(kind: string, factor: number): number {
  const { defaultIntervalSeconds } = resources.find((each) => each.kind === kind) ?? {};
  if (defaultIntervalSeconds === undefined) throw new Error(`there is no kind ${kind}`);
  return Math.min((defaultIntervalSeconds * factor) / 60, dayMinutes);
}

/** A series that is scraped each minute, of a figure that is read once in each interval. */
function scraped(figure: Figure, interval: number, end: number): string {
  const values: string[] = [];
  for (let minute = 0; minute <= end; minute += interval)
    values.push(`${figure(minute)}x${Math.min(interval, end - minute + 1) - 1}`);
  return values.join(' ');
}

const minutesOf = (text = '0m') => Number.parseInt(text, 10) * (text.endsWith('h') ? 60 : 1);

// The tests of each alert have the default intervals, so by day those alone are tried that are ten times as long.
const factors = runs([10], [1, 10]).flatMap((factor) =>
  Object.keys(cases).map((alert) => ({ factor, alert })),
);

it.each(factors)(
  'with a factor of $factor, $alert does not fire falsely, and fires for as long as there is a reason',
  async ({ factor, alert }) => {
    const { kind, series } = cases[alert] as Case;
    const interval = intervalMinutes(kind, factor);
    const waits = alerts.find((each) => each.alert === alert)?.for;
    const firesFrom = onset + 2 * interval + minutesOf(waits) + (slow[alert] ?? 10);
    // Long enough for a gap between two readings to show.
    const end = firesFrom + Math.max(3 * 60, 2 * interval);
    const input: { readonly series: string; readonly values: string }[] = [];
    const asked: object[] = [];
    for (const namespace of ['usual', 'troubled']) {
      const exporter = `namespace="${namespace}",job="bunnynet",instance="exporter:10057"`;
      const own: Record<string, Figure> = { up: always, bunnynet_exporter_build_info: always };
      for (const [name, figure] of Object.entries({ ...own, ...series(namespace === 'troubled') }))
        input.push({
          series: name.includes('{') ? name.replace('{', `{${exporter},`) : `${name}{${exporter}}`,
          values: scraped(figure, interval, end),
        });
      const firing = `ALERTS{namespace="${namespace}",alertname="${alert}",alertstate="firing"}`;
      for (let minute = 0; minute < end; minute += 10) {
        const isFiring = namespace === 'troubled' && minute >= firesFrom;
        if (isFiring || namespace === 'usual' || minute <= onset)
          asked.push({
            expr: `count(${firing}) or vector(0)`,
            eval_time: `${minute}m`,
            exp_samples: [{ labels: '{}', value: Number(isFiring) }],
          });
      }
    }
    const file = join(folder, `${alert}-${factor}.test.yml`);
    writeFileSync(
      file,
      stringify({
        rule_files: [resolve(rulesFolder, `${kind.replaceAll('_', '-')}.yml`)],
        evaluation_interval: '2m',
        tests: [{ interval: '1m', input_series: input, promql_expr_test: asked }],
      }),
    );
    await testRules(file);
  },
);
