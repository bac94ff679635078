import { once } from 'node:events';
import { connect } from 'node:tls';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AnyOperation, allKinds, type OperationName, operations } from '../../src/simulator/dataset.ts';
import { type FaultParameters, type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { shieldEnvelope } from '../../src/simulator/forms.ts';
import type { Traits } from '../../src/simulator/kind.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { type Address, everyOperation, oneOfEach, operationOf, urls } from './addresses.ts';
import {
  ask,
  at,
  type JsonObject,
  jsonOf,
  listOf,
  type Outcome,
  objectOf,
  observe,
  type Patience,
} from './ask.ts';
import { referenceKinds } from './targets.ts';

const nowMs = Date.UTC(2026, 7, 20, 12);
const simulator = createSimulator({
  now: () => nowMs,
  shape: { zones: 25, endpoints: 40 },
  logRequests: true,
});
const types = Object.keys(faultTypes) as FaultType[];

let addresses: ReadonlyMap<OperationName, Address>;

beforeAll(async () => {
  await simulator.start();
  addresses = new Map(everyOperation(simulator).map((one) => [one.operation, one]));
});
afterEach(() => simulator.clearFaults());
afterAll(async () => await simulator.stop());

function addressOf(operation: OperationName): Address {
  const address = addresses.get(operation);
  if (address === undefined) throw new Error(`Nothing asks for ${operation}.`);
  return address;
}

interface Scene {
  readonly operation: AnyOperation;
  /** The answer without the fault. */
  readonly right: string;
  readonly key: string;
}

interface Expectation {
  readonly parameters?: FaultParameters;
  readonly patience?: Patience;
  /** A query for the listing. Default: none. */
  readonly query?: string;
  readonly check: (outcome: Outcome, scene: Scene) => void;
}

function textOf({ body }: Outcome): string {
  return body.toString('utf8');
}

function parsed(outcome: Outcome): unknown {
  return JSON.parse(textOf(outcome));
}

/** The part of the body with the reading. */
function readingOf(body: unknown, { field }: Traits): unknown {
  return (field?.split('.') ?? []).reduce((held, name) => objectOf(held)[name], body);
}

/** The field of the body with the reading. */
function outermost({ field = '' }: Traits): string {
  return field.split('.')[0] ?? '';
}

/** The objects in the reading. */
function readings(body: unknown, traits: Traits): JsonObject[] {
  const held = readingOf(body, traits);
  return (Array.isArray(held) ? listOf(held) : [held]).map(objectOf);
}

/** Every value except objects and ids, at any depth. */
function valuesOf(value: unknown, traits: Traits): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [value];
  return Object.entries(value).flatMap(([field, held]) =>
    traits.ids?.includes(field) ? [] : valuesOf(held, traits),
  );
}

function values(text: string, traits: Traits): unknown[] {
  return readings(JSON.parse(text), traits).flatMap((reading) => valuesOf(reading, traits));
}

function whole(status: number, check: (outcome: Outcome, scene: Scene) => void = () => {}): Expectation {
  return {
    check: (outcome, scene) => {
      expect(outcome).toMatchObject({ end: 'complete', status });
      expect(outcome.headers['cdn-requestid']).toMatch(/^[\da-f]{32}$/);
      check(outcome, scene);
    },
  };
}

function empty(status: number, retryAfter?: RegExp): Expectation {
  return whole(status, ({ body, headers }) => {
    expect(body).toHaveLength(0);
    if (retryAfter === undefined) expect(headers).not.toHaveProperty('retry-after');
    else expect(headers['retry-after']).toMatch(retryAfter);
  });
}

function anErrorObject(status: number): Expectation {
  return whole(status, (outcome) => {
    const body = objectOf(parsed(outcome));
    // The core API does not repeat the status.
    if ('ErrorKey' in body) expect(body['Message']).toBeTypeOf('string');
    else expect(body['status'] ?? body['statusCode']).toBe(status);
  });
}

function rejectedWith(status: number, errorKey?: string): Expectation {
  return whole(status, (outcome) => {
    const body = objectOf(parsed(outcome));
    expect(body['data']).toBeNull();
    const error = 'error' in body ? objectOf(body['error']) : body;
    expect(error['success']).toBe(false);
    expect(error['message']).toMatch(/./);
    if (errorKey !== undefined) expect(error['errorKey']).toBe(errorKey);
  });
}

