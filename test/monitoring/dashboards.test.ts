import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { exporterRules } from '../../monitoring/src/exporter-rules.ts';
import { kinds } from '../../monitoring/src/kinds/index.ts';
import { runbookUrl } from '../../monitoring/src/links.ts';
import { alerts } from '../../monitoring/src/rule-settings.ts';
import { alertsIn } from '../../monitoring/src/rules.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import {
  annotationQueries,
  isRow,
  panelsOf,
  queriesOf,
  substitute,
  variableQueries,
} from './dashboard-queries.ts';
import { knownFamilies } from './families.ts';
import { exprOf, mistakesIn, namedBy, readExpression, readFromAllAccounts } from './promql.ts';

const folder = 'monitoring/dashboards';
const dashboards = [...buildDashboards()];
/** All but the account, which some tests look for. */
const substitution = { rangeSeconds: 3600, stepSeconds: 15, variables: { account: '$account' } };
const scope = ['cluster', 'namespace', 'job', 'account'];
const families = await knownFamilies();
const titlesOf = (panels: ReturnType<typeof panelsOf>) => panels.map(({ title }) => title);

describe('the committed dashboards', () => {
  it.each(dashboards)('%s matches what the code builds', async (file, dashboard) => {
    await expect(`${JSON.stringify(dashboard, undefined, 2)}\n`).toMatchFileSnapshot(
      `../../${folder}/${file}`,
    );
  });

  // Not that none is missing: the snapshot above sees that, and writes a new file only after these tests.
  it('are the only files there', () => {
    expect(dashboards.map(([file]) => file)).toEqual(expect.arrayContaining(readdirSync(folder)));
  });

  it('have different addresses', () => {
    const uids = dashboards.map(([, { uid }]) => uid);
    expect(new Set(uids).size).toBe(dashboards.length);
  });
});

