/** The exporters' alerts in an outage, from a page to the notifications of Alertmanager with the settings that we ship. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { resources } from '../../src/resources/kinds/index.ts';
import { apiNames } from '../../src/resources/resource.ts';
import { type Alertmanager, startAlertmanager, startPrometheusWithRules } from './alerting.ts';
import { eventually, stopAll } from './processes.ts';
import { ask } from './prometheus.ts';
import { succeed, tools } from './tools.ts';

interface Settings {
  readonly route: { readonly group_by: readonly string[] };
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal: readonly string[];
  }[];
}
const shipped = parse(readFileSync('deploy/compose/alertmanager.yml', 'utf8')) as Settings;

/** What is wrong with an exporter. */
interface Trouble {
  readonly apis: readonly string[];
  readonly kinds: readonly string[];
  /** Kinds of which only some targets are stale. */
  readonly partly: readonly string[];
  readonly listings: readonly string[];
  /** The APIs that refuse the key of umbrella, of which all of this is then. */
  readonly refusedBy?: readonly string[];
  readonly isAccountUnread?: boolean;
}
const fine: Trouble = { apis: [], kinds: [], partly: [], listings: [] };

function pageOf({ apis, kinds, partly, listings, refusedBy, isAccountUnread = false }: Trouble): string {
  const account = refusedBy ? 'umbrella' : 'acme';
  const series = (name: string, labels: string, value: number) =>
    `bunnynet_exporter_${name}{${labels}} ${value}`;
  const ofKinds = resources.flatMap(({ kind }) => {
    const stale = partly.includes(kind) ? 2 : kinds.includes(kind) ? 3 : 0;
    return [
      series('targets', `kind="${kind}",account="${account}"`, 3),
      series('stale_targets', `kind="${kind}",account="${account}"`, stale),
      series(
        'discovery_failing_listings',
        `kind="${kind}",account="${account}"`,
        Number(listings.includes(kind)),
      ),
    ];
  });
  const ofApis = apiNames.map((api) => series('api_unreadable', `api="${api}"`, Number(apis.includes(api))));
  const ofKeys = ['acme', 'umbrella'].flatMap((one) => [
    ...apiNames.map((api) =>
      series(
        'refused_keys',
        `api="${api}",credential="${one}",account="${one}"`,
        Number(one === 'umbrella' && refusedBy?.includes(api) === true),
      ),
    ),
    series(
      'account_unreadable',
      `account="${one}",reason="${isAccountUnread && one === 'umbrella' ? 'auth' : ''}"`,
      Number(isAccountUnread && one === 'umbrella'),
    ),
  ]);
  return `${[series('build_info', 'version="1.0.0"', 1), ...ofApis, ...ofKeys, ...ofKinds].join('\n')}\n`;
}

