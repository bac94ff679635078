/** A history that writes the state, and an exporter that goes on from there: nothing is lost at the seam, and nothing counted twice. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseState } from '../../src/counting/state-form.ts';
import { temporary } from '../http/temporary.ts';
import { runs } from '../runs.ts';
import {
  endsOf,
  type History,
  type Run,
  routes,
  startExporter,
  stateIn,
  writeHistory,
} from './history-before.ts';
import { countersOf, dayMs, document, hourMs, kinds, minuteMs } from './steady.ts';
import { type Route, reply, startWhole, type Whole, type WholeOptions } from './whole.ts';

const at = (text: string) => Date.parse(`2026-08-${text}:00Z`);

/** What is missing of this many minutes since a history began; a kind may have been polled up to an interval ago. */
async function expectExact(whole: Whole, history: History) {
  const counted = await countersOf(whole);
  for (const { section, beganMs, value } of endsOf(history)) {
    expect(value, section).toBeGreaterThan(0);
    const missing = (Date.now() - beganMs) / minuteMs - (counted[section] ?? Number.NaN) / 1000;
    expect(missing, section).toBeGreaterThanOrEqual(0);
    expect(missing, section).toBeLessThanOrEqual(12);
  }
}

type Start = [when: string, now: string];

describe.each<Start>([
  ['just before midnight', '15T23:50'],
  ['at 00:05', '15T00:05'],
  ...runs<Start[]>(
    [],
    [
      ['at 03:10', '15T03:10'],
      ['at 14:20', '15T14:20'],
    ],
  ),
])('an exporter that is started %s after the history', (_, now) => {
  it('goes on from its end in each kind, with no reset and no traffic missing', async () => {
    const run = { folder: temporary({}), nowMs: at(now) };
    const history = await writeHistory(run);
    expect(history.log).not.toContain('the history lacks');
    const whole = await startExporter(run);
    const first = await countersOf(whole);
    for (const { section, value } of endsOf(history)) expect(first[section]).toBeGreaterThanOrEqual(value);
    await expectExact(whole, history);
    await whole.pass(runs(40 * minuteMs, 13 * hourMs));
    await expectExact(whole, history);
  });
});

it('goes on days later, and from a history that is shorter than a day', async () => {
  const run = { folder: temporary({}), nowMs: at('10T14:20') };
  const only = { pull_zone_statistics: { targets: [7], interval: '10m' } };
  const history = await writeHistory({ ...run, document: only }, { durationMs: 6 * hourMs });
  const whole = await startWhole({ routes, ...run, document: only });
  whole.setClock(4 * dayMs);
  await whole.stop();
  const later = await startExporter({ ...run, document: only });
  const counted = await countersOf(later);
  const { beganMs = 0, value } = endsOf(history).find(({ section }) => section in only) ?? {};
  expect(value).toBe(6 * 60_000);
  const missing = (Date.now() - beganMs) / minuteMs - (counted['pull_zone_statistics'] ?? 0) / 1000;
  expect(Math.abs(missing - 6)).toBeLessThanOrEqual(6);
});

it('writes what each series has at the end of the history, when it was read, and no name or key', async () => {
  const run = { folder: temporary({}), nowMs: at('15T14:20') };
  const history = await writeHistory(run);
  const text = readFileSync(stateIn(run), 'utf8');
  const { written_by, targets } = parseState(text);
  expect(written_by).toBe('backfill');
  expect(text).not.toContain('the-key-of-the-account');
  for (const { kind, base_url, account, last_read, counting_since, counters } of targets) {
    expect({ base_url: base_url.startsWith('https://'), account }).toEqual({
      base_url: true,
      account: 'account',
    });
    const isByHours = /pull_zone_statistics|database|load_balancer/.test(kind);
    // Just before, since of the day that begins at midnight nothing was read.
    expect(last_read * 1000, kind).toBe((isByHours ? at('15T10:00') : at('15T00:00')) - 1);
    for (const [name, { series }] of Object.entries(counters))
      for (const { labels, value } of series) {
        const written = history.of(
          name,
          ...Object.entries(labels).map(([label, text]) => `${label}="${text}"`),
        );
        expect(written.samples.at(-1)?.[1]).toBe(value);
        expect(counting_since * 1000).toBeLessThanOrEqual(written.samples[0]?.[0] ?? 0);
      }
  }
  expect(targets.map(({ kind }) => kind)).toHaveLength(kinds.length);
});

