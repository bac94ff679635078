import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertLists } from '../../monitoring/src/alerts-reference.ts';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import {
  buildChartRules,
  buildHistoryRules,
  buildRuleFiles,
  historyRulesFile,
  readSettings,
  rulesFolder,
} from '../../monitoring/src/rule-files.ts';
import { alerts as declared, ruleSets } from '../../monitoring/src/rule-settings.ts';
import { monthTable } from '../stack/month/table.ts';
import { annotationQueries, queriesOf } from './dashboard-queries.ts';
import { knownFamilies } from './families.ts';
import { exprOf, mistakesIn } from './promql.ts';
import { readCaseFiles } from './rule-cases.ts';
import { alerts, nameOf, rules } from './rules-read.ts';

const built = buildRuleFiles();
const families = await knownFamilies();
const panels = [...buildDashboards().values()].flatMap((each) => [
  ...queriesOf(each),
  ...annotationQueries(each),
]);
const caseFiles = readCaseFiles();
const cases = caseFiles.flatMap(({ tests }) => tests.flatMap((test) => test.alert_rule_test ?? []));
const runbooksFolder = 'docs/runbooks';
const repository = 'https://github.com/bunnynet-exporter/bunnynet-exporter/blob/main/';

/** Checks that nothing fires, except for the alerts that the expression leaves out. */
function silencesOf(alert: string) {
  const withAlert = caseFiles.filter(({ rule_files }) =>
    rule_files.some((path) => built.get(basename(path))?.includes(`alert: ${alert}\n`)),
  );
  return withAlert
    .flatMap(({ tests }) => tests.flatMap((test) => test.promql_expr_test ?? []))
    .filter(
      ({ expr, exp_samples }) => expr.startsWith('ALERTS{alertstate="firing"') && exp_samples.length === 0,
    )
    .filter(({ expr }) => !expr.includes(alert));
}

describe('the committed rule files', () => {
  it.each([...built])('%s matches what the code builds', async (file, text) => {
    await expect(text).toMatchFileSnapshot(`../../${rulesFolder}/${file}`);
  });

  // Not that none is missing: the snapshot above sees that, and writes a new file only after these tests.
  it('are the only files there', () => {
    expect([...built.keys()]).toEqual(expect.arrayContaining(readdirSync(rulesFolder)));
  });
});

describe('the rules for a history', () => {
  it('are what the code builds', async () => {
    await expect(buildHistoryRules()).toMatchFileSnapshot(`../../${historyRulesFile}`);
  });

  const recorded = [...buildHistoryRules().matchAll(/record: (\S+)/g)].map(([, name]) => name);

  it('record each name that the dashboards show, and hold no alert', () => {
    const shown = panels.flatMap(({ expr }) => expr.match(/bunnynet:\w+_display\b(:zone)?/g) ?? []);
    expect(new Set(recorded)).toEqual(new Set([...recorded, ...shown]));
    expect(buildHistoryRules()).not.toMatch(/alert:|ALERTS/);
  });

  it('record all that a panel reads and of which a history has everything, and no more', () => {
    // What a history of all kinds has, as it was written.
    const written = readFileSync('test/backfill/__snapshots__/backfill.test.ts.snap', 'utf8');
    const has = (name: string) => written.includes(`"${name}"`) || recorded.includes(name);
    const namesIn = (expr = '') => expr.match(/\bbunnynet[:_][\w:]+/g) ?? [];
    const read = new Set<string>();
    for (const name of panels.flatMap(({ expr }) => namesIn(expr))) {
      for (const one of [name, ...namesIn(exprOf.get(name))]) if (exprOf.has(one)) read.add(one);
    }
    const given = [...read].filter((record) => {
      const names = namesIn(exprOf.get(record)?.split('or on')[0]);
      return names.length > 0 && names.every(has);
    });
    expect(given).toContain('bunnynet:pull_zone_cached_requests:ratio1h');
    expect(new Set(recorded)).toEqual(new Set([...given, 'bunnynet:video_display']));
  });
});

