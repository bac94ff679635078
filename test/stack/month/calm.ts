/** What the API answers while all is well, where the simulator has something that is not. */
import { type Asked, type Body, datasets, type Edit } from './accounts.ts';
import { Flow } from './flow.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Changes every element of a list: that of a field, or the body itself. */
export function each(field: string, change: (item: Body, place: number) => Body): (body: Body) => unknown {
  return (body) => {
    if (field === '') return (body as unknown as readonly Body[]).map(change);
    return { ...body, [field]: (body[field] as readonly Body[]).map(change) };
  };
}

/** Replaces fields of a body, and of the objects in it. */
export function merged(body: Body, fields: Body): Body {
  const isObject = (value: unknown): value is Body =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const inner = Object.entries(fields).map(([name, value]) => {
    const was = body[name];
    return [name, isObject(value) && isObject(was) ? merged(was, value) : value];
  });
  return { ...body, ...(Object.fromEntries(inner) as Body) };
}

const as = (fields: Body) => (item: Body) => merged(item, fields);

/** The days or hours of a chart, by their names, with what a flow has in them. */
function charted(names: readonly string[], lengthMs: number, { knownMs }: Asked, flow: Flow, factor = 1) {
  const inPoint = (name: string) => {
    const iso = /^\d\d-\d\d-\d{4}$/.test(name) ? name.split('-').toReversed().join('-') : name;
    const startMs = Date.parse(iso.endsWith('Z') || iso.length === 10 ? iso : `${iso}Z`);
    return factor * flow.between(startMs, Math.min(startMs + lengthMs, knownMs));
  };
  return Object.fromEntries(names.map((name) => [name, inPoint(name)]));
}

const sumOf = (chart: Readonly<Record<string, number>>) =>
  Object.values(chart).reduce((sum, value) => sum + value, 0);

/** The place of what a request is about in the list of its account. */
function placeOf({ account, ids }: Asked, list: 'pullZones' | 'zones'): number {
  return datasets[account][list].findIndex(({ id }) => ids.includes(id));
}

const bytesPerRequest = 40_000;

const traffic: Edit = (body, asked) => {
  const place = placeOf(asked, 'pullZones');
  const { requests, errors, misses } = asked.flows;
  const names = Object.keys((body['RequestsServedChart'] ?? {}) as object);
  const lengthMs = asked.query.get('hourly') === 'true' ? hourMs : dayMs;
  const chart = (flows: readonly Flow[], factor = 1) =>
    charted(names, lengthMs, asked, flows[place] as Flow, factor);
  const served = chart(requests);
  const pulled = chart(misses);
  const cached = Object.fromEntries(names.map((name) => [name, (served[name] ?? 0) - (pulled[name] ?? 0)]));
  const bytes = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * bytesPerRequest]));
  const whereServed = (value: (name: string) => number) =>
    Object.fromEntries(names.map((name) => [name, served[name] === 0 ? 0 : value(name)]));
  return {
    ...body,
    TotalRequestsServed: sumOf(served),
    TotalBandwidthUsed: sumOf(bytes(served)),
    TotalOriginTraffic: sumOf(bytes(pulled)),
    RequestsServedChart: served,
    PullRequestsPulledChart: pulled,
    BandwidthUsedChart: bytes(served),
    BandwidthCachedChart: bytes(cached),
    OriginTrafficChart: bytes(pulled),
    OriginShieldBandwidthUsedChart: whereServed(() => 0),
    OriginShieldInternalBandwidthUsedChart: whereServed(() => 0),
    Error3xxChart: whereServed(() => 0),
    Error4xxChart: whereServed(() => 0),
    Error5xxChart: chart(errors),
    CacheHitRate: 90,
    CacheHitRateChart: whereServed((name) => (100 * (cached[name] ?? 0)) / (served[name] ?? 1)),
    OriginResponseTimeChart: whereServed(() => 120),
    AverageOriginResponseTime: 120,
    GeoTrafficDistribution: { 'EU: Frankfurt, DE': sumOf(bytes(served)) },
  };
};