function unlike(check: (values: unknown[], right: unknown[]) => void): Expectation {
  return whole(200, (outcome, { right, operation: { traits } }) =>
    check(values(textOf(outcome), traits), values(right, traits)),
  );
}

const expectations: Record<FaultType, Expectation> = {
  latency: {
    ...whole(200, (outcome, { right }) => expect(textOf(outcome)).toBe(right)),
    parameters: { latencyMs: 20 },
  },
  hang: {
    patience: { timeMs: 100 },
    check: (outcome) => expect(outcome).toMatchObject({ end: 'left', status: 0 }),
  },
  'hang-before-body': {
    patience: { silenceMs: 100 },
    check: (outcome) => {
      expect(outcome).toMatchObject({ end: 'left', status: 200 });
      expect(outcome.body).toHaveLength(0);
    },
  },
  'hang-in-body': {
    patience: { silenceMs: 100 },
    check: (outcome, { right }) => {
      expect(outcome).toMatchObject({ end: 'left', status: 200 });
      expect(textOf(outcome)).toBe(right.slice(0, Math.ceil(right.length / 2)));
    },
  },
  trickle: {
    patience: { bytes: 3 },
    check: (outcome, { right }) => {
      expect(outcome).toMatchObject({ end: 'left', status: 200 });
      expect(outcome.body.byteLength).toBeLessThan(right.length);
      expect(right.startsWith(textOf(outcome))).toBe(true);
    },
  },
  reset: { check: (outcome) => expect(outcome).toMatchObject({ end: 'ECONNRESET', status: 0 }) },
  'early-close': {
    check: (outcome, { right }) => {
      expect(outcome).toMatchObject({ end: 'ECONNRESET', status: 200 });
      expect(outcome.body.byteLength).toBeLessThan(right.length);
    },
  },
  'endless-body': {
    patience: { bytes: 1_000_000 },
    check: (outcome) => {
      expect(outcome).toMatchObject({ end: 'left', status: 200 });
      expect(outcome.headers).not.toHaveProperty('content-length');
    },
  },
  'tls-error': {
    check: (outcome) => {
      expect(outcome.status).toBe(0);
      expect(outcome.end).toMatch(/^HPE_/);
    },
  },

  'status-400': anErrorObject(400),
  'status-401': whole(401, (outcome, { operation }) => {
    const isShield = operation.form === shieldEnvelope;
    expect(textOf(outcome)).toBe(isShield ? '{"title":"Unauthorized","status":401}' : '');
  }),
  'status-403': empty(403),
  'status-404': anErrorObject(404),
  'status-408': empty(408),
  'status-429': empty(429),
  'status-429-retry-seconds': { ...empty(429, /^7$/), parameters: { retryAfterSeconds: 7 } },
  'status-429-retry-date': whole(429, ({ headers }) => {
    const { date = '', 'retry-after': retryAfter = '' } = headers;
    expect(Date.parse(retryAfter) - Date.parse(date)).toBeGreaterThanOrEqual(1_000);
  }),
  'status-429-retry-unreadable': empty(429, /^in a while$/),
  'status-500': anErrorObject(500),
  'status-500-empty': empty(500),
  'status-502-html': whole(502, (outcome) => expect(textOf(outcome)).toMatch(/^<html>/)),
  'status-503': whole(503, (outcome) => expect(textOf(outcome)).toBe('Service Unavailable')),
  'status-503-retry-seconds': empty(503, /^2$/),
  'status-504': empty(504),
  redirect: {
    ...whole(307, ({ headers }) => expect(headers.location).toBe('http://localhost:1/x')),
    parameters: { redirectStatus: 307, location: 'http://localhost:1/x' },
  },

  'rejected-200': rejectedWith(200),
  'rejected-202': rejectedWith(202),
  'zone-not-found': rejectedWith(202, 'not_found_or_unauthorised_access.shieldzone'),
  'no-rate-limits': rejectedWith(202, 'not_found.ratelimit_shieldzone'),
  'feature-not-on-plan': rejectedWith(200, 'feature_not_available_on_plan'),
  'data-null': whole(200, (outcome, { right, operation: { traits } }) => {
    expect(parsed(outcome)).toEqual({ ...objectOf(JSON.parse(right)), [outermost(traits)]: null });
  }),
  'nothing-listed': whole(200, (outcome) => {
    const error = { statusCode: 0, success: false, message: null, errorKey: null };
    expect(parsed(outcome)).toEqual({ data: null, error });
  }),

  'empty-body': empty(200),
  html: whole(200, (outcome) => expect(textOf(outcome)).toMatch(/^<!DOCTYPE html>/)),
  'plain-text': whole(200, (outcome) => expect(textOf(outcome)).toBe('OK')),
  'json-null': whole(200, (outcome) => expect(textOf(outcome)).toBe('null')),
  'truncated-json': whole(200, (outcome, { right }) => {
    expect(right.startsWith(textOf(outcome))).toBe(true);
    expect(() => parsed(outcome)).toThrow(SyntaxError);
  }),
  'json-as-text': whole(200, (outcome, { right }) => {
    expect(outcome.headers['content-type']).toBe('text/plain');
    expect(textOf(outcome)).toBe(right);
  }),
  gzip: whole(200, ({ headers, body }, { right }) => {
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(body).toString()).toBe(right);
  }),
  brotli: whole(200, ({ headers, body }, { right }) => {
    expect(headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(body).toString()).toBe(right);
  }),
  'wrong-coding': whole(200, (outcome, { right }) => {
    expect(outcome.headers['content-encoding']).toBe('gzip');
    expect(textOf(outcome)).toBe(right);
  }),
  'gzip-bomb': {
    ...whole(200, ({ headers, body }, { right }) => {
      expect(headers['content-encoding']).toBe('gzip');
      expect(body.byteLength).toBeLessThan(20_000);
      const decoded = gunzipSync(body).toString();
      expect(decoded).toHaveLength(2_000_000 + right.length);
      expect(JSON.parse(decoded)).toEqual(JSON.parse(right));
    }),
    parameters: { decodedBytes: 2_000_000 },
  },
  'deep-nesting': {
    ...whole(200, (outcome, { right }) => {
      expect(textOf(outcome)).toContain('['.repeat(500));
      expect({ ...objectOf(parsed(outcome)), nested: 0 }).toEqual({
        ...objectOf(JSON.parse(right)),
        nested: 0,
      });
    }),
    parameters: { depth: 500 },
  },
  'duplicate-keys': whole(200, (outcome, { right }) => {
    expect(textOf(outcome)).toMatch(/"(\w+)":-1,"\1":/);
    expect(parsed(outcome)).toEqual(JSON.parse(right));
  }),

  'wrong-types': unlike((found, right) => {
    expect(found).toHaveLength(right.length);
    for (const [index, value] of found.entries()) expect(typeof value).not.toBe(typeof right[index]);
  }),
  'wrong-shapes': whole(200, (outcome, { operation: { traits } }) => {
    expect(Array.isArray(readingOf(parsed(outcome), traits))).toBe(traits.ids === undefined);
  }),
  'all-null': whole(200, (outcome, { right, operation: { traits } }) => {
    const fieldsOf = (body: unknown) => readings(body, traits).map((reading) => Object.keys(reading));
    expect(fieldsOf(parsed(outcome))).toEqual(fieldsOf(JSON.parse(right)));
    expect(new Set(values(textOf(outcome), traits))).toEqual(new Set([null]));
  }),
  'all-missing': unlike((found) => expect(found).toEqual([])),
  'huge-numbers': whole(200, (outcome) => {
    for (const written of ['9223372036854775807', '1e308', '1e400', '123456789012345678901234567890']) {
      expect(textOf(outcome)).toMatch(new RegExp(`:${written}[,}]`));
    }
  }),
  'negative-numbers': unlike((found, right) => {
    for (const [index, value] of found.entries()) {
      if (typeof right[index] === 'number') expect(value).toBeLessThan(0);
      else expect(value).toEqual(right[index]);
    }
  }),
  'integers-as-doubles': whole(200, (outcome, { right }) => {
    expect(textOf(outcome)).toMatch(/:\d+\.0[,}]/);
    expect(parsed(outcome)).toEqual(JSON.parse(right));
  }),
  'number-strings': unlike((found, right) => {
    expect(found).toContain('NaN');
    expect(found).toContain('1,234');
    for (const [index, value] of found.entries()) {
      if (typeof right[index] === 'number') expect(value).toBeTypeOf('string');
    }
  }),
  'duplicate-ids': whole(200, (outcome, { operation: { traits }, right }) => {
    const before = readings(JSON.parse(right), traits);
    const found = readings(parsed(outcome), traits);
    const field = at(traits.ids ?? [], 0);
    expect(found).toHaveLength(before.length + 1);
    expect(at(found, -1)[field]).toBe(at(found, 0)[field]);
    expect(at(found, -1)).not.toEqual(at(found, 0));
  }),
  'entry-without-id': whole(200, (outcome, { operation: { traits }, right }) => {
    const [first = {}, ...others] = readings(parsed(outcome), traits);
    for (const field of traits.ids ?? []) expect(first).not.toHaveProperty(field);
    expect(others).toEqual(readings(JSON.parse(right), traits).slice(1));
  }),
  'hostile-names': whole(200, (outcome, { operation: { traits }, right }) => {
    const { name: field = '' } = traits;
    const names = readings(parsed(outcome), traits).map((entry) => entry[field]);
    expect(names).not.toEqual(readings(JSON.parse(right), traits).map((entry) => entry[field]));
    expect(names[0]).toMatch(/\n/);
  }),
  'unknown-values': whole(200, (outcome, { operation: { traits } }) => {
    const { status, codes = [] } = traits;
    for (const reading of readings(parsed(outcome), traits)) {
      if (status) expect(reading['status']).toBe('hibernating');
      for (const field of codes) expect(reading[field]).toBe(97);
    }
  }),
  'capitalised-status': whole(200, (outcome, { right, operation: { traits } }) => {
    const statesOf = (body: unknown) => readings(body, traits).map(({ status }) => status);
    const found = statesOf(parsed(outcome));
    expect(found).not.toEqual(statesOf(JSON.parse(right)));
    expect(found.map((state) => String(state).toLowerCase())).toEqual(statesOf(JSON.parse(right)));
  }),
  'mixed-day-keys': whole(200, (outcome, { operation: { traits }, right }) => {
    const daysOf = (body: unknown) =>
      Object.keys(
        objectOf(
          Object.entries(at(readings(body, traits), 0)).find(([field]) =>
            field.endsWith('TwentyEightDays'),
          )?.[1],
        ),
      );
    const found = daysOf(parsed(outcome));
    const iso = found.filter((day) => /^\d{4}-\d\d-\d\d$/.test(day));
    expect(iso).toHaveLength(14);
    const plain = found.map((day) => (iso.includes(day) ? day.split('-').reverse().join('-') : day));
    const before = daysOf(JSON.parse(right));
    expect(plain).not.toEqual(before);
    expect(new Set(plain)).toEqual(new Set(before));
  }),
  'unreadable-times': whole(200, (outcome) => {
    expect(textOf(outcome)).not.toMatch(/"\d\d-\d\d-\d{4}"|"\d{4}-\d\d-\d\dT[01]\d:/);
    expect(textOf(outcome)).toMatch(/days after the fair|2026-13-45T99:00:00Z/);
  }),
  'extra-fields': whole(200, (outcome, { operation: { traits }, right }) => {
    const before = readings(JSON.parse(right), traits);
    for (const [index, reading] of readings(parsed(outcome), traits).entries()) {
      expect(reading).toMatchObject({ newFlag: true, ...at(before, index) });
    }
  }),

  'page-repeats': {
    ...whole(200, (outcome, { right }) => expect(textOf(outcome)).toBe(right)),
    query: '?page=2',
  },
  'page-shrinks': {
    ...whole(200, (outcome) => {
      expect(objectOf(parsed(outcome))['page']).toMatchObject({ totalCount: 13, totalPages: 2 });
      expect(listOf(objectOf(parsed(outcome))['data'])).toHaveLength(3);
    }),
    query: '?page=2',
  },
  'page-never-ends': {
    ...whole(200, (outcome) => {
      expect(objectOf(parsed(outcome))['page']).toMatchObject({
        totalPages: 12,
        currentPage: 11,
        nextPage: 12,
      });
      expect(listOf(objectOf(parsed(outcome))['data'])).toHaveLength(10);
    }),
    query: '?page=11',
  },
  'page-fails': { ...empty(500), query: '?page=2' },
  'page-without-fields': whole(200, (outcome) => {
    expect(objectOf(parsed(outcome))['page']).toEqual({});
  }),
  'page-zeros': whole(200, (outcome) => {
    const { page, data } = objectOf(parsed(outcome));
    expect(new Set(Object.values(objectOf(page)))).toEqual(new Set([0]));
    expect(listOf(data)).toHaveLength(10);
  }),
  'page-entries-move': {
    ...whole(200, (outcome) => {
      expect(idsOf(parsed(outcome))).toEqual(simulator.zones.slice(11, 21).map((zone) => zone.id));
      expect(objectOf(parsed(outcome))['page']).toMatchObject({ totalCount: 25, totalPages: 3 });
    }),
    query: '?page=2',
  },
  'page-counts-too-many': whole(200, (outcome) => {
    expect(objectOf(parsed(outcome))['page']).toMatchObject({ totalCount: 26, totalPages: 3 });
  }),
  'page-counts-too-few': whole(200, (outcome) => {
    expect(objectOf(parsed(outcome))['page']).toMatchObject({ totalCount: 24, totalPages: 3 });
  }),
  'page-announced': {
    ...whole(200, (outcome) => {
      expect(objectOf(parsed(outcome))['page']).toMatchObject({ totalCount: 25, totalPages: 4 });
    }),
    query: '?page=3',
  },
  'page-says-last': whole(200, (outcome) => {
    expect(objectOf(parsed(outcome))['page']).toMatchObject({ totalCount: 25, totalPages: 1 });
  }),
  'page-invents': {
    ...whole(200, (outcome) => {
      const ids = idsOf(parsed(outcome));
      expect(ids).toHaveLength(10);
      const real = new Set(simulator.zones.map((zone) => zone.id));
      expect(ids.filter((id) => real.has(id))).toEqual([]);
    }),
    query: '?page=400',
  },
  'page-missing': whole(200, (outcome, { right }) => {
    expect(parsed(outcome)).toEqual({ data: objectOf(JSON.parse(right))['data'] });
  }),

  'secret-echo': {
    check: (outcome, { key }) => {
      expect(textOf(outcome)).toContain(key);
      expect(outcome.headers['x-debug-key']).toBe(key);
    },
  },
  'set-cookie': whole(200, (outcome, { right }) => {
    expect(outcome.headers['set-cookie']).toHaveLength(2);
    expect(textOf(outcome)).toBe(right);
  }),
};

