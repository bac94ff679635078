/** A history of the simulated account, written in this process. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { everything } from '../../simulator/everything.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { ApiError } from '../../src/api/errors.ts';
import { type BackfillOptions, backfill } from '../../src/backfill/backfill.ts';
import { sourceOf, TargetHistory } from '../../src/backfill/history.ts';
import { askLongAgo } from '../../src/backfill/long-ago.ts';
import { defaultUntilMs } from '../../src/backfill/ranges.ts';
import { failureOf, reasonText } from '../../src/backfill/requests.ts';
import { load } from '../../src/demo.ts';
import type { Target } from '../../src/polling/spec.ts';
import { catalogue } from '../../src/resources/catalogue.ts';
import { dnsZone } from '../../src/resources/kinds/dns-zone.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { silent } from '../../src/resources/resource.ts';
import { dayMs, hourMs } from '../../src/resources/times.ts';
import { count } from '../../src/text.ts';
import { runs } from '../runs.ts';
import { single, startSimulator } from '../simulator/start.ts';
import {
  Collected,
  nowMs,
  parse,
  type Series,
  untilFinished,
  untilMs,
  type Written,
  writeTo,
} from './writing.ts';

/** Of the test under way. */
let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({
    now: () => nowMs,
    logRequests: true,
    shape: runs(single, {}),
  });
});

const pace = { requests_per_second: 5000, max_concurrency: 64, max_retries: 0 };

/** The setup of some kinds of the simulated account. */
const setupOf = (kinds: readonly string[]) => load(everything(simulator, { kinds, api: () => pace }));

async function write(kinds: readonly string[], more: Partial<BackfillOptions> = {}): Promise<Written> {
  const output = new Collected();
  return { ...(await writeTo(output, await setupOf(kinds), more)), ...parse(output.text) };
}

/** What a counter gained in a day. */
function gain({ samples }: Series, day: number): number {
  const at = (ms: number) => samples.find(([atMs]) => atMs === ms)?.[1] ?? Number.NaN;
  return at(day + dayMs) - at(day);
}

async function answer(
  api: 'core' | 'video' | 'shield' | 'application',
  path: string,
  key = simulator.keys.account,
) {
  const response = await fetch(simulator.baseUrls[api] + path, { headers: { AccessKey: key } });
  return (await response.json()) as Readonly<Record<string, Readonly<Record<string, number>>>>;
}

function sum(chart: Readonly<Record<string, number>> | null | undefined): number {
  return Object.values(chart ?? {}).reduce((of, value) => of + value, 0);
}

const date = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const firstDay = Date.UTC(2026, 9, 29);
const days = Array.from({ length: 29 }, (_, at) => firstDay + at * dayMs);
/** By day the last of them are enough. */
const lately = days.slice(-runs(3, 29));