describe.each(dashboards)('%s', (_, dashboard) => {
  const all = panelsOf(dashboard);
  const panels = all.flatMap((panel) => (isRow(panel) ? [] : [panel]));
  const queries = [
    ...queriesOf(dashboard),
    ...variableQueries(dashboard).map(({ name, expr }) => ({ place: `variable ${name}`, expr })),
    ...annotationQueries(dashboard).map(({ name, expr }) => ({ place: `annotation ${name}`, expr })),
  ];

  it('gives each panel its own number', () => {
    const ids = all.map(({ id }) => id ?? 0);
    expect(ids.every((id) => id > 0)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gives every panel a unit, a query, and a description that names the API field or says that there is none', () => {
    const named = /API fields? |no API field|exporter's own counter/;
    const wrong = panels.filter(
      ({ fieldConfig, targets = [], description = '' }) =>
        !fieldConfig?.defaults.unit || targets.length === 0 || !named.test(description),
    );
    expect(titlesOf(wrong)).toEqual([]);
  });

  it('says "(top 10)" where a panel shows the first of many', () => {
    const wrong = /: (the |top )?\d+|\bthe \d+|, (in|of|by) |dearest/i;
    expect(titlesOf(all).filter((title = '') => wrong.test(title))).toEqual([]);
  });

  it('joins the columns of a table by labels alone: a bare selector would keep the name of its family, and its rows apart', () => {
    for (const panel of panels) {
      const asked = queries.filter(({ place }) => place === `${dashboard.title}: ${panel.title}`);
      if (panel.type !== 'table' || asked.length < 2) continue;
      for (const { expr } of asked.slice(1))
        expect(expr, panel.title).not.toMatch(/^[\w:]+(\{[^}]*\})?( and |$)/);
    }
  });

  it('lays its panels out without overlap, within 24 columns', () => {
    const top = dashboard.panels ?? [];
    // Panels in a closed row have the place that they get when it is opened.
    const closed = top.flatMap((panel) => ('panels' in panel ? [panel.panels] : []));
    for (const together of [top, ...closed]) {
      const cells = new Set<string>();
      let expected = 0;
      for (const { gridPos, title } of together) {
        if (gridPos === undefined || gridPos.x + gridPos.w > 24) throw new Error(`${title} has no place`);
        expected += gridPos.w * gridPos.h;
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) cells.add(`${x} ${y}`);
        }
      }
      expect(cells.size).toBe(expected);
    }
  });

  it('has no query of more than 560 characters, beside what keeps a graph going over a renaming', () => {
    const goingOn = / or \w+\{account=~"\$account\|"\} @ end\(\)/g;
    expect(queries.filter(({ expr }) => expr.replaceAll(goingOn, '').length > 560)).toEqual([]);
  });

  it('begins with its alerts, and marks them and changes of the account in the charts', () => {
    const [heading, count, list] = all;
    expect([heading?.title, count?.type, list?.type]).toEqual(['Alerts', 'stat', 'table']);
    for (const panel of [count, list])
      expect(JSON.stringify(panel)).toContain('bunnynet:firing_alerts:since_seconds{');
    expect(dashboard.annotations?.list?.slice(0, 2)).toMatchObject([
      {
        enable: true,
        expr: expect.stringMatching(/^ALERTS\{.*alertstate="firing"/) as string,
        titleFormat: '{{alertname}}',
      },
      {
        enable: true,
        expr: expect.stringContaining('bunnynet_audit_log_changes_total') as string,
        titleFormat: '{{product}}: {{action}}',
      },
    ]);
  });

  it('lists the worst alerts first, sorted by text as a table is', () => {
    const list = panels.find(({ title }) => title === 'Firing alerts');
    const ofSeverity = list?.fieldConfig?.overrides.find(({ matcher }) => matcher.options === 'Severity');
    const mappings = ofSeverity?.properties.find(({ id }) => id === 'mappings')?.value as readonly {
      readonly options: Readonly<Record<string, { readonly text?: string }>>;
    }[];
    const shown = Object.entries(mappings[0]?.options ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
    expect(shown.map(([sorted, { text = sorted }]) => text)).toEqual(['critical', 'warning', 'info']);
    const [expr = ''] = queries.flatMap(({ place, ...each }) =>
      place.endsWith(': Firing alerts') ? [each.expr] : [],
    );
    for (const [sorted, { text }] of shown)
      expect(expr.includes(`, "severity", "${sorted}", "severity", "${text}")`)).toBe(text !== undefined);
    expect(list?.options).toMatchObject({ sortBy: [{ displayName: 'Severity', desc: false }] });
  });

  it('has a link from each row of a table and each number', () => {
    const wrong = panels.filter(
      ({ type, fieldConfig }) =>
        (type === 'stat' && fieldConfig?.defaults.links?.length !== 1) ||
        (type === 'table' && !JSON.stringify(fieldConfig?.overrides).includes('"id":"links"')),
    );
    expect(titlesOf(wrong)).toEqual([]);
  });

  it('selects exporters by labels, all optional except the job', () => {
    const list = dashboard.templating.list ?? [];
    for (const name of scope) {
      expect(
        list.find((each) => each.name === name),
        name,
      ).toMatchObject({ allValue: '.*', includeAll: true, multi: true });
    }
    expect(queries.filter(({ expr }) => /=~"\$(cluster|namespace|account)[^|]?"/.test(expr))).toEqual([]);
    // At least one selector has the scope.
    const everywhere = queries.filter(({ expr }) => !/job=~"\$job\|?"/.test(expr));
    expect(everywhere.filter(({ place }) => !place.startsWith('variable'))).toEqual([]);
  });

  it('offers the accounts of the targets, in what each of its queries reads', () => {
    const account = dashboard.templating.list?.find(({ name }) => name === 'account');
    expect(account?.query).toMatchObject({
      query: expect.stringMatching(
        /^label_values\(\{__name__=~"bunnynet_\.\+_up",.*\}, account\)$/,
      ) as string,
    });
    const wrong = queries.filter(
      ({ expr }) => readFromAllAccounts(substitute(expr, substitution)).length > 0,
    );
    const free = [...scope, 'instance'].map((name) => `variable ${name}`);
    expect(wrong.filter(({ place }) => !free.includes(place))).toEqual([]);
  });

  it('uses the data source of its variable', () => {
    expect(new Set(panels.map(({ datasource }) => datasource?.uid))).toEqual(new Set(['${datasource}']));
    expect(dashboard.templating.list?.[0]).toMatchObject({ type: 'datasource', name: 'datasource' });
  });

  it('uses only its own variables', () => {
    const have = (dashboard.templating.list ?? []).map(({ name }) => name);
    const used = queries.flatMap(({ expr }) =>
      Array.from(expr.matchAll(/\$([a-z]+)\b/g), ([, name]) => name),
    );
    expect(have).toEqual(expect.arrayContaining([...new Set(used)]));
  });

  it('links to existing dashboards, with their variables', () => {
    const variables = new Map(
      dashboards.map(([, other]) => [other.uid, (other.templating.list ?? []).map(({ name }) => name)]),
    );
    const links = [...JSON.stringify(all).matchAll(/"\/d\/([a-z-]+)\?([^"]*)"/g)];
    const dead = links.filter(([, uid, query = '']) => {
      const have = variables.get(uid);
      return (
        !have || [...query.matchAll(/var-([a-z]+)=/g)].some(([, variable = '']) => !have.includes(variable))
      );
    });
    expect(dead).toEqual([]);
    expect(dashboard.links).toMatchObject([{ type: 'dashboards', tags: ['bunnynet'], includeVars: true }]);
    expect(dashboard.tags).toContain('bunnynet');
  });

  it('asks only for metrics and labels that there are', () => {
    const moreLabels = [...scope, 'instance', 'name'];
    const wrong = queries.flatMap(({ place, expr }) => {
      const mistakes = mistakesIn(substitute(expr, substitution), families, moreLabels);
      return mistakes.length > 0 ? [{ place, expr, mistakes }] : [];
    });
    expect(wrong).toEqual([]);
  });
});

