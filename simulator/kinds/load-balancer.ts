/** Load balancers with their origins, and their listing, of which a page is an array (`/loadbalancer`). */
import { barePaging, listed } from '../answers.ts';
import { count, entities, hash, magnitude, nth, numberedId, ownName, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind, Request } from '../kind.ts';

export type LoadBalancer = ReturnType<typeof balancersOf>[number];

export interface LoadBalancers {
  readonly loadBalancers: readonly LoadBalancer[];
}

export const loadBalancer = {
  kind: 'load_balancer',
  section: 'load_balancers',
  sizes: { loadBalancers: [2, 8, 20] },
  create: (seed, sizes: { loadBalancers: number }) => ({
    loadBalancers: balancersOf(seed, sizes.loadBalancers),
  }),
  ...coreApi,
  path: '/loadbalancer',
  traits: { ids: ['LoadBalancerId'], name: 'Name', isStill: true },
  ...listed('loadBalancers', barePaging, itemOf),
} as const satisfies Kind;

const names = ['shop', 'api', 'media', 'search'] as const;

function balancersOf(datasetSeed: number, length: number) {
  return entities(datasetSeed, 31, length, (seed, index) => ({
    id: numberedId(datasetSeed, 5_101 + 7 * index),
    name: ownName(datasetSeed, nth(names, index)),
    requestsPerDay: magnitude(5_000, 5_000_000, unit(seed, 1)),
    origins: count(2 + (hash(seed, 2) % 3), (place) => ({
      OriginId: Number(numberedId(datasetSeed, 9_000 + 10 * index + place)),
      OriginName: place === 2 ? null : `origin-${place + 1}`,
    })),
  }));
}

/** A load balancer has its first origins in one group, and the third and fourth in one that takes over if all of those fail. */
function itemOf({ id, index, name, origins }: LoadBalancer, { nameOf }: Request) {
  const groupOf = (number: number, members: typeof origins) => ({
    Id: 7_000 + 10 * index + number,
    Name: number === 0 ? 'first' : 'second',
    Enabled: true,
    Latitude: 0,
    Longitude: 0,
    Weight: 100,
    Priority: 100 + number,
    // The last origin of some groups is disabled.
    Origins: members.map(({ OriginId }, place) => ({
      Id: OriginId,
      Weight: 100,
      Enabled: place === 0 || index % 2 === 0,
      EdgeScriptId: null,
      StorageZoneId: null,
      StandardOrigin: {
        OriginUrl: `https://origin-${OriginId}.example.com`,
        HostHeader: null,
        VerifySsl: true,
      },
      MagicContainersOrigin: null,
    })),
    HealthCheckSettings: number === 0 ? { Enabled: true, Path: '/health' } : null,
  });
  const groups = [origins.slice(0, 2), origins.slice(2)].filter(({ length }) => length > 0);
  return {
    LoadBalancerId: jsonInteger(id),
    Name: nameOf(id, name),
    OriginGroups: groups.map((members, number) => groupOf(number, members)),
  };
}