describe('the growth of each day', () => {
  it('is the figure of the API, by hours', async () => {
    const asked = days.slice(-runs(2, 7));
    const lastDays = asked.length + 1;
    const written = await write(['pull_zone', 'pull_zone_statistics'], { durationMs: lastDays * dayMs });
    expect(written.isComplete).toBe(true);
    for (const { id } of simulator.pullZones.slice(0, 3)) {
      const label = `pull_zone_id="${id}"`;
      const requests = written.of('bunnynet_pull_zone_requests_total', label);
      expect(requests.samples[0]).toEqual([untilMs - lastDays * dayMs, 0]);
      expect(requests.samples.at(-1)?.[0]).toBe(untilMs - 1);
      for (const day of asked) {
        const query = `dateFrom=${date(day)}T00:00:00Z&dateTo=${date(day)}T23:59:59Z`;
        const path = `/statistics?pullZone=${id}&${query}&hourly=true&exactRange=true&loadRequestsServed=true&loadErrors=true&loadGeographicTrafficDistribution=true&loadBandwidthUsed=true`;
        const of = await answer('core', path);
        expect(gain(requests, day)).toBe(sum(of['RequestsServedChart']));
        expect(gain(written.of('bunnynet_pull_zone_responses_total', label, 'code="4xx"'), day)).toBe(
          sum(of['Error4xxChart']),
        );
        const regions = written.series.filter(
          ({ name, labels }) =>
            name === 'bunnynet_pull_zone_region_traffic_bytes_total' && labels.includes(label),
        );
        expect(regions.reduce((all, region) => all + gain(region, day), 0)).toBe(
          sum(of['GeoTrafficDistribution']),
        );
        const ended = Object.entries(of['RequestsServedChart'] ?? {}).filter(
          ([at]) => Number(at.slice(11, 13)) < 9,
        );
        const atNine = requests.samples.find(([atMs]) => atMs === day + 9 * hourMs)?.[1] ?? 0;
        const atMidnight = requests.samples.find(([atMs]) => atMs === day)?.[1] ?? 0;
        expect(atNine - atMidnight).toBe(sum(Object.fromEntries(ended)));
        expect(written.of('bunnynet_pull_zone_requests_latest_day', label).samples).toContainEqual([
          day + dayMs - hourMs,
          sum(of['RequestsServedChart']),
        ]);
      }
      expect(written.of('bunnynet_pull_zone_statistics_up', label).samples).toHaveLength(lastDays * 24 + 1);
      expect(written.of('bunnynet_pull_zone_info', label).samples).toHaveLength(lastDays * 24 + 1);
    }
    expect(written.families).not.toContain('bunnynet_pull_zone_hostname');
    expect(written.families).not.toContain('bunnynet_pull_zone_monthly_bandwidth_bytes');
  });

  it('is the figure of the API of each day of more than a month, although it has hours of only 30 days', async () => {
    const today = Date.UTC(2026, 10, 27);
    const written = await write(['pull_zone_statistics', 'pull_zone_optimizer'], {
      durationMs: runs(5, 60) * dayMs,
      untilMs: runs(today - 26 * dayMs, untilMs),
    });
    expect(written.log).not.toContain('the history lacks');
    expect(written.isComplete).toBe(true);
    const [zone] = simulator.pullZones;
    const requests = written.of('bunnynet_pull_zone_requests_total', `"${zone?.id}"`);
    for (const day of [runs(31, 58), 30, 29, 28].map((ago) => today - ago * dayMs)) {
      const query = `dateFrom=${date(day)}T00:00:00Z&dateTo=${date(day)}T23:59:59Z&loadRequestsServed=true`;
      const { RequestsServedChart } = await answer('core', `/statistics?pullZone=${zone?.id}&${query}`);
      expect(gain(requests, day)).toBe(sum(RequestsServedChart));
    }
  });

  it('is the figure of the API, by days', async () => {
    const kinds = [
      'dns_zone',
      'storage_zone_egress',
      'edge_script',
      'video_library_statistics',
      'shield_statistics',
    ];
    const written = await write(kinds, { durationMs: (lately.length + 1) * dayMs });
    const [dns] = simulator.dnsZones;
    const [storage] = simulator.storageZones;
    for (const day of lately) {
      const range = `dateFrom=${date(day)}&dateTo=${date(day)}`;
      const queries = await answer('core', `/dnszone/${dns?.id}/statistics?${range}`);
      const label = `dns_zone_id="${dns?.id}"`;
      if (day < Date.UTC(2026, 10, 27) - dayMs) {
        expect(gain(written.of('bunnynet_dns_zone_queries_total', label), day)).toBe(
          sum(queries['QueriesServedChart']),
        );
        const egress = await answer('core', `/storagezone/${storage?.id}/statistics/egress?${range}`);
        const http = written.of(
          'bunnynet_storage_zone_egress_bytes_total',
          `"${storage?.id}"`,
          'protocol="http"',
        );
        expect(gain(http, day)).toBe(sum(egress['HttpEgressChart']));
      }
    }
    for (const name of [
      'bunnynet_edge_script_requests_total',
      'bunnynet_video_library_views_total',
      'bunnynet_shield_requests_total',
    ]) {
      const all = written.series.filter((one) => one.name === name);
      expect(all.length, name).toBeGreaterThan(0);
      for (const { samples } of all) {
        expect(samples[0]?.[1]).toBe(0);
        // From the first midnight to the last.
        expect(samples.at(-1)?.[0]).toBe(Date.UTC(2026, 10, 27));
      }
    }
  });
});

it('has the families of what is counted, what names them, and nothing else, of everything there is', async () => {
  const written = await write(
    resources.map(({ kind }) => kind),
    { durationMs: runs(2, 3) * dayMs },
  );
  const others = written.series
    .map(({ name }) => name)
    .filter((name) => !/(_total|_latest_day(_timestamp_seconds)?|_info|_up)$/.test(name));
  expect(others).toEqual([]);
  expect([...new Set(written.series.map(({ name }) => name))]).toMatchSnapshot();
  const ups = written.series.filter(({ name }) => name.endsWith('_up'));
  expect(ups.flatMap(({ samples }) => samples.filter(([, value]) => value !== 1))).toEqual([]);
});

