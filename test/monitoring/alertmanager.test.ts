/** Alertmanager's settings in docs/alerts.md, against the rules whose alerts they inhibit and route. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruleSets } from '../../monitoring/src/rule-settings.ts';
import type { Alert } from '../../monitoring/src/rules.ts';

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

const [, shown = ''] =
  /## Alertmanager\n.*?```yaml\n(.*?)```/s.exec(readFileSync('docs/alerts.md', 'utf8')) ?? [];
const { inhibit_rules: inhibitRules } = parse(shown) as { readonly inhibit_rules: readonly InhibitRule[] };

const unitMinutes = { m: 1, h: 60, d: 1440 } as const;

function minutesOf(duration: string): number {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(duration) ?? [];
  return Number(count) * unitMinutes[unit as 'm' | 'h' | 'd'];
}

/** How long each alert fires on after its condition, at most. */
const tails = new Map(
  [...ruleSets.values()].flatMap(({ groups }) =>
    groups.flatMap(({ interval, alerts }) =>
      alerts.map((alert) => [
        alert.alert,
        { alert, minutes: minutesOf(alert.keepFiringFor ?? '0m') + minutesOf(interval) },
      ]),
    ),
  ) as readonly (readonly [string, { readonly alert: Alert; readonly minutes: number }])[],
);

function namesIn(matchers: readonly string[]): readonly string[] {
  const [, pattern = ''] = matchers.flatMap((each) => /^alertname=~?"(.*)"$/.exec(each) ?? []);
  return [...tails.keys()].filter((name) => new RegExp(`^(?:${pattern})$`).test(name));
}

/** An evaluation, a scrape, and the default group_interval of Alertmanager, in which what is no longer inhibited is told. */
const slackMinutes = 1 + 1 + 5;

const pairs = inhibitRules.flatMap(({ source_matchers, target_matchers }) =>
  namesIn(source_matchers).flatMap((source) =>
    namesIn(target_matchers).map((target) => ({ source, target })),
  ),
);

describe('what inhibits', () => {
  it('is an alert that there is, as is what it inhibits', () => {
    expect(pairs.length).toBeGreaterThan(10);
    for (const { source_matchers, target_matchers } of inhibitRules)
      for (const matchers of [source_matchers, target_matchers])
        for (const name of /^alertname=~?"(.*)"$/
          .exec(matchers.find((each) => each.startsWith('alertname')) ?? '')?.[1]
          ?.split('|') ?? [''])
          expect(tails.has(name), name).toBe(true);
  });

  // Of one rule, both end in one evaluation.
  it.each(pairs.filter(({ source, target }) => source !== target))(
    'outlives what it inhibits: $source $target',
    ({ source, target }) => {
      expect(tails.get(source)?.minutes).toBeGreaterThanOrEqual(
        (tails.get(target)?.minutes ?? Number.NaN) + slackMinutes,
      );
    },
  );
});

/** As Alertmanager matches: a label that is missing is empty. */
function matches(matchers: readonly string[], labels: Readonly<Record<string, string>>): boolean {
  return matchers.every((each) => {
    const [, name = '', operator, value = ''] = /^(\w+)(=~|=)"(.*)"$/.exec(each) ?? [];
    const own = labels[name] ?? '';
    return operator === '=~' ? new RegExp(`^(?:${value})$`).test(own) : own === value;
  });
}

function inhibits(
  source: Readonly<Record<string, string>>,
  target: Readonly<Record<string, string>>,
): boolean {
  return inhibitRules.some(
    ({ source_matchers, target_matchers, equal }) =>
      matches(source_matchers, source) &&
      matches(target_matchers, target) &&
      equal.every((name) => (source[name] ?? '') === (target[name] ?? '')),
  );
}

describe('an alert', () => {
  const acme = { cluster: 'a', namespace: 'edge', account: 'acme' };
  const api = { alertname: 'BunnynetApiUnreadable', ...acme };
  const unreadable = { alertname: 'BunnynetAccountUnreadable', severity: 'critical', ...acme };
  const kind = { alertname: 'BunnynetKindUnreadable', severity: 'warning', kind: 'video_encoding', ...acme };

  it('about an API of several hides what is of that API, and no account that answers 403 to everything', () => {
    const video = { ...api, api: 'video', severity: 'warning' };
    expect(inhibits(video, { ...kind, api: 'video' })).toBe(true);
    expect(inhibits(video, { ...kind, api: 'core' })).toBe(false);
    expect(inhibits(video, unreadable)).toBe(false);
    expect(inhibits({ ...api, severity: 'critical' }, unreadable)).toBe(true);
  });

  it.each(['cluster', 'namespace', 'account'])('hides nothing of another %s', (label) => {
    for (const source of [{ ...api, severity: 'critical' }, unreadable]) {
      expect(inhibits(source, { ...kind, api: 'video' })).toBe(true);
      expect(inhibits(source, { ...kind, api: 'video', [label]: 'other' })).toBe(false);
    }
  });

  it('hides the same whoever saw it', () => {
    for (const { equal } of inhibitRules) {
      expect(equal).toEqual(expect.arrayContaining(['cluster', 'namespace', 'account']));
      expect(equal).not.toContain('instance');
      expect(equal).not.toContain('job');
    }
  });
});