it('has no target in the state whose requests all failed, and counts the last days later if they failed', async () => {
  const { dns_zones: ofDns, storage_zone_egress } = document;
  const run = {
    folder: temporary({}),
    nowMs: at('15T14:20'),
    document: { dns_zones: ofDns, storage_zone_egress },
  };
  let isDown = true;
  const failing: WholeOptions['routes'] = {
    ...routes,
    '/storagezone/7/statistics/egress': () => ({}),
    '/dnszone/7/statistics': (request) => {
      const isLast = request.query.get('dateFrom') === '2026-08-14';
      return isDown && isLast ? {} : routes['/dnszone/7/statistics']?.(request);
    },
  };
  const history = await writeHistory({ ...run, routes: failing });
  expect(history.isComplete).toBe(false);
  const { targets } = parseState(readFileSync(stateIn(run), 'utf8'));
  expect(targets.map(({ kind }) => kind)).not.toContain('storage_zone_egress');
  isDown = false;
  const whole = await startExporter({ ...run, routes: failing });
  const { dns_zones } = await countersOf(whole);
  const began = endsOf(history).find(({ section }) => section === 'dns_zones')?.beganMs ?? 0;
  expect(Math.abs((Date.now() - began) / minuteMs - (dns_zones ?? 0) / 1000)).toBeLessThanOrEqual(12);
});