it('says before the first row how much about comes', async () => {
  // By hours, by days, of 28 days at once, and names.
  const some = ['pull_zone', 'pull_zone_statistics', 'dns_zone', 'storage_zone_egress', 'rate_limit'];
  const kinds = runs(
    some,
    resources.map(({ kind }) => kind),
  );
  const output = new Collected(false);
  const { log } = await writeTo(output, await setupOf(kinds), {
    durationMs: runs(16, 30) * dayMs,
    labels: { job: 'bunny', instance: 'a:1' },
  });
  const numbersIn = (pattern: RegExp) =>
    (pattern.exec(log)?.slice(1) ?? []).map((number) => Number(number.replaceAll(',', '')));
  const said = numbersIn(/([\d,]+) requests come.* about ([\d,]+) series, ([\d,]+) samples and ([\d,]+) MB/);
  const [series, samples, requests] = numbersIn(
    /wrote ([\d,]+) series, ([\d,]+) samples and [\d,]+ MB after ([\d,]+)/,
  );
  const written = [requests, series, samples, output.bytes / 1e6].map((number) => number ?? Number.NaN);
  for (const [at, number] of written.entries())
    expect(Math.abs((said[at] ?? 0) / number - 1), `${said.join(', ')}: ${written.join(', ')}`).toBeLessThan(
      0.1,
    );
});

it('leaves out the days that failed, and names each once', async () => {
  const [zone] = simulator.dnsZones;
  simulator.inject({ type: 'status-500', kind: 'dns_zone', target: zone?.id ?? '', share: 0.2 });
  const written = await write(['dns_zone'], { durationMs: runs(12, 30) * dayMs });
  expect(written.isComplete).toBe(false);
  const lines = written.log.split('\n').filter((line) => line.includes('the history lacks'));
  expect(lines).toHaveLength(1);
  const [, text = ''] = /the history lacks (.*?)"/.exec(lines[0] ?? '') ?? [];
  expect(text).toContain(` of dns_zone ${zone?.name} (${zone?.id}): `);
  const failed = [...text.matchAll(/(\d{4}-\d\d-\d\d)(?: to (\d{4}-\d\d-\d\d))?/g)];
  expect(failed.length).toBeGreaterThan(0);
  const { samples } = written.of('bunnynet_dns_zone_queries_total', `"${zone?.id}"`);
  for (const [, first = '', last = first] of failed)
    expect(samples.filter(([atMs]) => atMs > Date.parse(first) && atMs < Date.parse(last) + dayMs)).toEqual(
      [],
    );
});

it.each(['dns_zone', 'database_statistics'])(
  'names the key that the API refuses for %s, and where it comes from',
  async (kind) => {
    simulator.inject({ type: 'status-401' });
    const { log, isComplete } = await write([kind]);
    expect(log).toMatch(/the history lacks .*the API refuses the key of account \(from \$\w+\)/);
    expect(isComplete).toBe(false);
  },
);

it.each([
  ['core', 'storage_zone_egress', 404, 'for its id, although the API accepts the key: correct the id'],
  ['origin_errors', 'pull_zone_origin_errors', 404, 'for its id, or to the key: check both'],
] as const)('names no key where only an id of the %s API gets 401', async (_, kind, id, reason) => {
  simulator.inject({ type: 'status-401', kind, target: String(id) });
  const setup = await load(
    everything(simulator, { kinds: [kind], api: () => pace, sections: { [kind]: { targets: [id] } } }),
  );
  const { log, isComplete } = await writeTo(new Collected(), setup);
  expect(log).toContain(`HTTP 401 ${reason}`);
  expect(log).not.toContain('refuses the key');
  expect(isComplete).toBe(false);
});

it('names no key where a 401 is about what was asked for', () => {
  const answer = { status: 401, errorKey: 'invalid_datetime_window.too_old' };
  const told = failureOf(new ApiError('rejected', 'HTTP 401: too old', answer));
  expect(reasonText(told, 'account', { describeKey: () => 'from $KEY' })).toBe('HTTP 401: too old');
});

it('ends at the last even hour that is three hours ago, and says so', async () => {
  expect(defaultUntilMs(nowMs)).toBe(untilMs);
  expect(defaultUntilMs(Date.UTC(2026, 10, 27, 17))).toBe(untilMs);
  expect(defaultUntilMs(Date.UTC(2026, 10, 27, 16, 59))).toBe(untilMs - 2 * hourMs);
  const written = await write(['dns_zone'], { durationMs: 2 * dayMs });
  expect(written.log).toContain('the history ends at 2026-11-27T14:00:00Z');
  expect(written.log).toContain('--backfill.until');
  expect(written.log).not.toContain('"level":40');
  const later = await write(['dns_zone'], { durationMs: 2 * dayMs, untilMs: untilMs + hourMs });
  expect(later.log).toMatch(/"level":40.*less than three hours ago/);
  const within = await write(['dns_zone'], { durationMs: 2 * dayMs, untilMs: untilMs + 260_000 });
  expect(within.log).toContain('the history ends at 2026-11-27T14:00:00Z');
});

