/** An alert is about what is wrong: the same one whoever says so, through restarts, moves and second exporters. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFolder } from '../../monitoring/src/rule-files.ts';
import { testRules } from './promtool.ts';

const folder = mkdtempSync(join(tmpdir(), 'identity-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Series {
  readonly series: string;
  readonly values: string;
}

/** The labels of an exporter. */
type Labels = Readonly<Record<string, string>>;

function written(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
}

const exporterLabels: Labels = { namespace: 'edge', job: 'bunnynet', instance: '10.1.0.1:10057' };

/** Series of an exporter. Values are in promtool's notation, a minute each. */
function page(exporter: Labels, families: Readonly<Record<string, string>>): readonly Series[] {
  return Object.entries(families).map(([family, values]) => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(family) ?? [];
    return { series: `${name}{${[written(exporter), labels].filter(Boolean).join(',')}}`, values };
  });
}

/** Asks for the samples of an expression, each with its labels. */
function asked(
  expr: string,
  eval_time: string,
  samples: readonly (readonly [labels: string, value: number])[],
) {
  return {
    expr,
    eval_time,
    exp_samples: samples.map(([labels, value]) => ({ labels: `{${labels}}`, value })),
  };
}

let files = 0;
async function play(
  series: readonly Series[],
  promql_expr_test: readonly object[],
  rules: readonly string[] = ['exporter.yml'],
): Promise<void> {
  files += 1;
  const file = join(folder, `${files}.test.yml`);
  const tests = [{ interval: '1m', input_series: series, promql_expr_test }];
  const rule_files = rules.map((name) => resolve(rulesFolder, name));
  writeFileSync(file, stringify({ rule_files, evaluation_interval: '1m', tests }));
  await testRules(file);
}

const firing = (...alerts: readonly string[]) =>
  `ALERTS{alertname=~"${alerts.join('|')}",alertstate="firing"}`;
/** How many fire, by name. */
const counts = (...alerts: readonly string[]) => `count by (alertname) (${firing(...alerts)})`;

/** A page on which everything is wrong of which an alert is about an account or a key. */
function troubled(from: string, gone: string): Readonly<Record<string, string>> {
  const over = (value: number) => `${from}${value}${gone}`;
  return {
    up: over(1),
    'bunnynet_exporter_build_info{version="1.0.0"}': over(1),
    'bunnynet_exporter_account_key_shared{account="acme"}': over(0),
    'bunnynet_exporter_account_key_shared{account="umbrella"}': over(0),
    'bunnynet_exporter_account_key_shared{account="twice"}': over(1),
    // Nothing of umbrella is read: its key is refused.
    'bunnynet_exporter_refused_keys{api="core",credential="umbrella",account="umbrella"}': over(1),
    'bunnynet_exporter_refused_keys{api="shield",credential="umbrella",account="umbrella"}': over(1),
    'bunnynet_exporter_discovery_up{kind="pull_zone",account="umbrella"}': over(0),
    'bunnynet_exporter_discovery_failing_listings{kind="pull_zone",account="umbrella"}': over(1),
    'bunnynet_exporter_targets{kind="pull_zone",account="umbrella"}': over(5),
    'bunnynet_exporter_failing_targets{kind="pull_zone",account="umbrella",result="auth"}': over(5),
    // Of acme an API is down, a kind cannot be read, of another some targets cannot, one is unknown.
    'bunnynet_exporter_api_unreadable{api="application"}': over(1),
    'bunnynet_exporter_api_unreadable{api="core"}': over(0),
    'bunnynet_exporter_api_unreadable{api="shield"}': over(0),
    'bunnynet_exporter_targets{kind="application",account="acme"}': over(2),
    'bunnynet_exporter_targets{kind="shield_zone",account="acme"}': over(4),
    'bunnynet_exporter_failing_targets{kind="shield_zone",account="acme",result="server_error"}': over(4),
    'bunnynet_exporter_targets{kind="dns_zone",account="acme"}': over(4),
    'bunnynet_exporter_failing_targets{kind="dns_zone",account="acme",result="server_error"}': over(2),
    'bunnynet_exporter_targets{kind="edge_script",account="acme"}': over(4),
    'bunnynet_exporter_failing_targets{kind="edge_script",account="acme",result="not_found"}': over(1),
    'bunnynet_exporter_stale_targets{kind="edge_script",account="acme"}': over(1),
  };
}