/** One entry for each failure of an origin, in the minute in which it happened. */
const originErrors: Edit = (body, asked) => {
  const [month = 1, date = 1, year = 1970] = (asked.ids.slice(-3) as readonly string[]).map(Number);
  const startMs = Date.UTC(year, month - 1, date);
  const flow = asked.flows.originErrors[placeOf(asked, 'pullZones')] as Flow;
  const logs: object[] = [];
  for (let atMs = startMs; atMs < Math.min(asked.knownMs, startMs + dayMs); atMs += minuteMs) {
    const sofar = flow.between(startMs, Math.min(atMs + minuteMs, asked.knownMs));
    while (logs.length < sofar)
      logs.push({
        logId: `${startMs}-${logs.length}`,
        timestamp: atMs,
        log: JSON.stringify({ Message: 'It failed.', ErrorCode: 'http_timeout', StatusCode: '504' }),
        labels: { ErrorCode: 'http_timeout', StatusCode: '504', ServerZone: 'DE' },
      });
  }
  return { ...body, logs: logs.slice(0, 1000), hasMoreData: logs.length > 1000 };
};

/** Now and then an attempt at the first origin fails, and hardly ever those at all of them. */
const balanced: Edit = (body, asked) => {
  const { exhausted, originFailures: failing } = asked.flows;
  const timeOf = (name: string) => Date.parse(asked.query.get(name) ?? '');
  const failures = (body['OriginFailures'] as readonly Body[]).map((one) => ({
    ...one,
    Values: charted(Object.keys(one['Values'] as object), hourMs, asked, failing),
  }));
  const AllOriginsExhausted = exhausted.between(timeOf('from'), Math.min(timeOf('to'), asked.knownMs));
  return merged(body, { Summary: { AllOriginsExhausted }, OriginFailures: failures });
};

/** Figures of the past 28 days, and those of each day. */
function window(body: Body, days: string, asked: Asked, figures: Readonly<Record<string, Flow>>): Body {
  const names = Object.keys((body[days] ?? {}) as object);
  const charts = Object.entries(figures).map(
    ([name, flow]) => [name, charted(names, dayMs, asked, flow)] as const,
  );
  const ofDay = (day: string) => Object.fromEntries(charts.map(([name, chart]) => [name, chart[day] ?? 0]));
  const was = (body[days] ?? {}) as Readonly<Record<string, Body>>;
  return { ...body, [days]: Object.fromEntries(names.map((day) => [day, { ...was[day], ...ofDay(day) }])) };
}

interface Pod {
  readonly name: string;
  readonly containers: readonly Body[];
}

/** An application has an instance in each region, which has run for long. */
const overview: Edit = (body) => {
  const regions = (body['regions'] as readonly (Body & { readonly pods: readonly Pod[] })[]).map((one) => ({
    ...one,
    instances: 1,
    status: 'active',
    pods: one.pods.slice(0, 1).map((pod) => ({
      ...pod,
      name: `pod-${String(one['region'])}`,
      status: 'ready',
      lastHeartBeat: new Date(Date.now() - 10_000).toISOString(),
      cpuUsageCores: 0.1,
      ramUsageBytes: 100_000_000,
      outboundConnectionsRejectedDiff: 0,
      containers: pod.containers.map((container) => ({ ...container, numberOfRestarts: 0, exitCode: null })),
    })),
  }));
  const graded = (indicator: number) => ({ indicator, statusGrade: 'doingGreat' });
  return {
    ...body,
    status: 'active',
    regions,
    desiredInstances: regions.length,
    activeInstances: graded(regions.length),
    activeRegions: graded(regions.length),
    currentLatency: graded(50),
    limits: { cpuCores: 1, ramBytes: 2 ** 30, outboundBandwidthBytesPerSecond: 125_000_000 },
  };
};

export const dnsRecords: readonly Body[] = ['192.0.2.10', '192.0.2.11', '192.0.2.20'].map((Value, place) => ({
  Id: 7000 + place,
  Type: 0,
  Name: place < 2 ? 'www' : 'api',
  Value,
  Ttl: 300,
  Disabled: false,
  MonitorType: 1,
  MonitorStatus: 1,
  Accelerated: false,
  AccelerationStatus: 0,
  AutoSslIssuance: true,
  SmartRoutingType: 0,
}));

const system = { IsSystemHostname: true, HasCertificate: true };

/** Dollars since the beginning of the month, at so many a day. */
export function charged(perDay: number): number {
  const now = new Date(Date.now());
  const startMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  return Math.round((perDay * (now.getTime() - startMs)) / dayMs / 0.0001) * 0.0001;
}