describe('the state file', () => {
  it('is replaced if a history wrote it', async () => {
    const run = { folder: temporary({}), nowMs: at('15T14:20') };
    await writeHistory(run);
    const before = parseState(readFileSync(stateIn(run), 'utf8'));
    await writeHistory(run, { durationMs: 2 * dayMs });
    const after = parseState(readFileSync(stateIn(run), 'utf8'));
    expect(after.writer).not.toBe(before.writer);
    expect(after.targets).toHaveLength(before.targets.length);
  });

  const counted = (run: Run) =>
    parseState(readFileSync(stateIn(run), 'utf8')).targets.map((target) => ({
      ...target,
      value: Object.values(target.counters)
        .flatMap(({ series }) => series)
        .reduce((sum, { value }) => sum + value, 0),
    }));
  const ofKind = (run: Run, wanted: string) => counted(run).filter(({ kind }) => kind === wanted);

  it('keeps the kinds that a history of one kind alone does not write, and says so', async () => {
    const run = { folder: temporary({}), nowMs: at('15T14:20') };
    await writeHistory(run);
    const before = counted(run);
    const { dns_zones } = document;
    const { log } = await writeHistory({ ...run, document: { dns_zones } }, { durationMs: 2 * dayMs });
    const isOther = ({ kind }: { kind: string }) => kind !== 'dns_zone';
    expect(counted(run).filter(isOther)).toEqual(before.filter(isOther));
    expect(ofKind(run, 'dns_zone').map(({ value }) => value)).toEqual([1440 * 1000]);
    expect(log).toMatch(/"level":40.*keeps what an earlier history has counted .*: \d+ targets of /);
    expect(log).toContain('goes on from this history: 1 target');
  });

  it('is as it was after a history that could read nothing, and after one of nothing', async () => {
    const { dns_zones } = document;
    const run = { folder: temporary({}), nowMs: at('15T14:20'), document: { dns_zones } };
    await writeHistory(run);
    const before = readFileSync(stateIn(run));
    const nothing: WholeOptions['routes'] = { '/dnszone/7/statistics': () => ({}) };
    const failed = await writeHistory({ ...run, routes: nothing });
    expect(failed.isComplete).toBe(false);
    expect(failed.log).toMatch(/"level":40.*is not written.*still that of an earlier history \(1 target\)/);
    expect(readFileSync(stateIn(run))).toEqual(before);
  });

  it('is not made by a history that has no counter for it', async () => {
    const { dns_zones } = document;
    const run = { folder: temporary({}), nowMs: at('15T14:20'), document: { dns_zones } };
    const { log } = await writeHistory({ ...run, routes: { '/dnszone/7/statistics': () => ({}) } });
    expect(log).toMatch(/"level":40.*state\.json is not written, since this history has no counter for it"/);
    expect(existsSync(stateIn(run))).toBe(false);
  });

  it('keeps the target of which a history that lacks days has counted less', async () => {
    const { dns_zones, storage_zone_egress } = document;
    const run = {
      folder: temporary({}),
      nowMs: at('15T14:20'),
      document: { dns_zones, storage_zone_egress },
    };
    await writeHistory(run);
    const before = counted(run);
    const failing: WholeOptions['routes'] = {
      '/dnszone/7/statistics': (request) =>
        request.query.get('dateFrom') === '2026-08-12' ? {} : routes['/dnszone/7/statistics']?.(request),
    };
    const again = await writeHistory({ ...run, routes: failing, nowMs: run.nowMs + minuteMs });
    expect(again.isComplete).toBe(false);
    expect(counted(run)).toHaveLength(before.length);
    expect(ofKind(run, 'dns_zone')).toEqual(before.filter(({ kind }) => kind === 'dns_zone'));
    expect(again.log).toMatch(/keeps what an earlier history has counted .*: 1 target of dns_zone"/);
    const longer = await writeHistory({ ...run, routes: failing }, { durationMs: 20 * dayMs });
    expect(ofKind(run, 'dns_zone')[0]?.value).toBeGreaterThan(
      before.find(({ kind }) => kind === 'dns_zone')?.value ?? 0,
    );
    expect(longer.log).not.toContain('keeps what');
  });

  it.each<[string, Route]>([
    ['with a wrong key', () => reply(401)],
    ['that no answer tells anything', () => ({})],
  ])('is replaced if an exporter %s wrote it, which has counted nothing', async (_, route) => {
    const { dns_zones } = document;
    const run = { folder: temporary({}), nowMs: at('15T14:20'), document: { dns_zones } };
    const whole = await startExporter({ ...run, routes: { '/dnszone/7/statistics': route } });
    await whole.stop();
    expect(parseState(readFileSync(stateIn(run), 'utf8')).written_by).toBe('exporter');
    expect(counted(run).flatMap(({ counters }) => Object.values(counters))).toEqual([]);
    const history = await writeHistory(run);
    expect(history.isComplete).toBe(true);
    expect(ofKind(run, 'dns_zone')).toHaveLength(1);
  });

  it('is not touched, and nothing is asked, if an exporter wrote it', async () => {
    const { dns_zones } = document;
    const run = { folder: temporary({}), nowMs: at('15T14:20'), document: { dns_zones } };
    const whole = await startExporter(run);
    await whole.stop();
    const before = readFileSync(stateIn(run));
    await expect(writeHistory(run)).rejects.toThrow(/state\.json has what an exporter has counted/);
    expect(readFileSync(stateIn(run))).toEqual(before);
  });

  it('is not touched if it is none', async () => {
    const run = { folder: temporary({ 'state.json': '{"version":9' }), nowMs: at('15T14:20') };
    await expect(writeHistory(run)).rejects.toThrow(/state\.json is none of this version/);
    expect(readFileSync(stateIn(run), 'utf8')).toBe('{"version":9');
  });

  it('is written only once the history has its end', async () => {
    const run = { folder: temporary({}), nowMs: at('15T14:20') };
    const interrupt = new AbortController();
    const onProgress = () => interrupt.abort(new Error('enough'));
    await expect(writeHistory(run, { signal: interrupt.signal, onProgress })).rejects.toThrow('enough');
    expect(existsSync(stateIn(run))).toBe(false);
  });

  it('that cannot be written is an error before anything is asked', async () => {
    const run = { folder: join(temporary({}), 'nowhere'), nowMs: at('15T14:20') };
    await expect(writeHistory(run)).rejects.toThrow(/state\.json cannot be written/);
  });
});

it('a history asks for nothing where the folder that a link to the state leads to is not there', async () => {
  const folder = temporary({});
  // As where a volume is not mounted.
  symlinkSync(join(folder, 'volume', 'state.json'), join(folder, 'state.json'));
  let asked = 0;
  const document = { dns_zones: { targets: [7] } };
  const routes = { '/dnszone/7/statistics': () => ({ QueriesServedChart: { '2026-08-14': ++asked } }) };
  const run = { folder, nowMs: Date.parse('2026-08-15T12:00:00Z'), routes, document };
  await expect(writeHistory(run)).rejects.toThrow('cannot be written');
  expect(asked).toBe(0);
});

describe('what happens for the first time on the day after a history', () => {
  const family = 'bunnynet_shield_requests_total';
  const midnightMs = Date.parse('2026-08-15T00:00:00Z');
  const document = { shield_statistics: { targets: [7], interval: '10m' } };

  /** 100 requests blocked on each day; on the 15th, 500 were challenged, too: the first ones ever. */
  const routes = {
    '/shield/metrics/overview/7/detailed': ({ query }: { query: URLSearchParams }) => {
      const [first, last] = ['StartDate', 'EndDate'].map((name) => Number(query.get(name)?.slice(8, 10)));
      const chart = (of: (day: number) => number) =>
        Object.fromEntries(
          Array.from({ length: (last ?? 0) - (first ?? 0) + 1 }, (_, at) => (first ?? 0) + at).map((day) => [
            `2026-08-${day}T00:00:00Z`,
            of(day),
          ]),
        );
      const challenged = last === 15 ? { Challenged: chart((day) => (day === 15 ? 500 : 0)) } : {};
      return { data: { waf: { metrics: { Blocked: chart(() => 100), ...challenged } }, resolution: 4 } };
    },
  } as never;

  const sum = (series: Record<string, number>) => Object.values(series).reduce((a, b) => a + b, 0);

  it('counts', async () => {
    const run = { folder: temporary({}), nowMs: Date.parse('2026-08-15T12:00:00Z'), routes, document };
    const history = await writeHistory(run, { untilMs: midnightMs });
    const end = history.series.find(({ name }) => name === family)?.samples.at(-1)?.[1];
    const whole = await startExporter(run);
    await whole.pass(11 * minuteMs);
    expect(sum(await whole.series(family)) - (end ?? Number.NaN)).toBe(100 + 500);
  });

  it('counts as it does without a history, where the last reading was just before midnight', async () => {
    const whole = await startWhole({ nowMs: midnightMs - 10 * minuteMs, routes, document });
    await whole.exporter.start();
    await whole.pass(minuteMs);
    const before = sum(await whole.series(family));
    await whole.pass(25 * minuteMs);
    expect(sum(await whole.series(family)) - before).toBe(100 + 500);
  });
});