describe('a Pod that is replaced while something is wrong', () => {
  it('ends no alert about an account or a key, and begins none anew', async () => {
    const old = page(exporterLabels, {
      ...troubled('', 'x99 stale'),
      'bunnynet_exporter_stale_targets{kind="pull_zone",account="umbrella"}': '5x99 stale',
      'bunnynet_exporter_stale_targets{kind="shield_zone",account="acme"}': '4x99 stale',
      'bunnynet_exporter_stale_targets{kind="dns_zone",account="acme"}': '2x99 stale',
      'bunnynet_exporter_account_failing{account="umbrella",reason="auth"}': '1x99 stale',
    });
    // The new one says nothing for two minutes, then what fails; nothing is stale for a quarter of an hour.
    const other = page(
      { ...exporterLabels, instance: '10.1.0.2:10057' },
      {
        ...troubled('_x101 ', 'x60'),
        'bunnynet_exporter_stale_targets{kind="pull_zone",account="umbrella"}': '_x101 0x15 5x45',
        'bunnynet_exporter_stale_targets{kind="shield_zone",account="acme"}': '_x101 0x15 4x45',
        'bunnynet_exporter_stale_targets{kind="dns_zone",account="acme"}': '_x101 0x15 2x45',
        'bunnynet_exporter_account_failing{account="umbrella",reason=""}': '_x101 0x2 stale',
        'bunnynet_exporter_account_failing{account="umbrella",reason="auth"}': '_x104 1x57',
      },
    );
    const alerts = [
      'BunnynetAccountUnreadable',
      'BunnynetApiUnreadable',
      'BunnynetDiscoveryFailing',
      'BunnynetKeyRefused',
      'BunnynetKindUnreadable',
      'BunnynetReadingsStale',
      'BunnynetSameKeyTwice',
      'BunnynetTargetNotFound',
    ];
    // That nothing of umbrella is read is told of the account, and not of its kinds.
    const all = alerts.map((name) => [`alertname="${name}"`, 1] as const);
    const minutes = Array.from({ length: 30 }, (_, at) => 99 + 2 * at);
    await play(
      [...old, ...other],
      [
        ...minutes.map((minute) => asked(counts('Bunnynet.*'), `${minute}m`, all)),
        // None of them began after the first half hour.
        asked('count(ALERTS_FOR_STATE > 1800) or vector(0)', '159m', [['', 0]]),
        asked('count(ALERTS{job!=""} or ALERTS{instance!=""}) or vector(0)', '159m', [['', 0]]),
      ],
    );
  });
});

describe('a Pod that is replaced and can list nothing, since its key is refused', () => {
  it('keeps what was told of targets: a missing reading is no recovery', async () => {
    const old = page(exporterLabels, {
      up: '1x60 stale',
      'bunnynet_exporter_build_info{version="1.0.0"}': '1x60 stale',
      process_start_time_seconds: '0x60 stale',
      'bunnynet_application_up{app_id="a",account="acme"}': '1x60 stale',
      'bunnynet_application_status{app_id="a",status="failing"}': '1x60 stale',
    });
    const listing = { kind: 'kind="application",account="acme"' };
    const other = page(
      { ...exporterLabels, instance: '10.1.0.2:10057' },
      {
        up: '_x62 1x240',
        'bunnynet_exporter_build_info{version="1.0.0"}': '_x62 1x240',
        process_start_time_seconds: '_x62 3720x240',
        [`bunnynet_exporter_discovery_up{${listing.kind}}`]: '_x63 0x120 1x120',
        // Then it can, and the application is gone.
        [`bunnynet_exporter_discovery_found_targets{${listing.kind}}`]: '_x184 0x120',
      },
    );
    const told = counts('BunnynetApplicationFailing');
    await play(
      [...old, ...other],
      [
        ...[58, 62, 66, 75, 90, 120, 180].map((minute) =>
          asked(told, `${minute}m`, [['alertname="BunnynetApplicationFailing"', 1]]),
        ),
        asked('count(ALERTS_FOR_STATE > 600) or vector(0)', '180m', [['', 0]]),
        asked(told, '220m', []),
      ],
      ['application.yml'],
    );
  });
});