export const calm: Readonly<Record<string, Edit>> = {
  application: (body) =>
    merged(body, { status: 'active', averageLatency: 50, currentLatency: 50, monthlyCost: charged(2) }),
  application_listing: each('items', as({ status: 'active' })),
  application_overview: overview,
  application_autoscaling: (body) => merged(body, { min: 1, max: 4 }),
  application_volume: each('items', (item) => ({ ...item, totalUsage: 0.4 * Number(item['size']) })),
  pull_zone: each('Items', (zone) => ({
    ...zone,
    Enabled: true,
    Suspended: false,
    Hostnames: [
      { Value: `${String(zone['Name'])}.b-cdn.net`, ...system },
      { Value: `www.${String(zone['Name'])}.example`, ...system, IsSystemHostname: false, ForceSSL: true },
    ],
    MonthlyBandwidthLimit: 0,
    EnableAutoSSL: true,
    DisableLetsEncrypt: false,
  })),
  pull_zone_statistics: traffic,
  pull_zone_origin_errors: originErrors,
  load_balancer_statistics: balanced,
  shield_zone: each(
    'data',
    as({
      learningMode: false,
      learningModeUntil: null,
      wafEnabled: true,
      wafExecutionMode: 1,
      wafCustomRuleOrder: [],
    }),
  ),
  shield_overview: (body, asked) => {
    const data = body['data'] as Body;
    const usual = merged(data, {
      totalBillableRequests: Math.floor(0.3 * Number(data['totalCleanRequestsLimit'])),
    });
    // Only in the first of the zones the firewall finds something.
    const wafTriggeredRules = placeOf(asked, 'zones') === 0 ? asked.flows.waf : new Flow(0);
    return { ...body, data: window(usual, 'overviewPastTwentyEightDays', asked, { wafTriggeredRules }) };
  },
  shield_statistics: (body, asked) => {
    const place = placeOf(asked, 'zones');
    const { waf } = body['data'] as { readonly waf: { readonly metrics: Readonly<Record<string, object>> } };
    // Only in the first of the zones anything is blocked.
    if (place !== 0 || !('Blocked' in waf.metrics)) return body;
    const Blocked = charted(Object.keys(waf.metrics['Blocked'] ?? {}), dayMs, asked, asked.flows.waf);
    return merged(body, { data: { waf: { metrics: { Blocked }, totals: { Blocked: sumOf(Blocked) } } } });
  },
  api_guardian_zone: (body) =>
    merged(body, { data: { configuration: { isEnabled: true, executionMode: 1 } } }),
  api_guardian: (body, asked) => {
    const data = body['data'] as Body;
    return {
      ...body,
      data: window(data, 'overviewPastTwentyEightDays', asked, {
        blockedRequests: asked.flows.guarded,
        rateLimited: asked.flows.limited,
      }),
    };
  },
  rate_limit: (body, asked) => {
    if (body['data'] === null) return body;
    return each('data', (limit) =>
      window(limit, 'ratelimitOverviewPastTwentyEightDays', asked, {
        totalBreaches: asked.flows.breaches,
        blockedBreaches: asked.flows.breaches,
      }),
    )(body);
  },
  dns_record: each('Items', as({ Records: dnsRecords, NameserversDetected: true })),
  dns_zone_listing: each('Items', as({ NameserversDetected: true })),
  storage_zone: each('Items', as({ ReplicationChangeInProgress: false })),
  database: each(
    'databases',
    as({
      block_reads: false,
      block_writes: false,
      current_size: '400 MB',
      size_max_bytes: 1e9,
      current_size_bytes: 4e8,
    }),
  ),
  edge_script_usage: each('Items', (script) => ({ ...script, MonthlyCost: charged(0.5) })),
  video_encoding: each('items', as({ status: 4, encodeProgress: 100 })),
  video_library: each('Items', (library) =>
    library['EnableDRM'] === true
      ? merged(library, {
          AppleFairPlayDrm: { Enabled: true, CertificateExpirationDate: '2027-12-01T00:00:00' },
        })
      : library,
  ),
  billing: (body) =>
    merged(body, {
      Balance: 900,
      ThisMonthCharges: charged(20),
      AutomaticRechargeEnabled: true,
      AutomaticPaymentFailureCount: 0,
    }),
  payment_requests: each('', as({ Paid: true, DatePaid: '2026-01-03T00:00:00' })),
};
