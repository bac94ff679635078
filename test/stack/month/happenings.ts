/** The words in which a month is written: what happens, in which account, from when to when, and who is to be told of it. */
import {
  type AccountName,
  accountNames,
  type Body,
  datasets,
  type Edit,
  keysOf,
  usualRequests,
} from './accounts.ts';
import { dnsRecords, each, merged } from './calm.ts';
import type { Labels } from './samples.ts';
import type { ExporterOptions, Stage } from './stage.ts';
import type { About, Failure } from './world.ts';

/** Ends what a change began, if it does not last. */
type Undo = () => unknown;
export type Change = (stage: Stage) => Undo | undefined | Promise<Undo | undefined>;

/** An alert that has to reach somebody, in minutes. */
export interface Told {
  readonly alert: string;
  readonly to: 'pager' | 'inbox';
  /** Since the event began. */
  readonly within: number;
  /** How long after the event it has ended. Default: 40. */
  readonly over?: number;
  /** Labels that it has. With `account`, that customer is told, too. */
  readonly of?: Labels;
}

export interface Happening {
  readonly name: string;
  /** In minutes since the day began. */
  readonly at: number;
  readonly lasts: number;
  readonly does: Change;
  /** Nobody is told of what is benign. */
  readonly tells?: readonly Told[];
  /** All of it is one notification. */
  readonly isOneNotification?: true;
}

export interface Day {
  readonly name: string;
  /** UTC. */
  readonly begins: string;
  readonly minutes: number;
  /** Default: all. */
  readonly kinds?: readonly string[];
  /** By their names. Default: one with both accounts. */
  readonly exporters?: Readonly<Record<string, ExporterOptions>>;
  /** All groups, as most are. Default: each as it says; those of the exporter each minute. */
  readonly evaluatedEach?: '2m';
  /** Whether rules see the calendar as it is: that takes an evaluation for each minute since the first of January. */
  readonly hasCalendar?: true;
  readonly happenings: readonly Happening[];
}

const minutesOf = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return 60 * hours + minutes;
};
export const hours = (count: number): number => 60 * count;

/** at, lasts: hours and minutes, as `26:30`. */
export function happens(
  at: string,
  lasts: string,
  name: string,
  does: Change,
  ...tells: readonly Told[]
): Happening {
  return { name, at: minutesOf(at), lasts: minutesOf(lasts), does, tells };
}

/** Somebody has to be woken, so many minutes after it began; it ends that long after the end. */
export const pages = (alert: string, within: number, of: Labels, over?: number): Told => ({
  alert: `Bunnynet${alert}`,
  to: 'pager',
  within,
  of,
  ...(over !== undefined && { over }),
});
/** Somebody should read of it. */
export const mails = (alert: string, within: number, of: Labels, over?: number): Told => ({
  ...pages(alert, within, of, over),
  to: 'inbox',
});

export const idOf = (
  account: AccountName,
  list:
    | 'applications'
    | 'zones'
    | 'pullZones'
    | 'dnsZones'
    | 'databases'
    | 'videoLibraries'
    | 'edgeScripts'
    | 'storageZones'
    | 'loadBalancers',
  place = 0,
): string => datasets[account][list][place]?.id ?? '';

export const both =
  (...changes: readonly Change[]): Change =>
  async (stage) => {
    const undos: (Undo | undefined)[] = [];
    for (const change of changes) undos.push(await change(stage));
    return async () => {
      for (const undo of undos) await undo?.();
    };
  };

/** Somebody looks at the time: nothing is changed. */
export const nothing: Change = () => undefined;

/** Requests get this in place of their answers. */
export const fail =
  (about: About, failure: Failure, share?: number): Change =>
  ({ world }) =>
    world.fail(about, failure, share);

/** Other fields in one element of the answers of an operation: that at a place of its list, or all of the body. */
export const set =
  (account: AccountName, operation: string, fields: Body | (() => Body), list?: string, place = 0): Change =>
  ({ world }) => {
    const now = () => (typeof fields === 'function' ? fields() : fields);
    const edit: Edit =
      list === undefined
        ? (body) => merged(body, now())
        : each(list, (item, at) => (at === place ? merged(item, now()) : item));
    return world.edit(account, operation, edit);
  };

export const edit =
  (account: AccountName, operation: string, change: Edit): Change =>
  ({ world }) =>
    world.edit(account, operation, change);

export interface Traffic {
  /** How much of what is usual. */
  readonly requests?: number;
  /** Shares of the requests. */
  readonly errors?: number;
  readonly misses?: number;
  /** A minute. */
  readonly originErrors?: number;
}