it('counts the series that have samples, and their samples, and gives no header to a family without one', async () => {
  const kinds = resources.map(({ kind }) => kind);
  const { log, series, families } = await write(kinds, { durationMs: hourMs, stepMs: 300_000 });
  const samples = series.reduce((sum, one) => sum + one.samples.length, 0);
  expect(log).toContain(`wrote ${count(series.length)} series, ${count(samples)} samples`);
  expect(families.filter((family) => !series.some(({ name }) => name.startsWith(family)))).toEqual([]);
});

it('says once of a kind before which day there is nothing', async () => {
  const written = await write(['rate_limit']);
  expect(written.log.match(/nothing before 2026-10-31/g)).toHaveLength(1);
  const { samples } = written.series.find(({ name }) => name.endsWith('breaches_total')) ?? { samples: [] };
  expect(samples[0]).toEqual([Date.UTC(2026, 9, 31), 0]);
});

it('gives the 50 largest of a bounded family a series, and counts all others as other throughout', () => {
  const { kind } = dnsZone;
  const family = catalogue.find(({ name }) => name === 'bunnynet_dns_zone_queries_by_type_total');
  const source = family && sourceOf(family);
  if (!family || !source) throw new Error('there is no such family');
  const target = { kind, ids: { dns_zone_id: '7' } } as unknown as Target;
  const startSeconds = firstDay / 1000;
  const days = [0, 1].map((at) => ({ fromMs: firstDay + at * dayMs, toMs: firstDay + (at + 1) * dayMs }));
  const span = { fromMs: firstDay, toMs: firstDay + 2 * dayMs };
  const history = new TargetHistory(target, span);
  // The largest of the first day are the smallest of both.
  for (const [at, answered] of days.entries())
    history.add(
      new Map([[family, source]]),
      {
        QueriesByTypeChart: Array.from({ length: 60 }, (_, type) => ({
          key: `${1000 + type}`,
          startSeconds: startSeconds + at * 86_400,
          value: at === 0 ? 60 - type : 1000 * type,
        })),
      },
      answered,
    );
  const all = history.seriesOf(family);
  expect(all).toHaveLength(51);
  const other = all.find(({ labels }) => labels['type'] === 'other');
  expect(other?.figures).toEqual([
    days[0]?.fromMs,
    days[0]?.toMs,
    Array.from({ length: 10 }, (_, type) => 60 - type).reduce((sum, value) => sum + value),
    days[1]?.fromMs,
    days[1]?.toMs,
    45_000,
  ]);
});

it('leaves out an answer about other days, and a day of which the API does not give all', async () => {
  const chart = { '2026-11-03T00:00:00Z': 7 };
  const get = () => Promise.resolve({ QueriesServedChart: chart });
  const day = (date: string) => ({ fromMs: Date.parse(date), toMs: Date.parse(date) + dayMs });
  const read = (date: string) => dnsZone.read(get, { dns_zone_id: '7' }, silent, { nowMs, past: day(date) });
  await expect(read('2026-11-03')).resolves.toMatchObject({
    shown: { QueriesServedChart: [{ value: 7 }] },
  });
  await expect(read('2026-11-04')).rejects.toThrow('the figures are those of other days');

  simulator = await startSimulator({ now: () => nowMs, shape: { zones: 3 } });
  // One with ten times as many errors as the others.
  const kind = 'pull_zone_origin_errors';
  const targets = [Number(simulator.pullZones[2]?.id)];
  const setup = await load(
    everything(simulator, { kinds: [kind], api: () => pace, sections: { [kind]: { targets } } }),
  );
  const { isComplete, log } = await writeTo(new Collected(), setup, { durationMs: 5 * dayMs });
  expect(isComplete).toBe(false);
  expect(log).toContain('the API has more of that day than it gives');
});