describe('two exporters of one account', () => {
  const second: Labels = { ...exporterLabels, job: 'second', instance: '10.2.0.1:10057' };
  const fine = {
    up: '1x90',
    'bunnynet_exporter_build_info{version="1.0.0"}': '1x90',
    'bunnynet_exporter_api_unreadable{api="core"}': '0x90',
    'bunnynet_exporter_targets{kind="pull_zone",account="acme"}': '3x90',
    'bunnynet_exporter_stale_targets{kind="pull_zone",account="acme"}': '0x90',
    'bunnynet_exporter_refused_keys{api="core",credential="acme",account="acme"}': '0x90',
    'bunnynet_exporter_account_failing{account="acme",reason=""}': '0x90',
  };
  const wrong = {
    ...fine,
    'bunnynet_exporter_api_unreadable{api="core"}': '1x90',
    'bunnynet_exporter_stale_targets{kind="pull_zone",account="acme"}': '3x90',
    'bunnynet_exporter_refused_keys{api="core",credential="acme",account="acme"}': '1x90',
    'bunnynet_exporter_account_failing{account="acme",reason=""}': '1x90',
  };

  it('are one alert where both say so', async () => {
    await play(
      [...page(exporterLabels, wrong), ...page(second, wrong)],
      [
        asked(counts('Bunnynet.*'), '60m', [
          ['alertname="BunnynetAccountUnreadable"', 1],
          ['alertname="BunnynetApiUnreadable"', 1],
          ['alertname="BunnynetKeyRefused"', 1],
        ]),
        asked(`count by (severity) (${firing('BunnynetKeyRefused')})`, '60m', [['severity="critical"', 1]]),
      ],
    );
  });

  it('are one alert of a kind that neither reads, while other kinds are read', async () => {
    const ofKind = { ...fine, 'bunnynet_exporter_stale_targets{kind="pull_zone",account="acme"}': '3x90' };
    await play(
      [...page(exporterLabels, ofKind), ...page(second, ofKind)],
      [asked(counts('Bunnynet.*'), '60m', [['alertname="BunnynetKindUnreadable"', 1]])],
    );
  });

  it('are warnings of what only one of them cannot read', async () => {
    await play(
      [...page(exporterLabels, wrong), ...page(second, fine)],
      [
        asked(`count by (alertname, severity) (${firing('Bunnynet.*')})`, '60m', [
          ['alertname="BunnynetKeyRefused",severity="warning"', 1],
          ['alertname="BunnynetReadingsStale",severity="warning"', 1],
        ]),
      ],
    );
  });
});

describe('two tenants', () => {
  const page60 = {
    'bunnynet_exporter_api_unreadable{api="core"}': '1x60',
    'bunnynet_exporter_targets{kind="pull_zone",account="acme"}': '3x60',
  };
  it.each([
    ['clusters', { cluster: 'a' }, { cluster: 'b' }],
    ['namespaces with the same static instance', { namespace: 'edge' }, { namespace: 'shop' }],
  ])('in two %s have an alert each', async (_, one, other) => {
    const own = { ...exporterLabels, instance: 'exporter:10057' };
    const labels = (of: Labels) =>
      written(
        Object.fromEntries(
          Object.entries({ namespace: 'edge', ...of, account: 'acme', api: 'core' }).toSorted(([a], [b]) =>
            a.localeCompare(b),
          ),
        ),
      );
    await play(
      [...page({ ...own, ...one }, page60), ...page({ ...own, ...other }, page60)],
      [
        asked(`sum without (alertname, alertstate, severity) (${firing('BunnynetApiUnreadable')})`, '40m', [
          [labels(one), 1],
          [labels(other), 1],
        ]),
      ],
    );
  });
});

