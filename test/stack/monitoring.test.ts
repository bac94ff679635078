import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { exporterRules } from '../../monitoring/src/exporter-rules.ts';
import { alertsIn } from '../../monitoring/src/rules.ts';
import {
  isNothing,
  queriesOf,
  saysNothing,
  substitute,
  variableQueries,
} from '../monitoring/dashboard-queries.ts';
import { alerts, nameOf, records, rules } from '../monitoring/rules-read.ts';
import {
  isEarlyInMonth,
  type Moment,
  playScene,
  type Scene,
  startedAt,
  unreadableKinds,
} from '../monitoring/scene.ts';
import { compress } from './alerting.ts';

const dashboards = [...buildDashboards().values()];
const panelQueries = dashboards
  .flatMap((dashboard) => queriesOf(dashboard))
  .filter((query) => !saysNothing(query));

let scene: Scene;

beforeAll(async () => {
  scene = await playScene();
}, 1_800_000);
afterAll(async () => {
  await scene?.stop();
});

/** The query as Grafana sends it with "All" selected. */
function asked(expr: string): string {
  const rangeSeconds = Math.ceil(scene.moments.after - scene.moments.calm) + 10;
  return substitute(expr, { rangeSeconds, stepSeconds: 1 });
}

async function namesIn(expr: string, label: string, at: Moment): Promise<ReadonlySet<string | undefined>> {
  return new Set((await scene.query(expr, at)).map(({ metric }) => metric[label]));
}

interface Quiet {
  /** Undefined: never. */
  readonly at?: Moment;
  /** For so many hours after midnight the exporter requests yesterday too, which the simulated API has. */
  readonly lateHours?: number;
  readonly because: string;
}

const dayBehind: Quiet = {
  at: 'after',
  lateHours: 1,
  because:
    'the exporter requests the day of its own clock, which the simulated API does not reach before midnight',
};

/** The hours of yesterday are shown for longer, as long as there are none of today. */
const hoursBehind: Quiet = { ...dayBehind, lateHours: 4 };

const unreadableOnly: Quiet = {
  at: 'troubled',
  because: 'nothing but a kind that cannot be read alerts there',
};

/** Panels and queries of single numbers and tables without a result while all is calm. */
const quietPanels: Readonly<Record<string, Quiet>> = {
  'bunny.net / Exporter: Failing targets by time since the last reading (top 50)': {
    at: 'troubled',
    because: 'nothing fails while all is calm',
  },
  'bunny.net / Exporter: Firing alerts': unreadableOnly,
  'bunny.net / Video storage: Firing alerts': unreadableOnly,
  'bunny.net / Account: Firing alerts': unreadableOnly,
  ...(isEarlyInMonth && { 'bunny.net / CDN: Firing alerts': unreadableOnly }),
  'bunny.net / CDN: Pull zones (E)': hoursBehind,
  'bunny.net / CDN: Pull zones (F)': hoursBehind,
  'bunny.net / CDN: Pull zones (G)': hoursBehind,
  'bunny.net / CDN: Pull zones (H)': hoursBehind,
  'bunny.net / CDN: Latest day: pull zones': hoursBehind,
  'bunny.net / CDN: Latest hour: pull zones (A)': hoursBehind,
  'bunny.net / Storage, DNS and databases: Queries today': dayBehind,
  'bunny.net / Storage, DNS and databases: Latest day: DNS': dayBehind,
  'bunny.net / Stream: Views today': dayBehind,
  'bunny.net / Stream: Latest day: views': dayBehind,
  'bunny.net / CDN: Causes in the past hour (top 10)': dayBehind,
  'bunny.net / CDN: Pull zones with a truncated error log': {
    because: 'the simulated API gives all errors of the first minutes of a day',
  },
  'bunny.net / CDN: Failures by origin in the past hour (top 10)': hoursBehind,
  'bunny.net / CDN: Latency by origin (top 10)': hoursBehind,
  'bunny.net / Account: Changes in the past hour (top 10)': dayBehind,
  'bunny.net / Account: Latest change': dayBehind,
  'bunny.net / Account: Applications (C)': { because: 'the simulated API limits no regions' },
};