/** The ids of a page of zones. */
function idsOf(body: unknown): readonly string[] {
  return listOf(objectOf(body)['data']).map((zone) => String(objectOf(zone)['shieldZoneId']));
}

/** The kinds that faults are played on, with their listings, and one kind of the core API. */
const played = new Set(
  allKinds
    .filter(({ kind }) => kind === 'pull_zone' || referenceKinds.some((name) => name === kind))
    .flatMap(({ operations: [...ofKind] }) => ofKind.map(({ name }: AnyOperation) => name as OperationName)),
);

/** One that a fault of this operation must leave alone. */
function neighbourOf(operation: OperationName): OperationName {
  const names = [...played];
  return at(names, (names.indexOf(operation) + 1) % names.length);
}

// On one operation of each API. Faults of pages are written down for zones.
const matrix = types.flatMap((type) => {
  const names = faultTypes[type].appliesTo
    .filter((operation) => played.has(operation))
    .filter((operation) => !type.startsWith('page-') || operation === 'shield_zone');
  const ofApi = new Map(names.toReversed().map((operation) => [operationOf(operation).api, operation]));
  return [...ofApi.values()].map((operation) => ({ type, operation }));
});

describe('each type of fault', () => {
  it.each(matrix)(
    '$type does to $operation what it says, until it is removed',
    async ({ type, operation }) => {
      const { url, key } = addressOf(operation);
      const right = (await ask(url, key)).text;
      const { parameters, patience = {}, query = '', check } = expectations[type];
      const remove = simulator.inject({ type, kind: operation, ...parameters });

      check(await observe(url + query, key, patience), { operation: operationOf(operation), right, key });

      const neighbour = addressOf(neighbourOf(operation));
      expect((await ask(neighbour.url, neighbour.key)).status).toBe(200);
      remove();
      expect((await ask(url, key)).text).toBe(right);
    },
  );

  it('has a description, and operations that it applies to', () => {
    expect(types.length).toBeGreaterThan(50);
    for (const type of types) {
      const { description, appliesTo } = faultTypes[type];
      expect(description).toMatch(/^[^\n]{10,}[^.\n]$/);
      expect(appliesTo.length).toBeGreaterThan(0);
      expect(operations.map(({ name }) => name)).toEqual(expect.arrayContaining([...appliesTo]));
    }
  });

  it('does not change refusals if it is about good answers', async () => {
    simulator.inject({ type: 'gzip' });
    const heard = await ask(urls(simulator).application('nobody'), simulator.keys.account);
    expect(heard.status).toBe(404);
    expect(heard.headers).not.toHaveProperty('content-encoding');
  });
});

