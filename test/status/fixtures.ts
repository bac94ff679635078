/** Targets and a status for the status page, without an exporter. */

import type { ListingPoll } from '../../src/discovery/provider.ts';
import type { ListingStatus } from '../../src/polling/listings.ts';
import type { Target } from '../../src/polling/target.ts';
import type { TargetStatus } from '../../src/polling/target-states.ts';
import type { Tone } from '../../src/resources/resource.ts';
import type { StatusQuery } from '../../src/status/query.ts';
import { createPages, type PagesOptions } from '../../src/status/routes.ts';
import type { ExporterStatus, KindNames } from '../../src/status/view.ts';

export const nowMs = Date.parse('2026-08-15T12:00:00Z');

const conditionStates: Record<string, Tone> = { failing: 'bad', suspended: 'bad', active: 'ok' };

export const kinds: readonly KindNames[] = [
  {
    kind: 'application',
    noun: 'application',
    api: 'application',
    product: 'Magic Containers',
    condition: { states: conditionStates },
  },
  { kind: 'shield_zone', noun: 'Shield Zone', api: 'shield', product: 'Shield' },
  { kind: 'video_storage', noun: 'video', api: 'video', product: 'Stream' },
];

export function status(
  ids: Readonly<Record<string, string>>,
  more: Partial<Omit<TargetStatus, 'target'>> & Partial<Pick<Target, 'kind' | 'name' | 'credential'>> = {},
): TargetStatus {
  const { kind = 'application', name, credential = 'account', ...rest } = more;
  const key = `${kind}/${Object.values(ids).join('/')}`;
  return {
    target: {
      key,
      kind,
      pollKey: key,
      ids,
      name,
      credential,
      intervalMs: 60_000,
      staleAfterMs: 180_000,
      settings: {},
      baseUrl: 'http://127.0.0.1:1',
    },
    state: 'ok',
    stale: false,
    lastSuccessMs: nowMs - 12_000,
    lastDurationSeconds: 0.184,
    lastFailure: undefined,
    ...rest,
  };
}

export function failing(
  ids: Readonly<Record<string, string>>,
  more: Parameters<typeof status>[1] & { result?: string; message?: string } = {},
): TargetStatus {
  const { result = 'server_error', message = 'HTTP 503', ...rest } = more;
  return status(ids, {
    state: 'failing',
    lastFailure: { result, message, atMs: nowMs - 3000, isKeyRefused: result === 'auth' },
    ...rest,
  });
}

/** A listing of these nouns; with a parent, of one zone. */
export function listing(
  nouns: string,
  more: Partial<Omit<ListingStatus, 'poll'>> &
    Partial<Pick<ListingPoll, 'kind' | 'parent' | 'credential' | 'account'>> = {},
): ListingStatus {
  const { kind = 'application', parent, credential = 'account', account = credential, ...rest } = more;
  return {
    poll: {
      type: 'listing',
      key: `${nouns}#${credential}#${Object.values(parent?.ids ?? {}).join('/')}`,
      kind,
      api: 'application',
      queue: kind,
      credential,
      account,
      intervalMs: 600_000,
      listing: {
        kind,
        api: 'application',
        product: 'CDN',
        path: `/${kind}`,
        nouns,
        fields: [],
        documented: {},
        discover: () => Promise.resolve([]),
      },
      parent,
      isRead: false,
    },
    state: 'ok',
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
  lastFailure: { result: 'auth', message: 'HTTP 401', atMs: nowMs - 3000, isKeyRefused: true },
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
  startedAtMs: nowMs - 150_000,
  shard: undefined,
  series: () => 10,
  droppedSeries: 0,
  maxSeries: 1_000_000,
  configuration: { loadedAtMs: nowMs - 150_000, refused: undefined },
  pauses: [],
  capacities: [],
  schemaDrift: [],
};

/** The query of a page without parameters. */
export const everything: StatusQuery = {
  kinds: [],
  states: [],
  conditions: [],
  text: '',
  sort: 'state',
  descending: false,
  page: undefined,
};

/** The routes over targets that the test may change. */
export function pagesOver(targets: () => readonly TargetStatus[], more: Partial<PagesOptions> = {}) {
  return createPages({
    telemetryPath: '/metrics',
    kinds,
    exporterStatus: () => calm,
    isReady: () => true,
    targets,
    listings: () => [],
    nextPollInMs: () => 4000,
    config: () => ({ limits: { max_series: 1_000_000 } }),
    reload: undefined,
    ...more,
  });
}
