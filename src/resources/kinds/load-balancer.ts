/** The load balancers of an account, which of their origins are enabled, and how many pull zones use them (`/loadbalancer`). */
import { defineListedResource, type ElementListing } from '../define.ts';
import { count, label, shown } from '../families.ts';
import {
  boolean,
  elements,
  id,
  integer,
  isObject,
  listOf,
  object,
  reference,
  text,
  type ValueOf,
} from '../fields.ts';
import { mapEach, type Paging, pagings, readPages } from '../pages.ts';
import type { Diagnostics, Get } from '../resource.ts';
import { dayMs } from '../times.ts';

const maxOrigins = 50;

const origin = object({ Id: id, Enabled: boolean }).ignoring(
  'Weight EdgeScriptId StorageZoneId StandardOrigin{OriginUrl HostHeader VerifySsl} MagicContainersOrigin{AppId EndPointId}',
);
/** Their addresses are not read: one can hold a password. */
const group = object({ Enabled: boolean, Origins: listOf(origin) }).ignoring(
  'Id Name Latitude Longitude Weight Priority HealthCheckSettings{Enabled Path}',
);

const groups = shown(listOf(group), {
  name: 'origin_enabled',
  words: `Whether each origin is enabled: 1 yes, 0 no, or its group is not (%s: Enabled, Origins; at most ${maxOrigins} series)`,
  labels: ['origin_id'],
  comesAndGoes: true,
  series(all) {
    const enabled = new Map<string, number>();
    for (const { Enabled: isGroupEnabled = true, Origins = [] } of all.flatMap((one) => one ?? []))
      for (const { Id, Enabled } of Origins.flatMap((one) => one ?? []))
        if (Id !== undefined && Enabled !== undefined) enabled.set(Id, Number(Enabled && isGroupEnabled));
    return [...enabled].slice(0, maxOrigins).map(([origin_id, value]) => ({ labels: { origin_id }, value }));
  },
});

const listedFields = { LoadBalancerId: id, Name: label('name'), OriginGroups: groups };
const profile = object(listedFields);

const figures = object({ LoadBalancerId: id, AttachedPullZoneCount: integer }).ignoring(
  'TotalRequests TotalTraffic',
);

const roughly = elements(figures);
/** The same where it decides which load balancers there are. */
const completely = elements(figures, { complete: 'load balancers' });

/** A load balancer, from the two operations that tell of it. */
const balancer = object({
  ...listedFields,
  AttachedPullZoneCount: count(
    'attached_pull_zones',
    'Pull zones that use the load balancer (%s: in the statistics of all load balancers; nothing if they lack it)',
  ),
});

/** A page is a bare array, and is asked for with other parameters. How many there are is not told. */
const paging: Paging = {
  ...pagings.core,
  perPage: 50,
  query: (number, perPage) => `page=${number}&count=${perPage}`,
};

const pullZone = object({ Id: id, Name: text, LoadBalancerId: reference });

/** Whether `get` failed because the API does not have the operation, or not for this key. */
function isRefused(error: unknown): boolean {
  const answer = isObject(error) ? error['answer'] : undefined;
  return isObject(answer) && (answer['status'] === 403 || answer['status'] === 404);
}

/** What a request gives; undefined if the API refuses it. */
async function unlessRefused<Given>(given: Promise<Given>): Promise<Given | undefined> {
  try {
    return await given;
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

/** How many pull zones each load balancer has, by its id: of those with traffic in the past 30 days, perhaps of all. */
async function attachedZones(get: Get, answer: typeof roughly, diagnostics: Diagnostics, nowMs: number) {
  const from = new Date(nowMs - 30 * dayMs).toISOString();
  const all = answer.from(await get(`/loadbalancer/statistics?from=${from}`), diagnostics);
  return new Map(
    all.map(({ LoadBalancerId = '', AttachedPullZoneCount }) => [LoadBalancerId, AttachedPullZoneCount]),
  );
}

/**
 * Without the list: those with traffic, and those that a pull zone points to. One leaves when both lack it. It is called after a pull
 * zone that it serves.
 */
async function byPullZones(get: Get, diagnostics: Diagnostics, attached: ReadonlyMap<string, unknown>) {
  const zones = { path: '/pullzone', nouns: 'pull zones', element: pullZone };
  const { byId, moved } = await readPages(pagings.core, zones, get, diagnostics);
  const names = new Map([...attached.keys()].map((id) => [id, '']));
  for (const { Name = '', LoadBalancerId } of byId.values())
    if (LoadBalancerId) names.set(LoadBalancerId, names.get(LoadBalancerId) || Name);
  const balancers = new Map<string, ValueOf<typeof profile>>();
  for (const [id, Name] of names) balancers.set(id, { LoadBalancerId: id, Name });
  return { byId: balancers, moved };
}

/** Those that the API lists; where it has no list, or not for this key, those that are found by pull zones. */
export const loadBalancers: ElementListing<ValueOf<typeof balancer>> = {
  kind: 'load_balancer',
  product: 'CDN',
  optionalProduct: true,
  api: 'core',
  nouns: 'load balancers',
  path: '/loadbalancer',
  ids: [{ label: 'load_balancer_id', setting: 'id', form: 'integer' }],
  element: balancer,
  fields: Object.keys({ ...balancer.shape, ...pullZone.shape }),
  documented: { elements: profile.documented },
  beside: [
    {
      api: 'core',
      path: '/loadbalancer/statistics',
      fields: Object.keys(figures.shape),
      documented: { elements: figures.documented },
    },
  ],
  async discover(get, _parent, diagnostics, nowMs) {
    const list = { path: '/loadbalancer', nouns: 'load balancers', element: profile };
    const listed = await unlessRefused(readPages(paging, list, get, diagnostics));
    if (listed?.byId.size === 0) return { found: [], moved: listed.moved };
    const asked = attachedZones(get, listed ? roughly : completely, diagnostics, nowMs);
    const attached = listed ? ((await unlessRefused(asked)) ?? new Map<string, number>()) : await asked;
    const { byId, moved } = listed ?? (await byPullZones(get, diagnostics, attached));
    const found = mapEach(byId, ([load_balancer_id, one]) => ({
      ids: { load_balancer_id },
      name: one.Name || undefined,
      reading: { ...one, AttachedPullZoneCount: attached.get(load_balancer_id) },
    }));
    return { found, moved };
  },
};

export const loadBalancer = defineListedResource({
  noun: 'load balancer',
  section: 'load_balancers',
  listing: loadBalancers,
  info: 'The name of the load balancer; that of a pull zone that it serves, where the API does not list load balancers',
});