describe('page faults', () => {
  it('do not change the first page, except page-never-ends', async () => {
    const { url, key } = addressOf('shield_zone');
    const right = (await ask(url, key)).text;
    for (const type of ['page-repeats', 'page-shrinks', 'page-fails'] as const) {
      const remove = simulator.inject({ type });
      expect((await ask(url, key)).text).toBe(right);
      remove();
    }
  });

  it('start at the named page', async () => {
    const { url, key } = addressOf('shield_zone');
    simulator.inject({ type: 'page-fails', page: 3 });
    expect((await ask(`${url}?page=2`, key)).status).toBe(200);
    expect((await ask(`${url}?page=3`, key)).status).toBe(500);
  });
});

describe('redirects', () => {
  it('point to another name of this host by default, so that clients that follow are counted', async () => {
    simulator.inject({ type: 'redirect', kind: 'application' });
    const { url, key } = addressOf('application');
    const { status, headers } = await ask(url, key);
    expect(status).toBe(302);
    expect(headers.location).toBe(`${simulator.origin.replace('127.0.0.1', 'localhost')}/elsewhere`);
  });
});

describe('a client that speaks TLS', () => {
  it('gets a fatal alert from the plain port, fault or not', async () => {
    const port = Number(new URL(simulator.origin).port);
    const socket = connect({ host: '127.0.0.1', port });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toMatch(/alert handshake failure/);
    socket.destroy();
  });
});