class Exporter {
  trouble = fine;
  readonly #server: Server = createServer((_, response) => {
    // Prometheus 3 takes no page without a type.
    response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(pageOf(this.trouble));
  });

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }
  get instance(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('an outage of everything', () => {
  const down = new Exporter();
  const other = new Exporter();
  let folder = '';
  let alertmanager: Alertmanager;
  let prometheus = '';

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'outage-'));
    await Promise.all([down.listen(), other.listen()]);
    alertmanager = await startAlertmanager(folder, {
      ...shipped,
      route: { ...shipped.route, group_wait: '1s', group_interval: '2s' },
    });
    prometheus = await startPrometheusWithRules(folder, ['exporter.yml'], alertmanager.address, [
      { targets: [down.instance, other.instance], labels: { namespace: 'edge' } },
    ]);
  });
  afterEach(async () => {
    await stopAll();
    for (const each of [down, other]) each.close();
    alertmanager.close();
    rmSync(folder, { recursive: true });
  });

  /** Waits until the exporter has so many alerts of this name in this state. */
  async function reach(exporter: Exporter, alert: string, state: string, count: number): Promise<void> {
    const query = `ALERTS{alertname="${alert}",alertstate="${state}",instance="${exporter.instance}"}`;
    await eventually(async () => {
      const found = (await ask(prometheus, 'query', { query })).length;
      if (found !== count) throw new Error(`${found} of ${count} are ${state}: ${alert}`);
    });
  }
  /** The alerts that Alertmanager has of an exporter, and whether it notifies of them. */
  async function held(exporter: Exporter): Promise<readonly string[]> {
    const response = await fetch(`http://${alertmanager.address}/api/v2/alerts`);
    const alerts = (await response.json()) as readonly {
      readonly labels: Readonly<Record<string, string>>;
      readonly status: { readonly state: string };
    }[];
    return alerts.flatMap(({ labels, status }) =>
      labels['instance'] === exporter.instance
        ? [`${status.state} ${labels['alertname']} ${labels['kind'] ?? labels['api']}`]
        : [],
    );
  }
  const deliveredTo = ({ instance }: Exporter) =>
    alertmanager.deliveries.flatMap(({ status, groupLabels, alerts }) =>
      groupLabels['instance'] === instance
        ? [
            {
              status,
              alerts: alerts
                .map(({ labels }) => `${labels['alertname']} ${labels['kind'] ?? labels['api']}`)
                .toSorted(),
            },
          ]
        : [],
    );

  test('is one notification an exporter, of one critical alert; the alerts about kinds and listings are inhibited', async () => {
    const [partial = '', ...kinds] = resources.map(({ kind }) => kind);
    const listings = [partial, ...kinds];
    await reach(down, 'BunnynetApiUnreadable', 'firing', 0);

    // Values are stale only some minutes after the API became unreadable.
    down.trouble = { ...fine, apis: apiNames, listings };
    await reach(down, 'BunnynetApiUnreadable', 'pending', 1);
    down.trouble = { apis: apiNames, kinds, partly: [partial], listings };
    // Another exporter, and there another API, is no reason to be silent.
    other.trouble = { ...fine, apis: ['shield'], kinds: ['shield_zone', 'pull_zone'] };
    await reach(down, 'BunnynetKindUnreadable', 'firing', kinds.length);
    await reach(down, 'BunnynetReadingsStale', 'firing', 1);
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', listings.length);
    // Of all APIs: without a label of one.
    const told = ['BunnynetApiUnreadable undefined'];
    await eventually(async () =>
      expect((await held(down)).toSorted()).toEqual(
        [
          ...told.map((alert) => `active ${alert}`),
          ...kinds.map((kind) => `suppressed BunnynetKindUnreadable ${kind}`),
          `suppressed BunnynetReadingsStale ${partial}`,
          ...listings.map((kind) => `suppressed BunnynetDiscoveryFailing ${kind}`),
        ].toSorted(),
      ),
    );
    await eventually(async () =>
      expect((await held(other)).toSorted()).toEqual([
        'active BunnynetApiUnreadable shield',
        'active BunnynetKindUnreadable pull_zone',
        'suppressed BunnynetKindUnreadable shield_zone',
      ]),
    );
    const first = { status: 'firing', alerts: told };
    expect(deliveredTo(down)).toEqual([first]);

    // The listings follow the polls after a while. No warning is left over.
    down.trouble = { ...fine, listings };
    await reach(down, 'BunnynetKindUnreadable', 'firing', 0);
    down.trouble = fine;
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', 0);
    await reach(down, 'BunnynetApiUnreadable', 'firing', 0);
    await eventually(() => expect(deliveredTo(down)).toEqual([first, { ...first, status: 'resolved' }]));
    expect(deliveredTo(other).at(-1)?.alerts).toEqual([
      'BunnynetApiUnreadable shield',
      'BunnynetKindUnreadable pull_zone',
    ]);
  });

  test('a revoked key of one of two accounts is one notification with one alert, which names the key, the account and the APIs', async () => {
    const kinds = resources.map(({ kind }) => kind);
    await reach(down, 'BunnynetKeyRefused', 'firing', 0);
    // As an exporter reports it: one API after another, soon that nothing is read, and after some minutes that values are stale.
    down.trouble = { ...fine, refusedBy: apiNames.slice(0, 1) };
    await reach(down, 'BunnynetKeyRefused', 'pending', 1);
    down.trouble = { ...fine, refusedBy: apiNames.slice(0, 2), isAccountUnread: true };
    await reach(down, 'BunnynetKeyRefused', 'firing', 1);
    down.trouble = {
      apis: [],
      kinds,
      partly: [],
      listings: kinds,
      refusedBy: apiNames,
      isAccountUnread: true,
    };
    await reach(down, 'BunnynetKindUnreadable', 'firing', kinds.length);
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', kinds.length);
    await reach(down, 'BunnynetAccountUnreadable', 'firing', 1);
    await eventually(async () =>
      expect((await held(down)).filter((alert) => alert.startsWith('active'))).toEqual([
        'active BunnynetKeyRefused undefined',
      ]),
    );
    const deliveries = alertmanager.deliveries.filter(
      ({ groupLabels }) => groupLabels['instance'] === down.instance,
    );
    expect(deliveries.map(({ status, alerts }) => [status, alerts.length])).toEqual([['firing', 1]]);
    const [alert] = deliveries[0]?.alerts ?? [];
    expect(alert?.labels).toEqual({
      alertname: 'BunnynetKeyRefused',
      severity: 'critical',
      namespace: 'edge',
      job: 'bunnynet',
      instance: down.instance,
      credential: 'umbrella',
      account: 'umbrella',
    });
    expect(alert?.annotations).toMatchObject({
      summary: 'umbrella: The key of umbrella is refused',
      description: expect.stringMatching(
        /reads with the key of umbrella \(account umbrella\): [a-z]+(, [a-z_]+)+\. Nothing else is read with it\./,
      ) as string,
    });
  });
});

