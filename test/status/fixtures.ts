/** Targets and a status for the status page, without an exporter. */

import type { CauseInput, CauseKind, ExporterState } from '../../src/causes/cause.ts';
import { health } from '../../src/polling/health.ts';
import type { ListingStatus } from '../../src/polling/listing-status.ts';
import { type Failure, isAnswer, isDenial, neverPolled, type PollRecord } from '../../src/polling/record.ts';
import { type ListingSpec, operationOf, type Target } from '../../src/polling/spec.ts';
import { Tallies } from '../../src/polling/tally.ts';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import { application } from '../../src/resources/kinds/application.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { ApiName, Tone } from '../../src/resources/resource.ts';
import type { StatusQuery } from '../../src/status/query.ts';
import { createPages, type PagesOptions } from '../../src/status/routes.ts';
import type { ExporterStatus, KindNames } from '../../src/status/view.ts';

export const nowMs = Date.parse('2026-08-15T12:00:00Z');

const conditionStates: Record<string, Tone> = { failing: 'bad', suspended: 'bad', active: 'ok' };

export const kinds: readonly (KindNames & CauseKind)[] = [
  {
    kind: 'application',
    section: 'applications',
    isCostly: false,
    noun: 'application',
    api: 'application',
    product: 'Magic Containers',
    condition: { states: conditionStates },
  },
  {
    kind: 'shield_zone',
    section: 'shield_zones',
    isCostly: false,
    noun: 'Shield Zone',
    api: 'shield',
    product: 'Shield',
  },
  {
    kind: 'video_storage',
    section: 'video_storage',
    isCostly: true,
    noun: 'video',
    api: 'video',
    product: 'Stream',
  },
];

export function status(
  ids: Readonly<Record<string, string>>,
  more: Partial<Omit<TargetStatus, 'target'>> & Partial<Pick<Target, 'kind' | 'name' | 'credential'>> = {},
): TargetStatus {
  const { kind = 'application', name, credential = 'account', ...rest } = more;
  const key = `${kind}/${Object.values(ids).join('/')}`;
  return {
    target: {
      type: 'target',
      key,
      kind,
      api: resources.find((resource) => resource.kind === kind)?.api ?? 'application',
      resource: application,
      fedBy: undefined,
      namesKey: undefined,
      ids,
      name,
      credential,
      account: credential,
      intervalMs: 60_000,
      staleAfterMs: 180_000,
      settings: {},
      baseUrl: 'http://127.0.0.1:1',
      keyId: '',
    },
    state: 'ok',
    stale: false,
    hasValues: !(rest.stale ?? false) && !('lastSuccessMs' in rest && rest.lastSuccessMs === undefined),
    // The machine's uptime is the Unix time here.
    staleAtMs: (rest.lastSuccessMs ?? nowMs - 12_000) + 180_000,
    lastSuccessMs: nowMs - 12_000,
    lastDurationSeconds: 0.184,
    lastFailure: undefined,
    ...rest,
  };
}

/** A failure of three seconds ago; the status of an HTTP answer is that in its message. */
export function failureOf(result: string, message: string, more: Partial<Failure> = {}): Failure {
  const atMs = nowMs - 3000;
  const [, status] = /HTTP (\d{3})/.exec(message) ?? [];
  return { result, message, status: status ? Number(status) : undefined, atMs, sinceMs: atMs, ...more };
}

export function failing(
  ids: Readonly<Record<string, string>>,
  more: Parameters<typeof status>[1] & { result?: string; message?: string } = {},
): TargetStatus {
  const { result = 'server_error', message = 'HTTP 503', ...rest } = more;
  return status(ids, { state: 'failing', lastFailure: failureOf(result, message), ...rest });
}

/** A listing of these nouns; with a parent, of one zone. */
export function listing(
  nouns: string,
  more: Partial<Omit<ListingStatus, 'poll'>> &
    Partial<Pick<ListingSpec, 'kind' | 'parent' | 'credential' | 'account' | 'api'>> = {},
): ListingStatus {
  const {
    kind = 'application',
    api = 'application',
    parent,
    credential = 'account',
    account = credential,
    ...rest
  } = more;
  return {
    poll: {
      type: 'listing',
      key: `${nouns}#${credential}#${Object.values(parent?.ids ?? {}).join('/')}`,
      kind,
      api,
      keyId: '',
      baseUrl: 'https://api.bunny.net',
      namesKey: undefined,
      afterKey: undefined,
      credential,
      account,
      intervalMs: 600_000,
      listing: {
        kind,
        api,
        product: 'CDN',
        path: `/${kind}`,
        nouns,
        fields: [],
        documented: {},
        discover: () => Promise.resolve({ found: [] }),
      },
      parent,
      isRead: false,
    },
    state: 'ok',
    lacksProduct: false,
    found: 0,
    lastSuccessMs: nowMs - 30_000,
    lastDurationSeconds: 0.3,
    lastFailure: undefined,
    selections: [],
    ...rest,
  };
}