it('the runbooks of the alerts are those that the panels lead to', () => {
  const panels = dashboards.flatMap(([, dashboard]) => panelsOf(dashboard));
  const urls = panels.flatMap((panel) => (isRow(panel) ? [] : (panel.links ?? []).map(({ url }) => url)));
  expect(new Set(urls)).toEqual(new Set(alerts.map(({ alert }) => runbookUrl(alert))));
});

describe('the dashboard of an alert', () => {
  const picks = [
    ...(exprOf.get('bunnynet:firing_alerts:since_seconds') ?? '').matchAll(
      /"dashboard", "([\w-]+)", "(alertname|kind)", "(.+?)"\)/g,
    ),
  ];
  const homesOf = (label: string, value: string) =>
    picks.flatMap(([, uid, by, pattern]) =>
      by === label && new RegExp(`^(?:${pattern})$`).test(value) ? [uid] : [],
    );

  it.each(kinds)('on a $kind is the one that has its rows', ({ kind, rows, rules }) => {
    const uids = new Set(rows.map(({ dashboard }) => dashboard.uid));
    uids.delete('bunnynet-overview');
    expect(uids.size).toBe(1);
    expect(homesOf('kind', kind)).toEqual([...uids]);
    const own = { ...rules?.alerts, ...rules?.more?.alerts };
    for (const alert of Object.keys(own)) {
      expect(homesOf('alertname', alert), alert).toEqual([...uids]);
    }
  });

  it.each(alertsIn(exporterRules))(
    'on the exporter itself is the dashboard of the exporter: $alert',
    ({ alert }) => {
      expect(homesOf('alertname', alert)).toEqual([]);
    },
  );

  it('marks it in its charts, and so does the overview', () => {
    const marking = dashboards.flatMap(([, dashboard]) => {
      const [{ expr } = { expr: '' }] = annotationQueries(dashboard);
      const [, pattern = ''] = /alertname=~"(.+?)"/.exec(expr) ?? [];
      // A dashboard without alerts of its own marks the exporter's alerts on its kinds.
      return expr.includes('kind=~') ? [] : [{ uid: dashboard.uid, pattern: new RegExp(`^(?:${pattern})$`) }];
    });
    for (const { alert } of alerts) {
      const marked = marking.filter(({ pattern }) => pattern.test(alert)).map(({ uid }) => uid);
      const [home = 'bunnynet-exporter'] = homesOf('alertname', alert);
      expect(new Set(marked), alert).toEqual(new Set([home, 'bunnynet-overview']));
    }
  });
});

describe('the kinds', () => {
  it('with panels or rules are kinds of the exporter, each once', () => {
    const names = kinds.map(({ kind }) => kind);
    expect(new Set(names).size).toBe(names.length);
    expect(resources.map(({ kind }) => kind)).toEqual(expect.arrayContaining(names));
  });
});

describe('the dashboards together', () => {
  it('show every value that the exporter reads', () => {
    const namesIn = (expr: string) =>
      readExpression(expr).selectors.flatMap((each) => namedBy(each, families.keys()));
    const asked = dashboards.flatMap(([, dashboard]) =>
      queriesOf(dashboard).map(({ expr }) => substitute(expr, substitution)),
    );
    const named = new Set([...new Set(asked)].flatMap(namesIn));
    const behind = [...named].flatMap((name) => namesIn(exprOf.get(name) ?? '0'));
    const shown = new Set([...named, ...behind]);
    const hidden = [...families].filter(([name, labels]) => labels !== undefined && !shown.has(name));
    const names = hidden.map(([name]) => name);
    // Today's figures, where the counter is shown.
    const days = names.filter((name) => shown.has(name.replace(/_latest_day$/, '_total')));
    expect(names.filter((name) => !days.includes(name))).toEqual([
      // Only with latency_chart: points, for users' own charts.
      'bunnynet_application_latency_chart_points',
      'bunnynet_application_latency_chart_seconds',
      // Limits and settings that are only for users' own queries and rules.
      'bunnynet_application_pod_outbound_connections_limit',
      'bunnynet_shield_zone_waf_request_header_logging_enabled',
      'bunnynet_shield_zone_request_body_logging_enabled',
      'bunnynet_shield_zone_waf_request_ignored_headers',
      'bunnynet_shield_zone_waf_engine_config_entries',
      'bunnynet_shield_zone_waf_request_body_limit_action',
      'bunnynet_shield_zone_waf_response_body_limit_action',
      'bunnynet_shield_zone_ddos_challenge_window',
      'bunnynet_shield_zone_whitelabel_response_pages',
      'bunnynet_shield_access_lists_list_enabled',
      'bunnynet_shield_access_lists_list_entries',
      'bunnynet_shield_rate_limit_logged_breaches_28d',
      'bunnynet_shield_rate_limit_challenged_breaches_28d',
      // The dashboard shows all requests minus those to the origin instead.
      'bunnynet_pull_zone_cached_requests_latest_day',
      // For users' own rules about a record that somebody has switched off.
      'bunnynet_dns_record_enabled',
    ]);
  });
});
