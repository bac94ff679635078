/** One alert of each form, with a scrape every 15 seconds to five minutes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { alerts } from '../monitoring/rules-read.ts';
import { testRules } from './promtool.ts';

const folder = mkdtempSync(join(tmpdir(), 'intervals-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** When a trouble begins and ends, in seconds; a scrape of each interval falls on it. */
const onset = 3600;
const recovery = 2 * 3600;
const end = 3 * 3600;

/** Every second scrape is late by so many seconds: a scrape takes some time. */
const lateness = 5;

/** A value by the time in seconds; undefined: the scraped page lacks it. */
type Values = (seconds: number) => number | undefined;
type Page = Readonly<Record<string, Values>>;

const always: Values = () => 1;
const isTroubled = (seconds: number) => seconds > onset && seconds <= recovery;
const troubled: Values = (seconds) => Number(isTroubled(seconds));
const untroubled: Values = (seconds) => Number(!isTroubled(seconds));

/** A page whose series of these names have another value, or are missing, while something is so. */
function changed(page: Page, series: RegExp, isSo: (seconds: number) => boolean, value?: number): Page {
  return Object.fromEntries(
    Object.entries(page).map(([name, values]) => [
      name,
      series.test(name) ? (seconds: number) => (isSo(seconds) ? value : values(seconds)) : values,
    ]),
  );
}

/** The samples of a series in promtool's notation, one for each `lateness`; a series that a scrape lacks is stale. */
function samples(interval: number, values: Values): string {
  const written = Array<string>(end / lateness + 2).fill('_');
  let wasThere = false;
  for (let scrape = 0; scrape * interval <= end; scrape += 1) {
    const value = values(scrape * interval);
    if (value !== undefined || wasThere)
      written[(scrape * interval) / lateness + (scrape % 2)] = String(value ?? 'stale');
    wasThere = value !== undefined;
  }
  return written.join(' ');
}

const healthy: Page = { up: always, bunnynet_exporter_build_info: always };
const down = changed({ ...healthy, up: untroubled }, /build_info/, isTroubled);

/** Pauses of 60 of each 90 seconds. */
const pausing: Values = (seconds) => (isTroubled(seconds) ? Math.floor(seconds / 90) * 90 + 60 : 0);

const suspended = 'BunnynetApplicationSuspended';
const suspendedPage: Page = {
  ...healthy,
  'bunnynet_application_up{app_id="a"}': always,
  'bunnynet_application_status{app_id="a",status="suspended"}': (seconds) => Number(seconds <= recovery),
  'bunnynet_application_status{app_id="a",status="active"}': (seconds) => Number(seconds > recovery),
};
/** When it has fired for a while, also with a scrape every five minutes. */
const settled = 1800;
const isMissed = (seconds: number) => seconds === settled;

interface Case {
  readonly page: Page;
  readonly alert: string;
  /** What the alert needs before its `for` begins, in seconds: a time without samples, or a share of half an hour. */
  readonly needs?: number;
  /** It fires before and is held: from `settled` to the recovery. Otherwise it begins with the trouble. */
  readonly isHeld?: true;
}

