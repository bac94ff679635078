/** Two accounts, what they have and what happens in them. */
import { createDataset, createKeys, type Dataset, scales } from '../../../simulator/dataset.ts';
import { Flow } from './flow.ts';

export type AccountName = 'acme' | 'umbrella';
export const accountNames = ['acme', 'umbrella'] as const satisfies readonly AccountName[];

const shape = {
  ...scales.small,
  applications: 2,
  zones: 3,
  endpoints: 1,
  rateLimitZones: 1,
  rulesPerZone: 1,
  libraries: 1,
  videosPerLibrary: 2,
  databases: 1,
  dnsZones: 1,
  edgeScripts: 1,
  loadBalancers: 1,
  storageZones: 1,
};

/** What each account has, always the same. */
export const datasets: Readonly<Record<AccountName, Dataset>> = {
  acme: createDataset(1, shape),
  umbrella: createDataset(2, shape),
};
export const keysOf = (account: AccountName) =>
  createKeys(1 + accountNames.indexOf(account), datasets[account].libraryIds);

/** The body of an answer, whose form depends on the operation. */
export type Body = Readonly<Record<string, unknown>>;

export interface Asked {
  readonly account: AccountName;
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly flows: Flows;
  /** Up to when the API has figures; Unix time. */
  readonly knownMs: number;
}

/** Makes another body of a good answer. */
export type Edit = (body: Body, asked: Asked) => unknown;

/** What happens in an account, so many times a minute. Those of pull zones are by their places in the account. */
export interface Flows {
  readonly requests: readonly Flow[];
  readonly errors: readonly Flow[];
  readonly misses: readonly Flow[];
  readonly originErrors: readonly Flow[];
  readonly waf: Flow;
  readonly breaches: Flow;
  readonly guarded: Flow;
  readonly limited: Flow;
  /** Requests for which all origins of the load balancer failed, and attempts at its first origin that failed. */
  readonly exhausted: Flow;
  readonly originFailures: Flow;
}

const balancedPerMinute = (account: AccountName) =>
  (datasets[account].loadBalancers[0]?.requestsPerDay ?? 0) / (24 * 60);

/** Requests a minute of the pull zones of an account: two busy ones, a tiny one, and that of the library. */
export const usualRequests = [400, 120, 2, 8] as const;

export const createFlows = (account: AccountName): Flows => ({
  requests: usualRequests.map((perMinute) => new Flow(perMinute)),
  errors: usualRequests.map((perMinute) => new Flow(perMinute / 1000)),
  misses: usualRequests.map((perMinute) => new Flow(perMinute / 10)),
  originErrors: usualRequests.map(() => new Flow(0.02)),
  waf: new Flow(0.5),
  breaches: new Flow(0.1),
  guarded: new Flow(0.1),
  limited: new Flow(0.1),
  exhausted: new Flow(balancedPerMinute(account) / 5000),
  originFailures: new Flow(balancedPerMinute(account) / 20),
});