describe('docs/alerts.md', () => {
  const [plain = '', operator = ''] = [
    ...(/## Alertmanager\n(.*?)\n## /s
      .exec(readFileSync('docs/alerts.md', 'utf8'))?.[1]
      ?.matchAll(/```yaml\n(.*?)```/gs) ?? []),
  ].map(([, text = '']) => text);
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('shows a complete file with the settings that are tried here', () => {
    const { route, inhibit_rules } = parse(plain) as Settings & {
      readonly route: { readonly routes: readonly { readonly group_by: readonly string[] }[] };
    };
    expect(route.routes.map(({ group_by }) => group_by)).toEqual([shipped.route.group_by]);
    expect(inhibit_rules).toEqual(shipped.inhibit_rules);
    const file = join(folder, 'alertmanager.yml');
    writeFileSync(file, plain);
    expect(succeed('amtool', ['check-config', file])).toContain('SUCCESS');
    const receiverOf = (...labels: string[]) =>
      succeed('amtool', ['config', 'routes', 'test', `--config.file=${file}`, ...labels]).trim();
    expect(receiverOf('alertname=BunnynetApplicationFailing', 'severity=critical')).toBe('pager');
    expect(receiverOf('alertname=BunnynetApplicationNotActive', 'severity=warning')).toBe('inbox');
  });

  test('shows the same for the Prometheus Operator, which its schema allows', () => {
    const file = join(folder, 'operator.yaml');
    writeFileSync(file, operator);
    const schemas = ['--local-schemas', `${tools}/kubernetes`, '--local-crds', `${tools}/crds`];
    expect(succeed('kubectl-validate', [...schemas, file])).toContain('OK');
    interface Matcher {
      readonly name: string;
      readonly matchType: string;
      readonly value: string;
    }
    const { spec } = parse(operator) as {
      readonly spec: {
        readonly route: { readonly groupBy: readonly string[] };
        readonly inhibitRules: readonly {
          readonly sourceMatch: readonly Matcher[];
          readonly targetMatch: readonly Matcher[];
          readonly equal: readonly string[];
        }[];
      };
    };
    const written = (matchers: readonly Matcher[]) =>
      matchers.map(({ name, matchType, value }) => `${name}${matchType}"${value}"`);
    expect(spec.route.groupBy).toEqual(shipped.route.group_by);
    expect(
      spec.inhibitRules.map(({ sourceMatch, targetMatch, equal }) => ({
        source_matchers: written(sourceMatch),
        target_matchers: written(targetMatch),
        equal,
      })),
    ).toEqual(shipped.inhibit_rules);
  });
});
