import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { casesFolder } from '../monitoring/rule-cases.ts';
import { promtool, testRules } from './promtool.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('promtool', () => {
  it('finds nothing wrong with the rules', async () => {
    const files = readdirSync(rulesFolder).map((file) => `${rulesFolder}/${file}`);
    expect((await promtool('check', 'rules', ...files)).match(/SUCCESS/g)).toHaveLength(files.length);
  });

  // In parallel, to use both cores.
  it.concurrent.each(readdirSync(casesFolder))('sees the rules fire and stay silent as in %s', (file) =>
    testRules(`${casesFolder}/${file}`),
  );
});

describe('npm run rules', () => {
  function command(
    settings: string,
    ...flags: readonly string[]
  ): Promise<{ stdout: string; stderr: string }> {
    const path = join(folder, 'settings.yaml');
    writeFileSync(path, settings);
    return run(process.execPath, ['scripts/rules.mjs', ...flags, path, join(folder, 'own')]);
  }

  it('writes rules that leave one application out of one alert only', async () => {
    await command(`
      disabled: [BunnynetApplicationSuspended]
      alertLabels: { team: edge }
      alerts:
        BunnynetApplicationNotActive: { for: 20m, exclude: { app_id: [retired] } }`);
    for (const file of readdirSync(join(folder, 'own'))) {
      expect(await promtool('check', 'rules', join(folder, 'own', file))).toContain('SUCCESS');
    }
    const status = (app_id: string, name: string, values: string) => ({
      series: `bunnynet_application_status{job="bunnynet",instance="exporter:10057",app_id="${app_id}",status="${name}"}`,
      values,
    });
    const up = (app_id: string) => ({
      series: `bunnynet_application_up{job="bunnynet",instance="exporter:10057",app_id="${app_id}",account="account"}`,
      values: '1x120',
    });
    const firing = (time: string, ...alerts: readonly (readonly [string, string])[]) => ({
      expr: 'ALERTS{alertstate="firing"}',
      eval_time: time,
      exp_samples: alerts.map(([name, rest]) => ({
        labels: `ALERTS{alertname="BunnynetApplication${name}", alertstate="firing", team="edge", ${rest}}`,
        value: 1,
      })),
    });
    const idle = ['NotActive', 'account="account", app_id="idle", severity="warning"'] as const;
    const cases = {
      rule_files: [join(folder, 'own/application.yml')],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [
            ...['idle', 'retired', 'cut'].map(up),
            status('idle', 'progressing', '1x120'),
            status('retired', 'progressing', '1x60 0x60'),
            status('retired', 'failing', '0x60 1x60'),
            status('cut', 'suspended', '1x120'),
          ],
          promql_expr_test: [
            firing('15m'),
            firing('50m', idle),
            firing('100m', ['Failing', 'account="account", app_id="retired", severity="critical"'], idle),
          ],
        },
      ],
    };
    const path = join(folder, 'own.test.yml');
    writeFileSync(path, stringify(cases));
    expect(await promtool('test', 'rules', path)).toContain('SUCCESS');
  });

  it('writes rules with the runbooks of the reader', async () => {
    await command('', '--runbook-url=https://wiki.example/{alert}#first');
    const text = readFileSync(join(folder, 'own/application.yml'), 'utf8');
    expect(text).toContain('runbook_url: https://wiki.example/BunnynetApplicationFailing#first\n');
    expect(text).not.toContain('docs/runbooks');
    for (const flag of ['--runbook-url=wiki', '--runbooks=https://wiki.example'])
      await expect(command('', flag)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^.*--runbook.*\nusage: npm run rules/) as string,
      });
  });

  it.each([
    [
      'what is no duration',
      'alerts:\n  BunnynetRequestRateTooLow:\n    for: 5x\n    keepFiringFor: often',
      /yaml:3: alerts\.BunnynetRequestRateTooLow\.for: expected a duration, such as 30s\n.*:4: .*keepFiringFor: expected a duration/,
    ],
    [
      'what is no name of a label',
      'alertLabels: { a-b: x }',
      /alertLabels\.a-b: expected the name of a label, such as team$/m,
    ],
    [
      'an unknown alert',
      'disabled:\n- BunnynetKeyRefuse',
      /settings\.yaml:2: disabled\[0\]: there is no alert "BunnynetKeyRefuse" \(did you mean BunnynetKeyRefused\?\)/,
    ],
    [
      'a threshold that is not a number',
      'alerts: { BunnynetRequestRateTooLow: { thresholds: { share: 1m } } }',
      /settings\.yaml:1: alerts\.BunnynetRequestRateTooLow\.thresholds\.share: expected a number/,
    ],
    [
      'an unknown setting',
      'alerts:\n  BunnynetRequestRateTooLow:\n    threshold: {}',
      /settings\.yaml:3: .*threshold: unknown setting \(did you mean thresholds\?\)/,
    ],
    ['broken YAML', 'disabled: [', /settings\.yaml:1: expected YAML: the bracket/],
    ["a label of the alert's own", 'alertLabels: { app_id: x }', /the label app_id cannot be added/],
    ['an account for all', 'alertLabels: { account: x }', /the label account cannot be added/],
    [
      'a severity for all',
      'disabled: []\nalertLabels: { team: edge, severity: info }',
      /settings\.yaml:2: alertLabels\.severity: expected a severity of single alerts only, in alerts\.<alert>\.labels/,
    ],
  ])('refuses %s', async (_, settings, message) => {
    await expect(command(settings)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message) as string,
    });
  });
});