/** Other traffic of the pull zone at a place of the account. */
export const traffic =
  (account: AccountName, place: number, { requests = 1, errors, misses, originErrors }: Traffic): Change =>
  ({ world }) => {
    const flows = world.flows(account);
    const change = (name: 'requests' | 'errors' | 'misses' | 'originErrors', perMinute?: number) => {
      const flow = flows[name][place];
      flow?.set(Date.now(), perMinute ?? flow.usual);
    };
    const perMinute = requests * (usualRequests[place] ?? 0);
    change('requests', perMinute);
    change('errors', perMinute * (errors ?? 0.001));
    change('misses', perMinute * (misses ?? 0.1));
    if (originErrors !== undefined) change('originErrors', originErrors);
    return () => {
      for (const name of ['requests', 'errors', 'misses', 'originErrors'] as const) change(name);
    };
  };

/** What a zone of Shield does, so many times a minute. */
export const shield =
  (account: AccountName, name: 'waf' | 'breaches' | 'guarded' | 'limited', perMinute: number): Change =>
  ({ world }) => {
    const flow = world.flows(account)[name];
    flow.set(Date.now(), perMinute);
    return () => flow.set(Date.now(), flow.usual);
  };

/** The API gives figures so many minutes later than usual. */
export const late =
  (minutes: number): Change =>
  ({ world }) =>
    world.delay(minutes * 60_000);

export const refuse =
  (account: AccountName): Change =>
  ({ world }) =>
    world.refuse(keysOf(account).account);

/** A key that somebody revoked for good; another takes its place when this ends. */
export const revoke =
  (account: AccountName, exporter: string): Change =>
  (stage) => {
    stage.world.refuse(keysOf(account).account);
    const key = `new-key-of-${account}`;
    stage.world.addKey(account, key);
    return () => stage.setKey(exporter, account, key);
  };

/** Another key, while the old one is still good. */
export const rotate =
  (account: AccountName, exporter: string): Change =>
  async (stage) => {
    const key = `rotated-key-of-${account}`;
    stage.world.addKey(account, key);
    await stage.setKey(exporter, account, key);
    return () => stage.world.refuse(keysOf(account).account);
  };

export const add =
  (exporter: string, options?: ExporterOptions): Change =>
  async (stage) => {
    await stage.add(exporter, options);
    return () => stage.remove(exporter);
  };
export const remove =
  (exporter: string, options?: ExporterOptions): Change =>
  async (stage) => {
    await stage.remove(exporter);
    return () => stage.add(exporter, options);
  };
/** It ends for good, and Prometheus forgets it. */
export const end =
  (exporter: string): Change =>
  async (stage) => {
    await stage.remove(exporter);
    return undefined;
  };
export const stop =
  (exporter: string): Change =>
  async (stage) => {
    await stage.stop(exporter);
    return () => stage.restart(exporter);
  };
export const replace =
  (exporter: string, options?: ExporterOptions): Change =>
  async (stage) => {
    await stage.replace(exporter, options);
    return undefined;
  };
export const reload =
  (exporter: string, options: ExporterOptions, after: ExporterOptions): Change =>
  async (stage) => {
    await stage.reload(exporter, options);
    return () => stage.reload(exporter, after);
  };
export const hideState =
  (exporter: string): Change =>
  (stage) =>
    stage.hideState(exporter);
export const stopPrometheus: Change = (stage) => stage.stopPrometheus();

/** One of each account, all in one notification. */
export function atOnce(happening: Happening): Happening {
  const tells = (happening.tells ?? []).flatMap((told) =>
    accountNames.map((account) => ({ ...told, of: { account, ...told.of } })),
  );
  return { ...happening, tells, isOneNotification: true };
}

/** What it tells comes in one notification. */
export const inOne = (happening: Happening): Happening => ({ ...happening, isOneNotification: true });

/** How fast an API may be asked. */
export const allow =
  (exporter: string, perSecond: number): Change =>
  (stage) =>
    stage.allow(exporter, perSecond);

/** Something that is no longer there. */
export const take =
  (account: AccountName, ...ids: readonly string[]): Change =>
  ({ world }) => {
    const undos = ids.map((id) => world.remove(account, id));
    return () => {
      for (const undo of undos) undo();
    };
  };

/** Other settings of the pull zone at a place. */
export const pullZone = (account: AccountName, place: number, fields: Body): Change =>
  set(account, 'pull_zone', fields, 'Items', place);

/** The records at these places are offline: the first two are of one name. */
export const records = (account: AccountName, offline: readonly number[]): Change =>
  set(
    account,
    'dns_record',
    { Records: dnsRecords.map((one, place) => ({ ...one, MonitorStatus: offline.includes(place) ? 2 : 1 })) },
    'Items',
  );