describe('every rule', () => {
  const lines = readFileSync('test/golden/page.txt', 'utf8').split('\n');
  const golden = lines.flatMap((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    // promtool knows no infinite values, and every rule of the exporter reads few buckets.
    return /^(bunnynet|process)/.test(name) && !name.endsWith('_bucket') && Number.isFinite(Number(value))
      ? [{ name, labels, value }]
      : [];
  });

  it('is evaluated whichever two exporters have the same series, and finds as much as of one', async () => {
    const exporters: readonly Labels[] = [
      exporterLabels,
      { ...exporterLabels, cluster: 'b' },
      { ...exporterLabels, namespace: 'shop' },
      { ...exporterLabels, instance: '10.1.0.2:10057' },
      { ...exporterLabels, job: 'second' },
      // What a scrape configuration may add.
      { ...exporterLabels, pod: 'bunnynet-exporter-1' },
    ];
    const files = readdirSync(rulesFolder);
    const series = exporters.flatMap((labels) => [
      ...page(labels, { up: '1x3' }),
      ...golden.map(({ name, labels: own, value }) => ({
        series: `${name}{${[written(labels), own].filter(Boolean).join(',')}}`,
        values: `${value}x3`,
      })),
    ]);
    expect(golden.length).toBeGreaterThan(1000);
    // promtool fails where the evaluation of a rule does.
    await play(
      series,
      [asked('count({__name__=~"ALERTS|bunnynet:.+",severity="none"}) or vector(0)', '3m', [['', 0]])],
      files,
    );
  });
});

const onlyListing = (account: string, values: string) => ({
  [`bunnynet_exporter_discovery_up{kind="application",account="${account}"}`]: values,
});

describe('an exporter that is gone', () => {
  const alive = (values: string, ...accounts: readonly string[]) => ({
    up: values,
    'bunnynet_exporter_build_info{version="1.0.0"}': values,
    ...Object.fromEntries(accounts.flatMap((account) => Object.entries(onlyListing(account, values)))),
  });
  const second: Labels = { ...exporterLabels, instance: '10.1.0.2:10057' };
  const absent = 'count by (account) (ALERTS{alertname="BunnynetExporterAbsent",alertstate="firing"})';
  const silent = (...times: readonly number[]) => times.map((at) => asked(absent, `${at}m`, []));
  const later = [65, 75, 82, 90, 120, 180];

  it('is told by its account, unless another one reads it', async () => {
    await play(
      [
        ...page(exporterLabels, alive('1x60 stale', 'acme', 'umbrella')),
        ...page(second, alive('1x200', 'umbrella')),
      ],
      [asked(absent, '79m', []), asked(absent, '82m', [['account="acme"', 1]])],
    );
  });

  it('is no alert in a rollout, nor when its accounts move to another one', async () => {
    await play(
      [
        ...page(exporterLabels, alive('1x60 stale', 'acme')),
        ...page(second, alive('_x63 1x200', 'acme')),
        // Kept as a job of its own, which took over an account an hour later.
        ...page({ ...exporterLabels, job: 'moved' }, alive('1x60 stale', 'umbrella')),
        ...page({ ...second, job: 'new' }, alive('_x65 1x200', 'umbrella')),
      ],
      silent(...later),
    );
  });

  it('is no alert for an account that is taken out of one that goes on, or renamed there', async () => {
    await play(
      [
        ...page(exporterLabels, alive('1x250', 'acme')),
        ...page(exporterLabels, onlyListing('former', '1x60 stale')),
        ...page(exporterLabels, onlyListing('renamed', '_x60 1x190')),
        ...page(exporterLabels, onlyListing('removed', '1x60 stale')),
      ],
      silent(...later, 240),
    );
  });

  it('is no alert while it is a target that is down, which is told as such', async () => {
    await play(
      [...page(exporterLabels, { ...alive('1x60 stale', 'acme'), up: '1x60 0x190' })],
      [
        ...silent(...later),
        asked(counts('BunnynetExporterDown'), '90m', [['alertname="BunnynetExporterDown"', 1]]),
      ],
    );
  });

  it('is no alert where it lists nothing: fifty sidecars that end', async () => {
    const sidecars = Array.from({ length: 50 }, (_, at) =>
      page(
        { namespace: 'apps', job: 'sidecars', instance: `10.3.0.${at}:10057`, pod: `app-${at}` },
        {
          up: `1x${20 + at} stale`,
          'bunnynet_exporter_build_info{version="1.0.0"}': `1x${20 + at} stale`,
          'bunnynet_exporter_account_last_success_timestamp_seconds{account="acme"}': `0x${20 + at} stale`,
          'bunnynet_exporter_targets{kind="application",account="acme"}': `1x${20 + at} stale`,
          'bunnynet_exporter_stale_targets{kind="application",account="acme"}': `0x${20 + at} stale`,
          'bunnynet_exporter_api_unreadable{api="application"}': `0x${20 + at} stale`,
        },
      ),
    ).flat();
    await play(
      sidecars,
      [40, 80, 120, 240].map((at) =>
        asked('count(ALERTS{alertstate="firing"}) or vector(0)', `${at}m`, [['', 0]]),
      ),
    );
  });

  it('is no alert after Prometheus was down for an hour', async () => {
    // Nothing is scraped for an hour, and then all again; promtool evaluates meanwhile, Prometheus does not.
    await play(page(exporterLabels, alive('1x60 _x60 1x60', 'acme')), silent(121, 125, 130, 140, 170));
  });
});