describe('a fault', () => {
  const statusOf = async ({ url, key }: { url: string; key: string }) => (await ask(url, key)).status;
  /** The statuses other than 200, by operation. */
  const struck = async () => {
    const statuses: Record<string, number> = {};
    for (const address of oneOfEach(simulator)) {
      const status = await statusOf(address);
      if (status !== 200) statuses[address.operation] = status;
    }
    return statuses;
  };

  it('strikes all operations by default', async () => {
    simulator.inject({ type: 'status-503' });
    for (const address of oneOfEach(simulator)) expect(await statusOf(address)).toBe(503);
  });

  it('strikes several operations', async () => {
    simulator.inject({ type: 'status-503', kind: ['rate_limit', 'api_guardian'] });
    expect(await struck()).toEqual({ api_guardian: 503, rate_limit: 503 });
  });

  it('strikes the operations of one API', async () => {
    simulator.inject({ type: 'status-503', api: 'shield' });
    expect(await struck()).toEqual({
      shield_zone: 503,
      shield_overview: 503,
      shield_statistics: 503,
      shield_overage: 503,
      shield_triggered_rules: 503,
      shield_access_lists: 503,
      api_guardian: 503,
      rate_limit: 503,
    });
  });

  it('strikes one application by its id', async () => {
    const [one, other] = simulator.applications;
    simulator.inject({ type: 'status-503', target: one?.id ?? '' });
    const key = simulator.keys.account;
    expect(await statusOf({ url: urls(simulator).application(one?.id ?? ''), key })).toBe(503);
    expect(await statusOf({ url: urls(simulator).application(other?.id ?? ''), key })).toBe(200);
  });

  it('one endpoint by its zone and id, and a library by a part of its path', async () => {
    const { shieldZoneId, id } = at(simulator.endpoints, 0);
    const [library = ''] = simulator.libraryIds;
    simulator.inject({ type: 'status-503', target: `${shieldZoneId}/${id}` });
    simulator.inject({ type: 'status-504', target: `library/${library}` });
    expect(await struck()).toEqual({
      api_guardian: 503,
      video_storage: 504,
      video_library_statistics: 504,
      video_encoding: 504,
    });
  });

  it('strikes a share of the requests, and the same ones when it is played again', async () => {
    const address = addressOf('application');
    const play = async () => {
      const again = createSimulator({ now: () => nowMs });
      await again.start();
      again.inject({ type: 'status-503', share: 0.5 });
      const url = address.url.replace(simulator.origin, again.origin);
      const statuses = [];
      for (let request = 0; request < 100; request += 1) {
        statuses.push(await statusOf({ url, key: again.keys.account }));
      }
      await again.stop();
      return statuses;
    };
    const statuses = await play();
    const struck = statuses.filter((status) => status === 503).length;
    expect(struck).toBeGreaterThan(25);
    expect(struck).toBeLessThan(75);
    expect(await play()).toEqual(statuses);
  });

  it('so many times', async () => {
    simulator.inject({ type: 'status-503', count: 2 });
    const address = addressOf('rate_limit');
    expect([await statusOf(address), await statusOf(address), await statusOf(address)]).toEqual([
      503, 503, 200,
    ]);
  });

  it('replaces older ones, which strike again once it is gone', async () => {
    simulator.inject({ type: 'status-503' });
    const remove = simulator.inject({ type: 'status-504' });
    simulator.inject({ type: 'latency', latencyMs: 5 });
    const address = addressOf('rate_limit');
    expect(await statusOf(address)).toBe(504);
    remove();
    expect(await statusOf(address)).toBe(503);
    simulator.clearFaults();
    expect(await statusOf(address)).toBe(200);
  });

  it.each([
    [{ type: 'page-fails', kind: 'application' } as const, /page-fails cannot happen to application/],
    [{ type: 'reset', kind: 'application', api: 'video' } as const, /reset cannot happen to application/],
  ])('nobody, and says so, when it cannot: %o', (fault, message) => {
    expect(() => simulator.inject(fault)).toThrow(message);
  });
});