/** Each about an exporter of its own, by its namespace. */
const cases: Readonly<Record<string, Case>> = {
  failing: {
    alert: 'BunnynetApplicationFailing',
    page: {
      ...healthy,
      'bunnynet_application_up{app_id="a"}': always,
      'bunnynet_application_status{app_id="a",status="failing"}': troubled,
      'bunnynet_application_status{app_id="a",status="active"}': untroubled,
    },
  },
  dns: {
    alert: 'BunnynetDnsRecordOffline',
    page: {
      ...healthy,
      'bunnynet_dns_record_up{dns_zone_id="7"}': always,
      'bunnynet_dns_zone_nameservers_detected{dns_zone_id="7"}': always,
      'bunnynet_dns_record_monitor_status{dns_zone_id="7",record_id="11",status="offline"}': troubled,
    },
  },
  keys: {
    alert: 'BunnynetKeyRefused',
    page: { ...healthy, 'bunnynet_exporter_refused_keys{api="core"}': troubled },
  },
  unreadable: {
    alert: 'BunnynetApiUnreadable',
    page: {
      ...healthy,
      'bunnynet_exporter_targets{kind="pull_zone",account="acme"}': always,
      'bunnynet_exporter_api_unreadable{api="core"}': troubled,
    },
  },
  paused: {
    alert: 'BunnynetApiPaused',
    // What is stale for half an hour, of at most 36 minutes.
    needs: 2160,
    page: {
      ...healthy,
      'bunnynet_exporter_targets{kind="pull_zone",account="acme"}': always,
      'bunnynet_exporter_stale_targets{kind="pull_zone",account="acme"}': troubled,
      'bunnynet_exporter_api_paused_until_timestamp_seconds{api="core",credential="acme",account="acme"}':
        pausing,
    },
  },
  down: { alert: 'BunnynetExporterDown', page: down },
  'held, unread': {
    alert: suspended,
    isHeld: true,
    page: changed(changed(suspendedPage, /status/, isTroubled), /application_up/, isTroubled, 0),
  },
  'held, exporter down': {
    alert: suspended,
    isHeld: true,
    page: { ...changed(suspendedPage, /build_info|application/, isTroubled), up: untroubled },
  },
  'held, scrape missed': {
    alert: suspended,
    isHeld: true,
    page: changed(changed(suspendedPage, /build_info|application/, isMissed), /^up$/, isMissed, 0),
  },
};

/** Gone from the configuration of Prometheus: where another exporter is, it is not noticed. */
const absent: Readonly<Record<string, Case>> = {
  absent: {
    alert: 'BunnynetExporterAbsent',
    needs: 600,
    page: changed(
      { ...healthy, 'bunnynet_exporter_discovery_up{kind="pull_zone",account="acme"}': always },
      /./,
      isTroubled,
    ),
  },
};

const minutesOf = (name: string): number => {
  const wait = alerts.find(({ alert }) => alert === name)?.for ?? '';
  return Number(/^(\d+)m$/.exec(wait)?.[1]);
};

/** Asks with promtool whether the alert fires all the time, or at no moment of it. */
function firing(namespace: string, alert: string, from: number, to: number, isFiring: boolean) {
  const matchers = `alertname="${alert}",alertstate="firing",namespace=~"(${namespace})?"`;
  const count = `count(ALERTS{${matchers}}) or vector(0)`;
  return {
    expr: `${isFiring ? 'min' : 'max'}_over_time((${count})[${Math.ceil((to - from) / 60)}m:1m])`,
    eval_time: `${to}s`,
    exp_samples: [{ labels: '{}', value: Number(isFiring) }],
  };
}

function testsOf(interval: number, [namespace, { alert, needs = 0, isHeld }]: readonly [string, Case]) {
  const late = 2 * (interval + lateness) + 120;
  if (isHeld)
    return [
      firing(namespace, alert, settled - 300, recovery, true),
      firing(namespace, alert, recovery + late, end, false),
    ];
  const wait = 60 * minutesOf(alert);
  expect(wait).toBeGreaterThan(0);
  return [
    firing(namespace, alert, 60, onset + wait - 60, false),
    firing(namespace, alert, onset + needs + wait + late, recovery, true),
  ];
}

it.each(
  [15, 60, 180, 240, 300].flatMap((interval) => [
    { interval, some: cases },
    { interval, some: absent },
  ]),
)(
  'with a scrape every $interval seconds alerts fire, two scrapes later at most',
  async ({ interval, some }) => {
    const file = join(folder, `${interval}-${Object.keys(some).length}.test.yml`);
    const rules = ['application', 'dns-zone', 'dns-record', 'exporter'];
    const series = Object.entries(some).flatMap(([namespace, { page }]) =>
      Object.entries(page).map(([name, values]) => {
        const target = `namespace="${namespace}",job="bunnynet",instance="exporter:10057"`;
        const [, family = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(name) ?? [];
        return {
          series: `${family}{${labels && `${labels},`}${target}}`,
          values: samples(interval, values),
        };
      }),
    );
    writeFileSync(
      file,
      stringify({
        rule_files: rules.map((name) => resolve(rulesFolder, `${name}.yml`)),
        evaluation_interval: '1m',
        tests: [
          {
            interval: `${lateness}s`,
            input_series: series,
            promql_expr_test: Object.entries(some).flatMap((each) => testsOf(interval, each)),
          },
        ],
      }),
    );
    await testRules(file);
  },
);
