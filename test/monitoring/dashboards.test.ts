import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { exporterRules } from '../../monitoring/src/exporter-rules.ts';
import { kinds } from '../../monitoring/src/kinds/index.ts';
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
import { mistakesIn, namedBy, readExpression, readFromAllAccounts } from './promql.ts';
import { alerts, records } from './rules-read.ts';

const folder = 'monitoring/dashboards';
const dashboards = [...buildDashboards()];
const window = { rangeSeconds: 3600, stepSeconds: 15 };
const exprOf = new Map(records.map(({ record, expr }) => [record, expr]));
const scope = ['cluster', 'namespace', 'job', 'account'];
const families = await knownFamilies();

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
  const panels = panelsOf(dashboard);
  const queries = [
    ...queriesOf(dashboard),
    ...variableQueries(dashboard).map(({ name, expr }) => ({ place: `variable ${name}`, expr })),
    ...annotationQueries(dashboard).map(({ name, expr }) => ({ place: `annotation ${name}`, expr })),
  ];

  it('gives each panel its own number', () => {
    const ids = panels.map(({ id }) => id ?? 0);
    expect(ids.every((id) => id > 0)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gives every panel a unit, a query, and a description that names the API field or says that there is none', () => {
    for (const panel of panels) {
      if (isRow(panel)) continue;
      expect(panel.fieldConfig?.defaults.unit, panel.title).toBeTruthy();
      expect(panel.targets?.length, panel.title).toBeGreaterThan(0);
      expect(panel.description, panel.title).toMatch(/API fields? |no API field|exporter's own counter/);
    }
  });

  it('says "(top 10)" where a panel shows the first of many', () => {
    for (const { title } of panels)
      expect(title).not.toMatch(/: (the |top )?\d+|\bthe \d+|, (in|of|by) |dearest/i);
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
        if (gridPos === undefined) throw new Error(`${title} has no place`);
        expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
        expected += gridPos.w * gridPos.h;
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) cells.add(`${x} ${y}`);
        }
      }
      expect(cells.size).toBe(expected);
    }
  });

  it('has no query of more than 520 characters, beside what keeps a graph going over a renaming', () => {
    for (const { place, expr } of queries) {
      const plain = expr.replaceAll(/ or \w+\{account=~"\$account\|"\} @ end\(\)/g, '');
      expect(plain.length, `${place}: ${expr}`).toBeLessThanOrEqual(520);
    }
  });

  it('begins with its alerts, and marks them and changes of the account in the charts', () => {
    const [heading, count, list] = panels;
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

  it('has a link from each row of a table and each number', () => {
    for (const panel of panels) {
      if (isRow(panel)) continue;
      if (panel.type === 'stat') expect(panel.fieldConfig?.defaults.links, panel.title).toHaveLength(1);
      if (panel.type === 'table')
        expect(JSON.stringify(panel.fieldConfig?.overrides), panel.title).toContain('"id":"links"');
    }
  });

  it('selects exporters by labels, all optional except the job', () => {
    const list = dashboard.templating.list ?? [];
    for (const name of scope) {
      expect(
        list.find((each) => each.name === name),
        name,
      ).toMatchObject({ allValue: '.*', includeAll: true, multi: true });
    }
    for (const { place, expr } of queries) {
      for (const [, name = '', , after] of expr.matchAll(/(\w+)=~"\$(cluster|namespace|account)(.?)"/g)) {
        expect(after, `${place}: ${name}`).toBe('|');
      }
      // At least one selector has the scope.
      if (!place.startsWith('variable')) expect(expr, place).toMatch(/job=~"\$job\|?"/);
    }
  });

  it('offers the accounts of the targets, in what each of its queries reads', () => {
    const account = dashboard.templating.list?.find(({ name }) => name === 'account');
    expect(account?.query).toMatchObject({
      query: expect.stringMatching(
        /^label_values\(\{__name__=~"bunnynet_\.\+_up",.*\}, account\)$/,
      ) as string,
    });
    for (const { place, expr } of queries) {
      if (!place.startsWith('variable')) expect(readFromAllAccounts(expr), `${place}: ${expr}`).toEqual([]);
    }
    for (const { name, expr } of variableQueries(dashboard)) {
      if (!['cluster', 'namespace', 'job', 'account', 'instance'].includes(name))
        expect(readFromAllAccounts(expr), name).toEqual([]);
    }
  });

  it('uses the data source of its variable', () => {
    for (const panel of panels) {
      if (!isRow(panel)) expect(panel.datasource?.uid, panel.title).toBe('${datasource}');
    }
    expect(dashboard.templating.list?.[0]).toMatchObject({ type: 'datasource', name: 'datasource' });
  });

  it('uses only its own variables', () => {
    const have = (dashboard.templating.list ?? []).map(({ name }) => name);
    for (const { place, expr } of queries) {
      for (const [, name] of expr.matchAll(/\$([a-z]+)\b/g)) expect(have, place).toContain(name);
    }
  });

  it('links to existing dashboards, with their variables', () => {
    const variables = new Map(
      dashboards.map(([, other]) => [other.uid, (other.templating.list ?? []).map(({ name }) => name)]),
    );
    for (const [, uid, query] of JSON.stringify(panels).matchAll(/"\/d\/([a-z-]+)\?([^"]*)"/g)) {
      const have = variables.get(uid);
      expect(have, uid).toBeDefined();
      for (const [, variable] of (query ?? '').matchAll(/var-([a-z]+)=/g)) expect(have).toContain(variable);
    }
    expect(dashboard.links).toMatchObject([{ type: 'dashboards', tags: ['bunnynet'], includeVars: true }]);
    expect(dashboard.tags).toContain('bunnynet');
  });

  it.each(queries)('asks only for metrics and labels that there are ($place): $expr', ({ expr }) => {
    expect(mistakesIn(substitute(expr, window), families, [...scope, 'instance', 'name'])).toEqual([]);
  });
});