describe('an exporter that is down', () => {
  const down = (account: string) => ({
    up: '1x60 0x600',
    'bunnynet_exporter_build_info{version="1.0.0"}': '1x60 stale',
    [`bunnynet_exporter_account_last_success_timestamp_seconds{account="${account}"}`]: '0x60 stale',
  });
  const second: Labels = { ...exporterLabels, instance: '10.1.0.2:10057' };
  const other = (values: string, ...accounts: readonly string[]) => ({
    up: values,
    'bunnynet_exporter_build_info{version="1.0.0"}': values,
    ...Object.fromEntries(
      accounts.map((account) => [
        `bunnynet_exporter_account_last_success_timestamp_seconds{account="${account}"}`,
        values,
      ]),
    ),
  });
  const told = `count by (instance, severity) (${firing('BunnynetExporterDown')})`;
  const critical = ['instance="10.1.0.1:10057",severity="critical"', 1] as const;
  const warning = ['instance="10.1.0.1:10057",severity="warning"', 1] as const;

  it('is critical where no other one has its account, and stays so after six hours and when another one comes', async () => {
    await play(
      [...page(exporterLabels, down('acme')), ...page(second, other('_x100 1x600', 'acme'))],
      [
        asked(told, '64m', []),
        ...[67, 99, 120, 400, 440, 600].map((at) => asked(told, `${at}m`, [critical])),
      ],
    );
  });

  it('is a warning where others have all its accounts, also after six hours', async () => {
    await play(
      [...page(exporterLabels, down('acme')), ...page(second, other('1x700', 'acme', 'umbrella'))],
      [67, 120, 400, 440, 600].map((at) => asked(told, `${at}m`, [warning])),
    );
  });

  it('is critical where one of its accounts is read by no other one, and where both are down', async () => {
    await play(
      [
        ...page(exporterLabels, { ...down('acme'), ...down('umbrella') }),
        ...page(second, other('1x700', 'acme')),
      ],
      [asked(told, '70m', [critical])],
    );
    await play(
      [...page(exporterLabels, down('acme')), ...page(second, down('acme'))],
      [asked(`count by (severity) (${firing('BunnynetExporterDown')})`, '70m', [['severity="critical"', 2]])],
    );
  });
});
