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
import { type Alertmanager, compress, startAlertmanager, startPrometheusWithRules } from './alerting.ts';
import { checkerOf } from './kubernetes-schemas.ts';
import { eventually, stopAll } from './processes.ts';
import { ask } from './prometheus.ts';
import { succeed } from './tools.ts';

interface Route {
  readonly receiver?: string;
  readonly matchers?: readonly string[];
  readonly continue?: boolean;
  readonly group_by?: readonly string[];
  readonly group_wait?: string;
  readonly routes?: readonly Route[];
}

interface Settings {
  readonly route: { readonly group_by: readonly string[]; readonly routes: readonly [Route] };
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal: readonly string[];
  }[];
}
const shippedFile = readFileSync('deploy/compose/alertmanager.yml', 'utf8');
const shipped = parse(shippedFile) as Settings;

function sorted(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What is wrong with an exporter. */
interface Trouble {
  readonly apis: readonly string[];
  readonly kinds: readonly string[];
  /** Kinds of which only some targets are stale. */
  readonly partly: readonly string[];
  readonly listings: readonly string[];
  /** The APIs that refuse its key. */
  readonly refusedBy?: readonly string[];
  readonly isAccountUnread?: boolean;
}
const fine: Trouble = { apis: [], kinds: [], partly: [], listings: [] };

/** The page of an exporter of two accounts; all trouble is of the one, the other one is well. */
function pageOf(
  account: string,
  { apis, kinds, partly, listings, refusedBy = [], isAccountUnread = false }: Trouble,
): string {
  const series = (name: string, labels: string, value: number) =>
    `bunnynet_exporter_${name}{${labels}} ${value}`;
  const ofKinds = resources.flatMap(({ kind }) => {
    const stale = partly.includes(kind) ? 2 : kinds.includes(kind) ? 3 : 0;
    const labels = `kind="${kind}",account="${account}"`;
    return [
      series('targets', labels, 3),
      series('stale_targets', labels, stale),
      series('discovery_failing_listings', labels, Number(listings.includes(kind))),
    ];
  });
  const ofApis = apiNames.map((api) => series('api_unreadable', `api="${api}"`, Number(apis.includes(api))));
  const ofAccounts = [account, `well-${account}`].flatMap((one) => {
    const isTroubled = one === account;
    return [
      ...apiNames.map((api) =>
        series(
          'refused_keys',
          `api="${api}",credential="${one}",account="${one}"`,
          Number(isTroubled && refusedBy.includes(api)),
        ),
      ),
      series('account_failing', `account="${one}",reason="auth"`, Number(isAccountUnread && isTroubled)),
    ];
  });
  return `${[series('build_info', 'version="1.0.0"', 1), ...ofApis, ...ofAccounts, ...ofKinds].join('\n')}\n`;
}

class Exporter {
  trouble = fine;
  readonly account: string;
  readonly #server: Server = createServer((_, response) => {
    // Prometheus 3 takes no page without a type.
    response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(pageOf(this.account, this.trouble));
  });

  constructor(account: string) {
    this.account = account;
  }
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
  const down = new Exporter('acme');
  const other = new Exporter('other');
  let folder = '';
  let alertmanager: Alertmanager;
  let prometheus = '';

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'outage-'));
    await Promise.all([down.listen(), other.listen()]);
    const settings = parse(compress(shippedFile)) as Settings;
    alertmanager = await startAlertmanager(folder, {
      ...settings,
      route: { ...settings.route, group_wait: '1s', group_interval: '2s' },
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
    const query = `ALERTS{alertname="${alert}",alertstate="${state}",account="${exporter.account}"}`;
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
      labels['account'] === exporter.account
        ? [`${status.state} ${labels['alertname']} ${labels['kind'] ?? labels['api']}`]
        : [],
    );
  }
  /** What was told of an exporter, each once, in the order in which it was. */
  const toldOf = ({ account }: Exporter): readonly string[] => [
    ...new Set(
      alertmanager.deliveries
        .flatMap(({ alerts }) => alerts)
        .filter(({ labels }) => labels['account'] === account)
        .map(({ status, labels }) => `${status} ${labels['alertname']} ${labels['kind'] ?? labels['api']}`),
    ),
  ];

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
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', listings.length);
    await reach(other, 'BunnynetKindUnreadable', 'firing', 2);
    // Of all APIs: without a label of one.
    const told = ['BunnynetApiUnreadable undefined'];
    await eventually(async () =>
      expect((await held(down)).toSorted()).toEqual(
        [
          ...told.map((alert) => `active ${alert}`),
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
    expect(toldOf(down)).toEqual(told.map((alert) => `firing ${alert}`));
    // While all APIs are down, no warning about a kind begins.
    await reach(down, 'BunnynetKindUnreadable', 'firing', 0);
    await reach(down, 'BunnynetReadingsStale', 'firing', 0);

    // The listings follow the polls after a while. No warning is left over.
    down.trouble = { ...fine, listings };
    await reach(down, 'BunnynetKindUnreadable', 'firing', 0);
    down.trouble = fine;
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', 0);
    await reach(down, 'BunnynetApiUnreadable', 'firing', 0);
    await eventually(() =>
      expect(toldOf(down)).toEqual(
        ['firing', 'resolved'].flatMap((state) => told.map((alert) => `${state} ${alert}`)),
      ),
    );
    expect(new Set(toldOf(other).filter((each) => each.startsWith('firing')))).toEqual(
      new Set(['firing BunnynetApiUnreadable shield', 'firing BunnynetKindUnreadable pull_zone']),
    );
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
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', kinds.length);
    await reach(down, 'BunnynetAccountUnreadable', 'firing', 1);
    // While nothing of the account can be read, no warning about a kind begins.
    await reach(down, 'BunnynetKindUnreadable', 'firing', 0);
    await eventually(async () =>
      expect((await held(down)).filter((alert) => alert.startsWith('active'))).toEqual([
        'active BunnynetKeyRefused undefined',
      ]),
    );
    expect(toldOf(down)).toEqual(['firing BunnynetKeyRefused undefined']);
    const [alert] = alertmanager.deliveries[0]?.alerts ?? [];
    expect(alert?.labels).toEqual({
      alertname: 'BunnynetKeyRefused',
      severity: 'critical',
      namespace: 'edge',
      credential: 'acme',
      account: 'acme',
    });
    expect(alert?.annotations).toMatchObject({
      summary: 'acme: The key of acme is refused',
      description: expect.stringMatching(
        /is read with the key of acme \(account acme\): [a-z]+(, [a-z_]+)+\. Nothing of the account could be read with it for \d+s\./,
      ) as string,
    });
  });

  test.each([
    ['a key that works again', { apis: [], refusedBy: apiNames }, 'BunnynetKeyRefused'],
    ['an outage of all APIs that is over', { apis: apiNames, refusedBy: [] }, 'BunnynetApiUnreadable'],
  ])('%s: nothing that it inhibited is told after it', async (_, trouble, source) => {
    const kinds = resources.map(({ kind }) => kind);
    await reach(down, source, 'firing', 0);
    // The account is read again at once, its kinds and its listings some minutes later.
    const whole = { ...fine, ...trouble, kinds, listings: kinds };
    down.trouble = { ...fine, ...trouble, isAccountUnread: true };
    await eventually(() => expect(toldOf(down).join()).toContain(`firing ${source}`));
    down.trouble = { ...whole, isAccountUnread: true };
    await reach(down, 'BunnynetAccountUnreadable', 'firing', 1);
    await reach(down, 'BunnynetDiscoveryFailing', 'firing', kinds.length);
    down.trouble = { ...whole, apis: [], refusedBy: [] };
    await reach(down, 'BunnynetAccountUnreadable', 'firing', 1);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    down.trouble = { ...fine, refusedBy: [] };
    for (const alert of [
      source,
      'BunnynetAccountUnreadable',
      'BunnynetDiscoveryFailing',
      'BunnynetKindUnreadable',
    ])
      await reach(down, alert, 'firing', 0);
    await eventually(() => expect(toldOf(down).at(-1)).toContain('resolved'));
    // What is resolved now could still be told for a while.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(toldOf(down)).toEqual([`firing ${source} undefined`, `resolved ${source} undefined`]);
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

  afterEach(stopAll);

  const documented = () =>
    parse(plain) as Settings & {
      readonly route: { readonly routes: readonly [Route] };
      readonly receivers: readonly { readonly name: string }[];
    };

  test('shows a complete file with the settings that are tried here', () => {
    const { route, inhibit_rules } = documented();
    const [own] = route.routes;
    expect(own.group_by).toEqual(shipped.route.group_by);
    expect(own.routes).toEqual(expect.arrayContaining([expect.objectContaining(shipped.route.routes[0])]));
    expect(inhibit_rules).toEqual(shipped.inhibit_rules);
  });

  const incidents = [
    { alertname: 'BunnynetPullZoneServerErrors', severity: 'critical', account: 'acme', pull_zone_id: '1' },
    { alertname: 'BunnynetApplicationFailing', severity: 'critical', account: 'acme', app_id: 'a' },
    {
      alertname: 'BunnynetPullZoneServerErrors',
      severity: 'critical',
      account: 'umbrella',
      pull_zone_id: '2',
    },
    { alertname: 'BunnynetApplicationNotActive', severity: 'warning', account: 'acme', app_id: 'b' },
    { alertname: 'BunnynetKindUnreadable', severity: 'warning', account: 'umbrella', kind: 'application' },
    { alertname: 'BunnynetLoadBalancerUnused', severity: 'info', account: 'other', load_balancer_id: '3' },
    { alertname: 'BunnynetApplicationFailing', severity: 'critical', account: 'other', app_id: 'c' },
    { alertname: 'BunnynetExporterDown', severity: 'critical', job: 'bunnynet', instance: 'exporter:10057' },
    { alertname: 'BunnynetReloadFailed', severity: 'warning', job: 'bunnynet', instance: 'exporter:10057' },
    { alertname: 'BunnynetApiUnreadable', severity: 'critical', account: 'acme' },
    { alertname: 'BunnynetApiUnreadable', severity: 'critical', account: 'umbrella' },
    { alertname: 'BunnynetApiUnreadable', severity: 'warning', account: 'umbrella', api: 'video' },
    { alertname: 'BunnynetExporterAbsent', severity: 'critical', account: 'other' },
  ].map((labels) => ({ namespace: 'edge', ...labels }));
  /** A customer gets what is the customer's; besides, everything goes to the pager or to the inbox. */
  const receiversOf = ({ account = '', severity }: { account?: string; severity: string }) => [
    ...(['acme', 'umbrella'].includes(account) ? [account] : []),
    severity === 'critical' ? 'pager' : 'inbox',
  ];

  test('sends what is critical to the pager and the rest to the inbox, and what is of a customer to the customer, too', () => {
    const file = join(folder, 'alertmanager.yml');
    writeFileSync(file, plain);
    expect(succeed('amtool', ['check-config', file])).toContain('SUCCESS');
    for (const labels of incidents)
      expect(
        succeed('amtool', [
          'config',
          'routes',
          'test',
          `--config.file=${file}`,
          ...Object.entries(labels).map(([name, value]) => `${name}=${value}`),
        ]).trim(),
      ).toBe(receiversOf(labels).join(','));
  });

  test('and a real Alertmanager does so: each incident is a notification of its own, but one outage is one of all accounts', async () => {
    const { route, ...settings } = parse(compress(plain)) as ReturnType<typeof documented>;
    const { address, deliveries, close } = await startAlertmanager(folder, {
      ...settings,
      // All at once: here they are told side by side.
      inhibit_rules: [],
      route: { ...route, group_wait: '2s', group_interval: '2s' },
    });
    await eventually(async () => {
      const { status } = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(incidents.map((labels) => ({ labels }))),
      });
      expect(status).toBe(200);
    });
    const told = () =>
      deliveries.flatMap(({ receiver, alerts }) =>
        alerts.map(({ labels }) => `${receiver} ${JSON.stringify(labels)}`),
      );
    const wanted = incidents.flatMap((labels) =>
      receiversOf(labels).map((receiver) => `${receiver} ${JSON.stringify(sorted(labels))}`),
    );
    await eventually(() => expect(told().length).toBeGreaterThanOrEqual(wanted.length));
    expect(told().toSorted()).toEqual(wanted.toSorted());
    const paged = deliveries.filter(({ receiver }) => receiver === 'pager');
    expect(
      paged
        .map(({ alerts }) =>
          alerts
            .map(({ labels }) => `${labels['alertname']} ${labels['account'] ?? labels['instance']}`)
            .toSorted(),
        )
        .toSorted((a, b) => a.join().localeCompare(b.join())),
    ).toEqual([
      ['BunnynetApiUnreadable acme', 'BunnynetApiUnreadable umbrella'],
      ['BunnynetApplicationFailing acme'],
      ['BunnynetApplicationFailing other'],
      ['BunnynetExporterAbsent other'],
      ['BunnynetExporterDown exporter:10057'],
      ['BunnynetPullZoneServerErrors acme'],
      ['BunnynetPullZoneServerErrors umbrella'],
    ]);
    close();
  });

  test('shows the same for the Prometheus Operator, which its schema allows', () => {
    expect(checkerOf('newest')(operator)).toEqual([]);
    interface Matcher {
      readonly name: string;
      readonly matchType: string;
      readonly value: string;
    }
    interface OperatorRoute {
      readonly receiver: string;
      readonly matchers?: readonly Matcher[];
      readonly continue?: boolean;
      readonly groupBy?: readonly string[];
      readonly groupWait?: string;
      readonly routes?: readonly OperatorRoute[];
    }
    const { spec } = parse(operator) as {
      readonly spec: {
        readonly route: OperatorRoute;
        readonly inhibitRules: readonly {
          readonly sourceMatch: readonly Matcher[];
          readonly targetMatch: readonly Matcher[];
          readonly equal: readonly string[];
        }[];
      };
    };
    const written = (matchers: readonly Matcher[]) =>
      matchers.map(({ name, matchType, value }) => `${name}${matchType}"${value}"`);
    /** As Alertmanager's own file has it. A route there gets the receiver of the one that it is in. */
    const plainly = (given: OperatorRoute, inherited = ''): Route => {
      const { receiver, matchers, groupBy, groupWait, routes, ...rest } = given;
      return {
        ...(matchers && { matchers: written(matchers) }),
        ...(groupBy && { group_by: groupBy }),
        ...(groupWait && { group_wait: groupWait }),
        ...(routes && { routes: routes.map((each) => plainly(each, receiver)) }),
        ...(receiver !== inherited || !matchers ? { receiver } : {}),
        ...rest,
      };
    };
    expect(plainly(spec.route, 'inbox')).toEqual(documented().route.routes[0]);
    expect(
      spec.inhibitRules.map(({ sourceMatch, targetMatch, equal }) => ({
        source_matchers: written(sourceMatch),
        target_matchers: written(targetMatch),
        equal,
      })),
    ).toEqual(shipped.inhibit_rules);
  });
});
