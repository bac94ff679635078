/** Alerts that hold themselves, across a restart of Prometheus: promtool cannot restart, so samples of ALERTS are left out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { buildRuleFiles, readSettings } from '../../monitoring/src/rule-files.ts';
import { alerts as declared } from '../../monitoring/src/rule-settings.ts';
import { alerts } from '../monitoring/rules-read.ts';
import { promtool } from './promtool.ts';

const folder = mkdtempSync(join(tmpdir(), 'held-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function check(name: string, tests: object): Promise<void> {
  const file = join(folder, `${name}.test.yml`);
  writeFileSync(file, stringify({ evaluation_interval: '1m', ...tests }));
  expect(await promtool('test', 'rules', file)).toContain('SUCCESS');
}

const exporter = 'namespace="edge",job="bunnynet",instance="exporter:10057"';

/** Asks how many series there are. */
const counted = (expr: string, eval_time: string, value: number) => ({
  expr: `count(${expr}) or vector(0)`,
  eval_time,
  exp_samples: [{ labels: '{}', value }],
});

/** By its own series alone, where nothing else is there. */
const held = alerts.filter(
  ({ alert, expr }) =>
    expr.includes(`ALERTS{alertname="${alert}"`) &&
    (alert === 'BunnynetExporterDown' || declared.find((each) => each.alert === alert)?.presence),
);

it('three evaluations without ALERTS end none of them, and none is held without ALERTS for ever', async () => {
  expect(held.length).toBeGreaterThan(30);
  // Of each alert the expression alone, with the series that it reads of itself and of what cannot be read.
  const tests = held.map(({ alert, expr }) => {
    const ids = declared.find((each) => each.alert === alert)?.presence?.ids ?? [];
    const labels = [exporter, ...ids.filter((id) => id !== 'instance').map((id) => `${id}="x"`)].join(',');
    const [, unread] = /and on \([^)]*\) \(?(bunnynet:\w+_unread)\b(?: or on .*)?$/m.exec(expr) ?? [];
    const target = labels.replace(/job="\w+",instance="[^"]+",?/, '');
    return {
      interval: '1m',
      input_series: [
        { series: `ALERTS{alertname="${alert}",alertstate="firing",${labels}}`, values: '1x10' },
        { series: `up{${exporter}}`, values: '0x30' },
        ...(unread ? [{ series: `${unread}{${target}}`, values: '1x30' }] : []),
      ],
      promql_expr_test: [counted(expr, '10m', 1), counted(expr, '16m', 1), counted(expr, '18m', 0)],
    };
  });
  await check('gap', { tests });
});

it('an alert that has ended is not taken up again when its target cannot be read right after', async () => {
  // One that fires at once and is not kept: nothing else delays it.
  const alert = 'BunnynetApplicationSuspended';
  const settings = readSettings(JSON.stringify({ alerts: { [alert]: { for: '0m' } } }));
  writeFileSync(join(folder, 'application.yml'), buildRuleFiles(settings).get('application.yml') ?? '');
  const series = (name: string, labels: string, values: string) => ({
    series: `${name}{${[exporter, labels].filter(Boolean).join(',')}}`,
    values,
  });
  const firing = `ALERTS{alertname="${alert}",alertstate="firing"}`;
  // Suspended for 20 minutes; then it has a good reading for a minute and more, and none after it.
  const lengths = [4, 6, 8, 12, 16];
  await check('ended', {
    rule_files: ['application.yml'],
    tests: lengths.map((good) => ({
      interval: '15s',
      input_series: [
        series('up', '', '1x240'),
        series('bunnynet_exporter_build_info', '', '1x240'),
        series('bunnynet_application_up', 'app_id="a"', `1x${80 + good} 0x160`),
        series('bunnynet_application_status', 'app_id="a",status="suspended"', `1x80 0x${good - 1} stale`),
        series('bunnynet_application_status', 'app_id="a",status="active"', `0x80 1x${good - 1} stale`),
      ],
      promql_expr_test: [
        counted(firing, '20m', 1),
        ...Array.from({ length: 20 }, (_, minute) => counted(firing, `${22 + minute}m`, 0)),
      ],
    })),
  });
});