const hour = startedAt.getUTCHours();

/**
 * Whether the newest hour is one that is judged: no older than four hours. The exporter requests the day of its own clock, of which
 * the simulated API, a little past midnight, has the first hour alone.
 */
const hasNewHour = hour < 4;

/** Lines that the scene has nothing for. */
const emptyLines: readonly string[] = [
  // It needs a day of history.
  'bunny.net / Account: Charges this month and forecast (B)',
  // No state is written.
  'bunny.net / Exporter: State: time since the last write (A)',
  'bunny.net / Exporter: State: time since the last write (B)',
  ...(hasNewHour ? [] : ['bunny.net / CDN: Origin response time (top 15) (A)']),
];

describe('the panels', () => {
  it.each(panelQueries)(
    '$place ($refId) have a result when they should',
    async ({ place, refId, expr, instant }) => {
      const query = asked(expr);
      if (!instant) {
        const isEmpty = emptyLines.includes(`${place} (${refId})`);
        expect((await scene.queryRange(query)).length === 0).toBe(isEmpty);
        return;
      }
      const quiet = quietPanels[place] ?? quietPanels[`${place} (${refId})`];
      const expectNothing = async (at: Moment, isNothingThere: boolean) => {
        const found = await scene.query(query, at);
        expect(found.every(isNothing), JSON.stringify(found)).toBe(isNothingThere);
      };
      if (hour >= (quiet?.lateHours ?? 0)) await expectNothing('calm', quiet !== undefined);
      if (quiet) await expectNothing(quiet.at ?? 'after', quiet.at === undefined);
    },
  );

  it.each(dashboards.flatMap((dashboard) => variableQueries(dashboard)))(
    'have values for the variable $name',
    async ({ expr }) => {
      expect(await scene.query(asked(expr), 'calm')).not.toEqual([]);
    },
  );

  it('include every panel that is listed as quiet or empty', () => {
    const places = panelQueries.flatMap(({ place, refId }) => [place, `${place} (${refId})`]);
    expect(places).toEqual(expect.arrayContaining([...Object.keys(quietPanels), ...emptyLines]));
  });

  it('offer each application once, by its name or else by its id', async () => {
    const variable = dashboards
      .flatMap((each) => variableQueries(each))
      .find(({ name }) => name === 'application');
    const offered = await scene.query(asked(variable?.expr ?? ''), 'calm');
    const expected = scene.simulator.applications.map(
      ({ id, name }) => `${id} ${scene.nameless.has(id) ? id : name}`,
    );
    const found = offered.map(({ metric }) => `${metric['app_id']} ${metric['display']}`);
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it('draw one band per application through the whole outage, grey while it cannot be read', async () => {
    const timeline = panelQueries.find(({ place }) =>
      place.startsWith('bunny.net / Overview: Application status'),
    );
    const bands = await scene.queryRange(asked(timeline?.expr ?? ''));
    expect(bands).toHaveLength(scene.simulator.applications.length);
    for (const { values } of bands) {
      const ago = (time: number) => scene.moments.down - time;
      const during = values.filter(([time]) => ago(time) >= 0 && ago(time) < 3);
      expect(new Set(during.map(([, value]) => value))).toEqual(new Set(['7']));
      expect(values.some(([, value]) => value !== '7')).toBe(true);
    }
  });

  it('draw the worst application first', async () => {
    const timelines = panelQueries.filter(({ place }) => place.includes('tatus (15 worst)'));
    expect(timelines).toHaveLength(2);
    for (const { expr } of timelines) {
      const bands = await scene.queryRange(asked(expr));
      const last = bands.map(({ values }) => Number(values.at(-1)?.[1]));
      expect(new Set(last).size).toBeGreaterThan(2);
      expect(last).toEqual(last.toSorted((a, b) => b - a));
    }
  });

  it('show only what is selected', async () => {
    const [chosen] = scene.simulator.applications;
    const latency = panelQueries.find(
      ({ place }) => place === 'bunny.net / Application: Current latency (top 20)',
    );
    const query = substitute(latency?.expr ?? '', {
      rangeSeconds: 60,
      stepSeconds: 1,
      variables: { application: chosen?.id ?? '' },
    });
    expect((await scene.queryRange(query)).map(({ metric }) => metric)).toEqual([
      { app_id: chosen?.id, display: chosen?.name },
    ]);
  });
});

interface Never {
  readonly never: string;
}

interface Perhaps {
  /** Why it depends on the machine; the tests of the rules show when. */
  readonly perhaps: string;
}

/** The moment when a rule's expression has a result, or why it has none in this scene; of all others: while all is calm. */
const rulesAt: Readonly<Record<string, Moment | Never | Perhaps>> = {
  ...Object.fromEntries(
    records.flatMap(({ record }) => (record.endsWith('_unread') ? [[record, 'down' as const]] : [])),
  ),
  'bunnynet:shield_zone_learning_mode_until:last': 'down',
  BunnynetApiUnreadable: 'down',
  BunnynetKindUnreadable: 'troubled',
  BunnynetAccountUnreadable: { never: 'where nothing of any API is read, BunnynetApiUnreadable says it' },
  BunnynetDiscoveryFailing: 'down',
  'bunnynet:pull_zone_cached_requests:ratio1h': 'after',
  'bunnynet:pull_zone_origin_response_time_latest_hour_seconds:max': hasNewHour
    ? 'after'
    : { never: 'the newest hour of the simulated API is older than what is judged' },
  'bunnynet:pull_zone_newest_hour_timestamp_seconds:account': 'after',
  'bunnynet:pull_zone_requests:growth1h': 'after',
  'bunnynet:pull_zone_server_errors:ratio30m': 'after',
  'bunnynet:failing_targets:unread_seconds': 'troubled',
  BunnynetReadingsStale: 'troubled',
  BunnynetKeyRefused: 'troubled',
  BunnynetTargetNotFound: 'troubled',
  BunnynetReloadFailed: 'troubled',
  BunnynetSchemaDrift: 'troubled',
  BunnynetExporterDown: 'gone',
  ...Object.fromEntries(
    [
      'bunnynet:application_monthly_cost_dollars:growth1d',
      'bunnynet:billing_day_cost_dollars:last',
      'bunnynet:billing_remaining_charges_dollars:forecast',
      'bunnynet:edge_script_usage_monthly_cost_dollars:growth1d',
      'bunnynet:pull_zone_requests:usual1h',
      'BunnynetDnsZoneNameserversNotDetected',
      'BunnynetPullZoneDisabled',
      'BunnynetPullZoneTrafficStopped',
      'BunnynetShieldWafDisabled',
      'BunnynetShieldWafEventsRising',
      'BunnynetStorageZoneReplicationSlow',
    ].map((name) => [name, { never: 'it needs a day of history, or a change within it' }]),
  ),
  ...(isEarlyInMonth && {
    BunnynetPullZoneBandwidthLimitNear: { never: 'a single day of the month has passed' },
  }),
  BunnynetApplicationMemoryNearLimit: { never: 'no simulated instance is near its limit for long' },
  BunnynetApplicationContainerRestarting: { never: 'the simulated containers restart rarely' },
  BunnynetLoadBalancerOriginFailing: { never: 'the simulated origins fail rarely' },
  BunnynetApplicationCostLeap: { never: 'it needs two days of history' },
  BunnynetApplicationVolumeGrowth: { never: 'it needs a day of history' },
  BunnynetApplicationVolumeNearlyFull: { never: 'the simulated volumes have room' },
  BunnynetShieldApiGuardianDisabled: { never: 'API Guardian of the simulated zones is never switched off' },
  BunnynetShieldApiGuardianLogOnly: { never: 'the simulated zones keep their mode' },
  BunnynetShieldRateLimitRulesNearLimit: { never: 'the simulated zones have few of the rate limits allowed' },
  BunnynetShieldBlockedRequestsRising: { never: 'it needs a day of history' },
  BunnynetShieldRateLimitedRequestsRising: { never: 'it needs a day of history' },
  BunnynetShieldRateLimitBreachesRising: { never: 'it needs a day of history' },
  BunnynetVideoStorageGrowth: { never: 'it needs a day of history' },
  BunnynetPullZoneServerErrors: { never: 'few of the simulated responses are server errors' },
  BunnynetPullZoneHitRatioDrop: { never: 'it needs a day of history' },
  BunnynetPullZoneOriginSlow: { never: 'it needs a day of history' },
  BunnynetEdgeScriptCostLeap: { never: 'it needs two days of history' },
  BunnynetAccountBalanceRunningOut: { never: 'the simulated account recharges automatically' },
  BunnynetAccountPaymentMethodExpiring: { never: 'the simulated payment method lasts for years' },
  BunnynetAccountRechargeFailing: { never: 'the simulated payments succeed' },
  BunnynetDnsRecordOffline: { never: 'the simulated records are online' },
  BunnynetLoadBalancerOriginsExhausted: { never: 'the simulated origins take turns to fail' },
  BunnynetLoadBalancerUnused: { never: 'it needs a week of history' },
  BunnynetPullZoneOriginErrorsRising: { never: 'it needs a day of history' },
  BunnynetDatabaseBlocked: { never: 'the simulated databases take queries' },
  BunnynetVideoEncodingFailed: { never: 'no simulated video begins to fail' },
  BunnynetPaymentDue: { never: 'the simulated payment is due next month' },
  BunnynetExporterAbsent: { never: 'the exporter is known to be down' },
  BunnynetNothingFound: { never: 'the targets are named one by one' },
  BunnynetRequestRateTooLow: { never: 'the simulated account has few targets' },
  BunnynetSameKeyTwice: { never: 'there is one account' },
  BunnynetStateNotSaved: { never: 'no state is written' },
  BunnynetApiPaused: {
    perhaps: 'a slow machine plays the trouble, in which two kinds are paused, for half an hour',
  },
};

function momentOf(rule: string): Moment | Never | Perhaps {
  if (rule === 'BunnynetShieldRequestsUsedUp' && !scene.isPlanUsedUp)
    return { never: 'the simulated plans have room' };
  return rulesAt[rule] ?? 'calm';
}

describe('the rules', () => {
  it('that have a moment of their own exist', () => {
    expect(rules.map(nameOf)).toEqual(expect.arrayContaining(Object.keys(rulesAt)));
  });

  it.each(rules.map((rule) => [nameOf(rule), rule.expr] as const))(
    '%s says what there is',
    async (name, text) => {
      const expr = compress(text);
      const when = momentOf(name);
      const moments: readonly Moment[] = ['calm', 'troubled', 'down', 'after', 'gone'];
      if (typeof when === 'string') {
        expect(await scene.query(expr, when)).not.toEqual([]);
      } else if ('perhaps' in when) {
        expect(await scene.query(expr, 'calm')).toEqual([]);
      } else {
        for (const moment of moments) expect(await scene.query(expr, moment), moment).toEqual([]);
      }
    },
  );
});

describe('the alerts', () => {
  const firing = (names: readonly string[]) => `ALERTS{alertstate="firing",alertname=~"${names.join('|')}"}`;
  const onTheExporter = alertsIn(exporterRules).map(({ alert }) => alert);
  const onValues = alerts.flatMap(({ alert }) => (onTheExporter.includes(alert) ? [] : [alert]));

  async function identities(query: string, at: Moment): Promise<readonly string[]> {
    return (await scene.query(query, at))
      .map(({ metric }) =>
        Object.entries(metric)
          .filter(([label]) => label !== '__name__' && label !== 'alertstate')
          .map(([label, value]) => `${label}=${value}`)
          .join(' '),
      )
      .toSorted();
  }

  it('do not fire for the exporter while all is calm', async () => {
    expect(await identities(firing(onTheExporter), 'calm')).toEqual([]);
  });

  it('fire for the applications that the API reports as failing', async () => {
    const failing = await namesIn('bunnynet_application_status{status="failing"} == 1', 'app_id', 'calm');
    expect(failing.size).toBe(1);
    expect(await namesIn(firing(['BunnynetApplicationFailing']), 'app_id', 'calm')).toEqual(failing);
  });

  it('neither start nor end during an outage of the API', async () => {
    const before = await identities(firing(onValues), 'troubled');
    const during = await identities(firing(onValues), 'down');
    expect(before).not.toEqual([]);
    expect(await scene.query('{__name__=~"bunnynet_.*_status|bunnynet_.*_waf_enabled"}', 'down')).toEqual([]);
    expect(during).toEqual(before);
  });

  it('report an outage of all APIs once, and no kind that could be read until then', async () => {
    expect(await namesIn(firing(['BunnynetApiUnreadable']), 'api', 'down')).toEqual(new Set([undefined]));
    expect(await namesIn(firing(['BunnynetKindUnreadable']), 'kind', 'down')).toEqual(
      new Set(unreadableKinds),
    );
    expect(await scene.query(firing(['BunnynetReadingsStale']), 'down')).toEqual([]);
  });

  it('follow the first reading after the outage: one application has recovered, another fails', async () => {
    const before = await namesIn(firing(['BunnynetApplicationFailing']), 'app_id', 'down');
    const now = await namesIn('bunnynet_application_status{status="failing"} == 1', 'app_id', 'after');
    expect(now).not.toEqual(before);
    const told = await namesIn('ALERTS{alertname="BunnynetApplicationFailing"}', 'app_id', 'after');
    expect(told).toEqual(now);
  });

  it('do not treat the new day as a rise', async () => {
    const [oldest] = await scene.query(
      'min(bunnynet_shield_api_guardian_latest_day_timestamp_seconds)',
      'calm',
    );
    const [newest] = await scene.query(
      'max(bunnynet_shield_api_guardian_latest_day_timestamp_seconds)',
      'after',
    );
    expect(Number(newest?.values[0]?.[1])).toBe(Number(oldest?.values[0]?.[1]) + 86_400);
    const seconds = Math.ceil(scene.moments.after - scene.moments.calm);
    const counter = 'bunnynet_shield_api_guardian_blocked_requests_total';
    const [grown] = await scene.query(`max(increase(${counter}[${seconds}s]))`, 'after');
    expect(Number(grown?.values[0]?.[1])).toBeLessThan(100);
    const [hourly] = await scene.queryRange('max(bunnynet:shield_api_guardian_blocked_requests:growth1h)');
    const highest = Math.max(...(hourly?.values ?? []).map(([, value]) => Number(value)));
    expect(highest).toBeGreaterThanOrEqual(0);
    expect(highest).toBeLessThan(100);
  });

  it('do not end when the exporter is gone', async () => {
    // A wait that nobody measures any more ends by declaration: nothing says how long it is.
    const lasting = onValues.filter((alert) => alert !== 'BunnynetVideoEncodingSlow');
    const held = await identities(firing(lasting), 'gone');
    expect(await identities(firing(lasting), 'after')).not.toEqual([]);
    expect(held).toEqual(expect.arrayContaining([...(await identities(firing(lasting), 'after'))]));
  });

  it('reach Alertmanager with their texts, and are resolved there', async () => {
    const failing = await scene.query(firing(['BunnynetApplicationFailing']), 'calm');
    const id = failing[0]?.metric['app_id'] ?? '';
    const name = scene.simulator.applications.find((each) => each.id === id)?.name;
    const told = scene.notifications.filter(
      ({ labels }) => labels['alertname'] === 'BunnynetApplicationFailing' && labels['app_id'] === id,
    );
    expect(told.map(({ status }) => status)).toEqual(expect.arrayContaining(['firing', 'resolved']));
    expect(told[0]).toMatchObject({
      labels: { severity: 'critical' },
      annotations: {
        summary: `Application ${scene.nameless.has(id) ? id : name} is failing`,
        runbook_url: expect.stringContaining('/docs/runbooks/BunnynetApplicationFailing.md') as string,
      },
    });
  });
});