describe('the log of a fault', () => {
  it('has the request, and a status only if one was sent', async () => {
    const { url, key } = addressOf('application');
    const before = {
      ...simulator.counters.application,
      statuses: { ...simulator.counters.application.statuses },
    };
    simulator.inject({ type: 'reset' });
    await observe(url, key, {});
    expect(simulator.counters.application.requests).toBe(before.requests + 1);
    expect(simulator.counters.application.statuses).toEqual(before.statuses);
    expect(at(simulator.requests, -1)).toMatchObject({ operation: 'application', status: 0 });

    simulator.inject({ type: 'status-503' });
    await observe(url, key, {});
    expect(at(simulator.requests, -1)).toMatchObject({ operation: 'application', status: 503 });
  });
});

describe('stop and start', () => {
  it('close connections that a fault keeps open, and keep the same address', async () => {
    const another = createSimulator();
    const { origin } = await another.start();
    another.inject({ type: 'hang' });
    const { url, key } = at(oneOfEach(another), 0);
    const hanging = observe(url, key, {});
    while (another.counters.application.requests === 0) await new Promise((resolve) => setImmediate(resolve));
    await another.stop();
    expect(await hanging).toMatchObject({ end: 'ECONNRESET', status: 0 });
    expect(await observe(url, key, {})).toMatchObject({ end: 'ECONNREFUSED' });
    another.clearFaults();
    expect((await another.start()).origin).toBe(origin);
    expect(jsonOf(await ask(url, key))).toHaveProperty('status');
    await another.stop();
  });
});