/** The origin of a pull zone takes so long. */
export const slowOrigin =
  (account: AccountName, place: number, ms: number): Change =>
  ({ world }) =>
    world.edit(account, 'pull_zone_statistics', (body, { ids }) => {
      if (!ids.includes(idOf(account, 'pullZones', place))) return body;
      const chart = (body['OriginResponseTimeChart'] ?? {}) as Readonly<Record<string, number>>;
      return {
        ...body,
        OriginResponseTimeChart: Object.fromEntries(
          Object.entries(chart).map(([hour, value]) => [hour, value === 0 ? 0 : ms]),
        ),
      };
    });

export interface Pod extends Body {
  readonly containers: readonly Body[];
}
interface Region extends Body {
  readonly pods: readonly Pod[];
}

/** What the API says of the instances of an application, or only of those in its first region. */
export const instances =
  (account: AccountName, place: number, change: (pod: Pod) => readonly Pod[], isEverywhere = true): Change =>
  ({ world }) =>
    world.edit(account, 'application_overview', (body, { ids }) => {
      if (!ids.includes(idOf(account, 'applications', place))) return body;
      const regions = (body['regions'] as readonly Region[]).map((region, at) => {
        if (!isEverywhere && at > 0) return region;
        const pods = region.pods.flatMap(change);
        return { ...region, pods, instances: pods.length };
      });
      const active = regions.reduce((sum, { pods }) => sum + pods.length, 0);
      return merged(body, { regions, activeInstances: { indicator: active } });
    });

/** The status of an application, in all that says it. */
export const status = (account: AccountName, place: number, is: string): Change =>
  both(
    ...(['application', 'application_overview'] as const).map(
      (operation): Change =>
        ({ world }) =>
          world.edit(account, operation, (body, { ids }) =>
            ids.includes(idOf(account, 'applications', place)) ? { ...body, status: is } : body,
          ),
    ),
  );

/** Fields of an answer about one application. */
export const ofApplication =
  (account: AccountName, operation: string, place: number, fields: (body: Body) => Body): Change =>
  ({ world }) =>
    world.edit(account, operation, (body, { ids }) =>
      ids.includes(idOf(account, 'applications', place)) ? merged(body, fields(body)) : body,
    );

/** The labels of what an alert is about. */
export const ofZone = (account: AccountName, place: number): Labels => ({
  account,
  pull_zone_id: idOf(account, 'pullZones', place),
});
export const ofShield = (account: AccountName, place = 0): Labels => ({
  account,
  shield_zone_id: idOf(account, 'zones', place),
});
export const ofApp = (account: AccountName, place = 0): Labels => ({
  account,
  app_id: idOf(account, 'applications', place),
});

/** Other settings of the firewall at a place. */
export const firewall = (account: AccountName, place: number, fields: Body): Change =>
  set(account, 'shield_zone', fields, 'data', place);

/** Other settings of API Guardian of the zone at a place. */
export const guardian = (account: AccountName, place: number, fields: Body): Change =>
  edit(account, 'api_guardian_zone', (body, { ids }) =>
    ids.includes(idOf(account, 'zones', place)) ? merged(body, { data: { configuration: fields } }) : body,
  );

/** So many times as often as usual. */
export const balancer =
  (account: AccountName, name: 'exhausted' | 'originFailures', times: number): Change =>
  ({ world }) => {
    const flow = world.flows(account)[name];
    flow.set(Date.now(), times * flow.usual);
    return () => flow.set(Date.now(), flow.usual);
  };
export const ofBalancer = (account: AccountName): Labels => ({
  account,
  load_balancer_id: idOf(account, 'loadBalancers'),
});

/** A container that ends again and again, so many minutes apart. */
export const restarting =
  (account: AccountName, everyMinutes: number): Change =>
  (stage) => {
    const beganMs = Date.now();
    const restarts = () => Math.floor((Date.now() - beganMs) / 60_000 / everyMinutes);
    const ended = (container: Body, at: number) =>
      at > 0 ? container : { ...container, numberOfRestarts: restarts(), exitCode: 137 };
    const change = (pod: Pod) => [{ ...pod, containers: pod.containers.map(ended) }];
    return instances(account, 0, change, false)(stage);
  };

/** A prepaid balance of so many dollars, of which nobody is charged automatically. */
export const prepaid =
  (account: AccountName, dollars: number, perDay = 20): Change =>
  (stage) => {
    const beganMs = Date.now();
    return set(account, 'billing', () => ({
      AutomaticRechargeEnabled: false,
      Balance: dollars - (perDay * (Date.now() - beganMs)) / 86_400_000,
    }))(stage);
  };