export const refusedListing = {
  state: 'failing',
  lastSuccessMs: undefined,
  lastFailure: failureOf('auth', 'HTTP 401'),
} as const;

/** This many applications; the first of each 100 is failing. */
export function many(targets: number): readonly TargetStatus[] {
  return Array.from({ length: targets }, (_, at) => {
    const ids = { app_id: `app${String(at).padStart(6, '0')}` };
    const name = `service ${targets - at}`;
    const lastSuccessMs = nowMs - ((at * 7919) % 60_000);
    return at % 100 === 0 ? failing(ids, { name, lastSuccessMs }) : status(ids, { name, lastSuccessMs });
  });
}

export const calm: ExporterStatus = {
  upMs: 150_000,
  series: () => 10,
  configuration: { loadedAtMs: nowMs - 150_000, refused: undefined },
  capacities: [],
};

/** An exporter with nothing wrong of its own. */
const well: ExporterState = {
  refusedReload: undefined,
  pauses: [],
  capacities: [],
  schemaDrift: [],
  sameKeys: [],
  formerKeys: [],
  shared: [],
  state: undefined,
};

/** The record of a poll that failed for one reason alone. The machine's uptime counts as Unix time does. */
export function recordOf(lastSuccessMs: number | undefined, lastFailure: Failure | undefined): PollRecord {
  const answeredMs = lastSuccessMs ?? Number.NEGATIVE_INFINITY;
  const good = { ...neverPolled, lastSuccessMs, endedMs: answeredMs, answeredMs, readBeganMs: answeredMs };
  if (!lastFailure) return good;
  const { sinceMs, atMs } = lastFailure;
  const isAnswered = isAnswer(lastFailure, true);
  return {
    ...good,
    lastFailure,
    failingSinceMs: sinceMs,
    deniedSinceMs: isDenial(lastFailure) ? sinceMs : undefined,
    answeredMs: isAnswered ? atMs : answeredMs,
    endedMs: atMs,
    unanswered: isAnswered === false ? { requests: 1, sinceMs } : undefined,
  };
}

type CauseSources = Partial<Omit<CauseInput, 'exporter'>> & { readonly exporter?: Partial<ExporterState> };

/** What causes are derived from: by default each target and each listing has its own poll. */
export function causeInput(
  targets: readonly TargetStatus[],
  listings: readonly ListingStatus[] = [],
  { exporter, kinds: known = kinds, ...more }: CauseSources = {},
): CauseInput {
  const apiOf = new Map(known.map(({ kind, api }) => [kind, api]));
  const ofTargets = targets.map(({ target, lastSuccessMs, lastFailure }) => ({
    spec: {
      api: apiOf.get(target.kind) ?? ('core' as ApiName),
      credential: target.credential,
      account: target.account,
    },
    operation: `/${target.kind}`,
    record: recordOf(lastSuccessMs, lastFailure),
  }));
  const ofListings = listings.map(({ poll: spec, lastSuccessMs, lastFailure }) => ({
    spec,
    operation: operationOf(spec),
    record: recordOf(lastSuccessMs, lastFailure),
  }));
  return {
    health: health([...ofTargets, ...ofListings], more.nowMs ?? nowMs),
    targets,
    listings,
    kinds: known,
    baseUrlOf: (api) => `https://${api}.example`,
    addressNameOf: (api) => `apis.${api}.base_url`,
    keySource: () => 'from $KEY',
    noKeyReason: () => undefined,
    exporter: { ...well, ...exporter },
    nowMs,
    uptimeMs: more.nowMs ?? nowMs,
    ...more,
  };
}

/** The query of a page without parameters. */
export const everything: StatusQuery = {
  kinds: [],
  accounts: [],
  states: [],
  conditions: [],
  text: '',
  sort: 'state',
  descending: false,
  page: undefined,
};

/** The targets by kind and account. */
export function tallyOf(targets: readonly TargetStatus[], listings: readonly ListingStatus[] = []) {
  const tallies = new Tallies();
  for (const one of targets) tallies.count(one);
  tallies.list(listings);
  return tallies.all;
}

/** The routes over targets that the test may change. */
export function pagesOver(targets: () => readonly TargetStatus[], more: Partial<PagesOptions> = {}) {
  return createPages({
    telemetryPath: '/metrics',
    hide: (text) => text,
    kinds,
    exporterStatus: () => calm,
    causeInput: () => causeInput(targets()),
    isReady: () => true,
    hasRead: () => true,
    leftOut: () => [],
    isOn: () => true,
    accounts: () => ['account'],
    targets,
    listings: () => [],
    tallies: () => tallyOf(targets()),
    nextPollInMs: () => 4000,
    config: () => ({ accounts: ['account'] }),
    reload: undefined,
    ...more,
  });
}
