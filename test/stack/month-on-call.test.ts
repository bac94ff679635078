/**
 * A month on call: incidents, and what only looks like one, as exporters, rules and Alertmanager with the file of docs/alerts.md tell
 * them. Nobody may be told what is not so, too late, twice, or after the end. A third of it is drawn anew each night: `MONTH_SEED` plays
 * a night again, `MONTH_DAYS` only some of its days.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildRuleFiles, readSettings } from '../../monitoring/src/rule-files.ts';
import { accountNames } from './month/accounts.ts';
import type { Day } from './month/happenings.ts';
import { monthOf } from './month/month.ts';
import { notify } from './month/notifications.ts';
import { evaluate, type Firing, type Scraped, withoutUnread } from './month/rules.ts';
import { familiesIn, Samples } from './month/samples.ts';
import { minuteMs, openStage } from './month/stage.ts';
import { judge, type Verdict } from './month/verdict.ts';
import { stopAll } from './processes.ts';

const seed = Number(process.env['MONTH_SEED'] ?? Math.floor(Date.now() / 86_400_000));
const wanted = process.env['MONTH_DAYS']?.split(',');
const days = monthOf(seed).filter(({ name }) => wanted?.includes(name) ?? true);

/** Rules with a mistake, each of which a day must show. */
const mutants = [
  { mistake: 'a threshold', alerts: { BunnynetApplicationMemoryNearLimit: { thresholds: { share: 0.98 } } } },
  { mistake: 'a for', alerts: { BunnynetApplicationFailing: { for: '0m' } } },
  { mistake: 'a label', alerts: { BunnynetDatabaseBlocked: { labels: { severity: 'warning' } } } },
].map((mutant) => ({ ...mutant, day: 'things' }));

const rules = withoutUnread(buildRuleFiles());
const isRead = familiesIn([...rules.values()].join('\n'));

interface Played extends Scraped {
  readonly day: Day;
}

/** The years have the same days as 1970, in which promtool's time begins. */
const yearMs = Date.UTC(2026, 0);

async function play(day: Day, folder: string): Promise<Played> {
  const beginsMs = Date.parse(day.begins);
  const offset = day.hasCalendar ? (beginsMs - yearMs) / minuteMs : 0;
  const samples = new Samples(isRead, beginsMs / 1000 - 60 * offset, offset);
  const stage = openStage({ beginsMs, folder, kinds: day.kinds, samples });
  for (const [name, options] of Object.entries(day.exporters ?? { main: {} })) await stage.add(name, options);
  const ends = new Map<number, (() => unknown)[]>();
  const missed: number[] = [];
  for (let minute = 0; minute < day.minutes; minute++) {
    for (const end of ends.get(minute) ?? []) await end();
    for (const { at, lasts, does } of day.happenings) {
      if (at !== minute) continue;
      const end = await does(stage);
      if (end) ends.set(at + lasts, [...(ends.get(at + lasts) ?? []), end]);
    }
    if (!(await stage.passMinute())) missed.push(offset + minute);
  }
  return { day, samples, offset, missed, evaluatedEach: day.evaluatedEach ?? '1m' };
}

describe(`a month on call, with the seed ${seed}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'month-'));
  afterAll(async () => {
    await stopAll();
    rmSync(folder, { recursive: true });
  });
  const timeout = 3_600_000;
  /** By the names of days, and of mutants. */
  const played = new Map<string, Played>();
  const evaluated = new Map<string, Promise<readonly Firing[]>>();
  const ownFolder = (name: string) => {
    const own = join(folder, name);
    mkdirSync(own);
    return own;
  };
  const begin = (name: string, one: Played, firing: Promise<readonly Firing[]>) => {
    played.set(name, one);
    // Whoever waits for it is told, too.
    firing.catch(() => undefined);
    evaluated.set(name, firing);
  };
  const firingOf = (name: string, one: Played, files = rules) =>
    evaluate(ownFolder(`rules of ${name}`), files, one);
  /** Only the files that differ are evaluated again. */
  const firingWith = async (mistake: string, one: Played, alerts: object) => {
    const files = withoutUnread(buildRuleFiles(readSettings(JSON.stringify({ alerts }))));
    const changed = new Map([...files].filter(([name, text]) => text !== rules.get(name)));
    const isOther = ({ labels: { alertname = '' } }: Firing) => alertname in alerts;
    const [usual = [], other] = await Promise.all([
      evaluated.get(one.day.name),
      firingOf(mistake, one, changed),
    ]);
    return [...usual.filter((each) => !isOther(each)), ...other.filter(isOther)];
  };

  it.each(days)('plays $name', { timeout }, async (day) => {
    // One promtool is at work meanwhile.
    await [...evaluated.values()].at(-2)?.catch(() => undefined);
    const one = await play(day, ownFolder(day.name));
    begin(day.name, one, firingOf(day.name, one));
    for (const { mistake, day: of, alerts } of mutants)
      if (of === day.name) begin(mistake, one, firingWith(mistake, one, alerts));
  });

  const verdicts = new Map<string, Verdict>();
  it('tells what is so, in time and once, and nothing else', { timeout }, async () => {
    const firing = new Map<string, readonly Firing[]>();
    for (const [name, one] of evaluated) firing.set(name, await one);
    const told = await notify(folder, firing);
    for (const [name, { day, offset }] of played)
      verdicts.set(name, judge(day, firing.get(name) ?? [], told.get(name) ?? [], accountNames, offset));
    const ofDays = days.flatMap(({ name }) => verdicts.get(name) ?? []);
    const sum = (figure: 'told' | 'rightly' | 'expected' | 'inTime') =>
      ofDays.reduce((all, verdict) => all + verdict[figure], 0);
    const faults = ofDays.flatMap((verdict) => verdict.faults);
    const incidents = days.flatMap(({ happenings }) => happenings).map(({ tells = [] }) => tells.length > 0);
    process.stdout.write(
      `${incidents.filter(Boolean).length} incidents, ${incidents.filter((is) => !is).length} benign events: ` +
        `precision ${sum('rightly')}/${sum('told')}, recall ${sum('inTime')}/${sum('expected')}\n${faults.join('\n')}\n`,
    );
    expect(faults).toEqual([]);
  });

  it.each(mutants.filter(({ day }) => days.some(({ name }) => name === day)))(
    'is red with a mistake in $mistake',
    ({ mistake, day }) => {
      const faults = new Set(verdicts.get(day)?.faults);
      expect(verdicts.get(mistake)?.faults.filter((fault) => !faults.has(fault))).not.toEqual([]);
    },
  );
});