describe('the alerts', () => {
  it.each(alerts)('$alert: a panel leads to its runbook', ({ alert, annotations }) => {
    const panels = dashboards.flatMap(([, dashboard]) => panelsOf(dashboard));
    const urls = panels.flatMap((panel) => (isRow(panel) ? [] : (panel.links ?? []).map(({ url }) => url)));
    expect(urls, alert).toContain(annotations['runbook_url']);
  });

  it('are those whose runbooks the panels lead to', () => {
    const known = alerts.map(({ annotations }) => annotations['runbook_url']);
    for (const [, dashboard] of dashboards) {
      for (const panel of panelsOf(dashboard)) {
        for (const { url } of isRow(panel) ? [] : (panel.links ?? []))
          expect(known, panel.title).toContain(url);
      }
    }
  });
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

  it.each(alerts)('marks it in its charts: $alert', ({ alert }) => {
    const marked = dashboards.flatMap(([, dashboard]) => {
      const [{ expr } = { expr: '' }] = annotationQueries(dashboard);
      const [, pattern = ''] = /alertname=~"(.+?)"/.exec(expr) ?? [];
      // A dashboard without alerts of its own marks the exporter's alerts on its kinds.
      return !expr.includes('kind=~') && new RegExp(`^(?:${pattern})$`).test(alert) ? [dashboard.uid] : [];
    });
    const [home = 'bunnynet-exporter'] = homesOf('alertname', alert);
    expect(new Set(marked)).toEqual(new Set([home, 'bunnynet-overview']));
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
    const shown = new Set(
      dashboards.flatMap(([, dashboard]) =>
        queriesOf(dashboard).flatMap(({ expr }) =>
          readExpression(substitute(expr, window)).selectors.flatMap((each) => {
            const metrics = namedBy(each, families.keys());
            const behind = metrics.map((metric) => readExpression(exprOf.get(metric) ?? '0'));
            return [
              ...metrics,
              ...behind.flatMap(({ selectors }) =>
                selectors.flatMap((inner) => namedBy(inner, families.keys())),
              ),
            ];
          }),
        ),
      ),
    );
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