describe('the rules', () => {
  it('name each alert and each record once, and lack none that is declared', () => {
    const names = rules.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    const all = [...declared.map(({ alert }) => alert), ...exprOf.keys()];
    expect(new Set(names)).toEqual(new Set(all));
  });

  it('name only metrics that there are, and take a growth only of what grows', () => {
    const wrong = rules.flatMap((rule) => {
      const mistakes = mistakesIn(rule.expr, families, ['job', 'instance']);
      return mistakes.length > 0 ? [{ rule: nameOf(rule), mistakes }] : [];
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['sum by (app_id) (up', ['sum by (app_id) (up']],
    ['bunnynet_nothing', ['no metric bunnynet_nothing']],
    ['{__name__=~"bunnynet_n.+g"}', ['no metric like /^(?:bunnynet_n.+g)$/']],
    [
      '{__name__=~"bunnynet_(dns|pull)_zone_up",a!=""}',
      ['bunnynet_pull_zone_up bunnynet_dns_zone_up: no label a'],
    ],
    [
      'increase((bunnynet_application_monthly_cost_dollars > 0)[1h:1m])',
      ['increase(bunnynet_application_monthly_cost_dollars)'],
    ],
    ['deriv(bunnynet_billing_monthly_charges_dollars[1d])', []],
  ])('would be found wrong if they were like %s', (expr, mistakes) => {
    expect(mistakesIn(expr, families, []).map((each) => each.trim())).toEqual(mistakes);
  });
});

it('evaluates every minute what waits for less than ten: before 3.16 Prometheus begins such a wait again when it restarts', () => {
  for (const { interval, alerts: own, name } of [...ruleSets.values()].flatMap(({ groups }) => groups))
    for (const { for: wait, held } of own)
      if (held !== false && /^[1-9]m$/.test(wait)) expect(interval, name).toBe('1m');
});

describe('the texts of the rules', () => {
  const texts = [...built.values(), ...buildChartRules().values()].join('');

  it('have a placeholder for each threshold, and no other', () => {
    expect([...built.values()].join('')).not.toContain('[[');
    for (const { alert, expr, summary, description, thresholds = {} } of declared) {
      const places = [...`${expr}${summary}${description}`.matchAll(/\[\[(\w+)\]\]/g)].map(
        ([, name]) => name,
      );
      const names = new Set(places.filter((name) => name !== 'for'));
      expect(names, alert).toEqual(new Set(Object.keys(thresholds)));
    }
  });

  it('leaves the cluster and the namespace to every grouping and every match', () => {
    // Records for the dashboards match by ids alone.
    const ofDashboards = [...ruleSets.values()]
      .flatMap(({ groups }) => groups.flatMap(({ records }) => records))
      .filter(({ forDashboards }) => forDashboards);
    expect(ofDashboards.length).toBeGreaterThan(10);
    const written = texts
      .split('\n      - ')
      .filter((text) => !ofDashboards.some(({ record }) => text.startsWith(`record: ${record}\n`)));
    const lists = [
      ...written.join('').matchAll(/\b(?:by|on|without|ignoring|group_left|group_right) ?\(([^)]*)\)/g),
    ];
    expect(lists.length).toBeGreaterThan(100);
    const without = lists.filter(
      ([whole, labels = '']) =>
        /^(by|on)/.test(whole) && whole !== 'on ()' && !labels.startsWith('cluster, namespace, '),
    );
    expect(without).toEqual([]);
  });

  it('read right for an alert that fires at once, and for one of everything', () => {
    const once = (thresholds: object) => Object.fromEntries(Object.keys(thresholds).map((name) => [name, 1]));
    const settings = declared.map(({ alert, thresholds }) => [
      alert,
      { for: '0m', ...(thresholds && { thresholds: once(thresholds) }) },
    ]);
    const set = readSettings(JSON.stringify({ alerts: Object.fromEntries(settings) as object }));
    const told = [...buildRuleFiles(set).values()].flatMap(
      (text) => text.match(/ summary: .+?(?= runbook_url: )/gs) ?? [],
    );
    expect(told).toHaveLength(declared.length);
    for (const text of told) {
      const read = text.replaceAll(/\s+/g, ' ').replaceAll(/\{\{ \$value.*?\}\}/g, '1');
      expect(read).not.toMatch(/\b0m\b|\b1 [a-z]+s\b|\bfor( or more)?[.,:;]|\[\[/);
    }
  });

  it('read no scrapes of less than ten minutes: there may be five between two of them', () => {
    const short = [...rules, ...panels].filter(({ expr }) => /\[(\d+s|\dm)\]/.test(expr));
    expect(short).toEqual([]);
  });

  it('are the committed files if nothing is set', () => {
    expect(buildRuleFiles(readSettings(''))).toEqual(built);
  });
});

describe.each(alerts)('$alert', ({ alert, labels, annotations, expr }) => {
  it('has a severity, a summary, a description and a runbook', () => {
    // As a template, the severity that the expression gives, or else the one in the template.
    const severity = labels['severity'] ?? '';
    const [, otherwise = severity] = /^\{\{ or \$labels\.severity "(\w+)" \}\}$/.exec(severity) ?? [];
    const given = [...expr.matchAll(/"severity", "(\w+)"/g)].map(([, each]) => each);
    expect(given.length > 0).toBe(otherwise !== severity);
    expect(['critical', 'warning', 'info']).toEqual(expect.arrayContaining([otherwise, ...given]));
    expect(annotations['summary']).toBeTruthy();
    expect(annotations['description']).toBeTruthy();
    const runbook = `${runbooksFolder}/${alert}.md`;
    expect(annotations['runbook_url']).toBe(repository + runbook);
    expect(existsSync(runbook), runbook).toBe(true);
    expect(readFileSync(runbook, 'utf8')).toMatch(
      new RegExp(`^# ${alert}\n\n[^]+\n## Meaning\n\n[^]+\n## Look\n\n[^]+\n## Do\n\n[^]+\n$`),
    );
  });

  it('is about a thing, an account, a field or the process, and has the labels of that alone', () => {
    const { sort, presence } = declared.find((each) => each.alert === alert) ?? {};
    const isOfNone = sort === 'process' || sort === 'field';
    const fired = cases.filter(({ alertname }) => alertname === alert);
    const found = fired.flatMap(({ exp_alerts }) =>
      exp_alerts.map(({ exp_labels }) => Object.keys(exp_labels)),
    );
    expect(found).not.toEqual([]);
    for (const names of found) {
      expect(names.includes('job'), alert).toBe(sort === 'process');
      expect(names.includes('instance'), alert).toBe(sort === 'process');
      // Without an account where there never was an exporter, and of a target whose exporter does not say.
      if (isOfNone || alert === 'BunnynetExporterAbsent') continue;
      for (const id of presence?.ids ?? []) expect(names, alert).toContain(id);
    }
    const accounts = found.map((names) => names.includes('account'));
    expect(accounts.includes(true), alert).toBe(!isOfNone);
    if (sort === undefined && presence?.ids.includes('account') === false)
      expect(labels['account']).toMatch(/^\{\{ with query .*_configured\{.*label "account"/);
  });

  it('has a case in which it fires, with the namespace of its series, and one in which it does not', () => {
    const own = cases.filter(({ alertname }) => alertname === alert);
    const fired = own.flatMap(({ exp_alerts }) => exp_alerts.map(({ exp_labels }) => exp_labels));
    expect(fired).toContainEqual(expect.objectContaining({ namespace: 'edge' }));
    const isSilent = own.some(({ exp_alerts }) => exp_alerts.length === 0) || silencesOf(alert).length > 0;
    expect(isSilent).toBe(true);
  });

  it('refers only to itself, not to other alerts', () => {
    for (const [, name] of expr.matchAll(/or max by [^\n]*ALERTS\{alertname="(\w+)"/g))
      expect(name).toBe(alert);
  });
});

describe('the documents', () => {
  it('have a runbook for each alert and no other', () => {
    expect(readdirSync(runbooksFolder).toSorted()).toEqual(
      alerts.map(({ alert }) => `${alert}.md`).toSorted(),
    );
  });

  it('name in runbooks only dashboards, panels and legends that there are', () => {
    const dashboards = [...buildDashboards().values()].map((dashboard) => JSON.stringify(dashboard));
    for (const { alert } of alerts) {
      const runbook = readFileSync(`${runbooksFolder}/${alert}.md`, 'utf8');
      for (const [, name = ''] of runbook.matchAll(/\b_(.+?)_(?!\w)/g))
        expect(
          dashboards.some((text) => text.includes(`"${name}`)),
          `${alert}: ${name}`,
        ).toBe(true);
    }
  });

  const reference = readFileSync('docs/alerts.md', 'utf8');

  it('show settings that are accepted', () => {
    const [, example = ''] = /```yaml\n(disabled: [^`]+)```/.exec(reference) ?? [];
    const set = buildRuleFiles(readSettings(example));
    expect(set.get('shield-zone.yml')).not.toContain('BunnynetShieldWafLogOnly');
    expect(set.get('application.yml')).toContain('> 5 *');
    expect(set.get('application.yml')).toContain(
      ') unless on (cluster, namespace, app_id) bunnynet:application_configured{app_id=~"HbqFNk0KZjzYOcp"}',
    );
  });

  it('list the alerts as the rules have them, and who is told what in the month on call', async () => {
    const [text = ''] = reference.split(/^(?=## \S+\.yml$)/m);
    const prose = text.replace(/\| what happens \|.*?(?=\n## )/s, monthTable);
    expect(alertLists()).not.toContain('{{');
    await expect(`${prose}${alertLists()}`).toMatchFileSnapshot('../../docs/alerts.md');
  });
});