it('finds out with one request for each kind whether the API has a day of long ago', async () => {
  const kinds = ['dns_zone', 'pull_zone_statistics', 'rate_limit', 'pull_zone'];
  simulator.inject({ type: 'status-500', kind: 'pull_zone_statistics', share: 1 });
  const lines = await askLongAgo(
    {
      ...(await load(everything(simulator, { kinds, api: () => pace }))),
      resources,
      log: pino({ level: 'silent' }),
      signal: untilFinished(),
    },
    nowMs,
  );
  expect(lines.toSorted()).toEqual([
    'dns_zone, a day 40 days ago: points',
    'pull_zone_statistics, a day 40 days ago: server_error',
  ]);
  const asked = simulator.requests.filter(({ path }) => path.includes('tatistics'));
  expect(asked.filter(({ path }) => path.includes('hourly'))).toEqual([]);
  expect(asked.map(({ path }) => /dateFrom=([\d-]{10})/.exec(path)?.[1])).toEqual([
    '2026-10-18',
    '2026-10-18',
  ]);
});

describe('with things that are left out everywhere', () => {
  const kinds = ['pull_zone', 'pull_zone_statistics', 'shield_zone', 'shield_statistics'];
  const writeWithout = async (exclude: readonly string[]) => {
    const { document, env } = everything(simulator, { kinds, api: () => pace });
    const output = new Collected();
    const setup = await load({ document: { ...document, discovery: { exclude } }, env });
    const written = await writeTo(output, setup, { durationMs: 3 * dayMs });
    return { ...written, ...parse(output.text) };
  };
  const idsIn = ({ series }: Written, label: string) => {
    const ids = series.flatMap(({ labels }) => new RegExp(`\\b${label}="(\\d+)"`).exec(labels)?.[1] ?? []);
    return [...new Set(ids)].toSorted();
  };

  it('has nothing of them, and asks for nothing of them', async () => {
    simulator = await startSimulator({ now: () => nowMs, logRequests: true, shape: { zones: 3 } });
    const [byName, byId, ...others] = simulator.zones;
    const written = await writeWithout([byName?.name ?? '', `pull_zone_id=${byId?.pullZoneId}`]);
    expect(written.isComplete).toBe(true);
    const ofLibraries = simulator.pullZones.slice(simulator.zones.length);
    const pullZones = [...others.map(({ pullZoneId }) => pullZoneId), ...ofLibraries.map(({ id }) => id)];
    expect(idsIn(written, 'pull_zone_id')).toEqual(pullZones.toSorted());
    expect(idsIn(written, 'shield_zone_id')).toEqual(others.map(({ id }) => id).toSorted());
    const asked = simulator.requests.map(({ path }) => path).join('\n');
    expect(asked).toContain(`pullZone=${others[0]?.pullZoneId}`);
    for (const zone of [byName, byId]) {
      expect(asked).not.toContain(`pullZone=${zone?.pullZoneId}`);
      expect(asked).not.toContain(`/${zone?.id}`);
    }
  });

  it('has nothing of anything whose name could not be read, and is not complete', async () => {
    simulator.inject({ type: 'status-404', kind: 'pull_zone' });
    const written = await writeWithout(['no such name']);
    expect(written.isComplete).toBe(false);
    expect(idsIn(written, 'shield_zone_id')).toEqual([]);
    expect(simulator.requests.filter(({ path }) => path.includes('/metrics/'))).toEqual([]);
  });
});

it('adds the given labels to each row', async () => {
  const written = await write(['dns_zone'], {
    durationMs: 2 * dayMs,
    labels: { job: 'bunny', instance: 'a:1' },
  });
  for (const { labels } of written.series) expect(labels).toMatch(/job="bunny",instance="a:1"$/);
});

it('ends after a whole line when it is interrupted, or when nobody reads any more', async () => {
  const interrupt = new AbortController();
  const over = untilFinished();
  const output = new Collected();
  const setup = await load(everything(simulator, { kinds: ['pull_zone_statistics'], api: () => pace }));
  const options = {
    ...setup,
    resources,
    durationMs: dayMs,
    stepMs: 300_000,
    labels: {},
    withOwn: true,
    log: pino({ level: 'silent' }),
    now: () => nowMs,
  };
  const ended = backfill({
    ...options,
    output,
    signal: AbortSignal.any([interrupt.signal, over]),
    onProgress: ({ bytes }) => bytes > 100_000 && interrupt.abort(new Error('enough')),
  });
  await expect(ended).rejects.toThrow('enough');
  expect(output.text).toMatch(/[^\n]\n$/);
  expect(output.text).not.toContain('# EOF');
  const failing = (code: string) =>
    new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write failed'), { code })),
    });
  const writeFailing = (code: string) => backfill({ ...options, output: failing(code), signal: over });
  await expect(writeFailing('EPIPE')).rejects.toThrow(
    /^nobody reads the output any more: the history is not complete$/,
  );
  await expect(writeFailing('ENOSPC')).rejects.toThrow(
    /^the output cannot be written: ENOSPC; the history is not complete$/,
  );
});
