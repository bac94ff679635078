/** What other tests rely on: each fault changes what is answered, and strikes only what it is meant for. What the program makes of each is tested there. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OperationName, operations } from '../../src/simulator/dataset.ts';
import { type FaultType, faultTypes } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { type Address, everyOperation, oneOfEach, urls } from './addresses.ts';
import { ask, at, type Outcome, observe, type Patience } from './ask.ts';

const simulator = createSimulator({
  now: () => Date.UTC(2026, 7, 20, 12),
  shape: { zones: 25, endpoints: 40 },
});
const types = Object.keys(faultTypes) as FaultType[];

beforeAll(async () => {
  await simulator.start();
});
afterEach(() => simulator.clearFaults());
afterAll(async () => await simulator.stop());

function addressOf(operation: OperationName): Address {
  const address = everyOperation(simulator).find((one) => one.operation === operation);
  if (address === undefined) throw new Error(`Nothing asks for ${operation}.`);
  return address;
}

/** Faults of pages strike later pages of the listing of zones. */
const pageOf: Partial<Record<FaultType, string>> = {
  'page-repeats': '?page=2',
  'page-shrinks': '?page=2',
  'page-never-ends': '?page=11',
  'page-fails': '?page=2',
  'page-entries-move': '?page=2',
  'page-announced': '?page=3',
  'page-invents': '?page=400',
};

/** Those of which nobody waits for the end. */
const withoutEnd: ReadonlySet<FaultType> = new Set([
  'latency',
  'hang',
  'hang-before-body',
  'hang-in-body',
  'trickle',
]);

const seen = ({ end, status, headers, body }: Outcome) => ({
  end,
  status,
  body: body.toString('latin1'),
  coding: headers['content-encoding'],
  type: headers['content-type'],
  cookie: headers['set-cookie'],
});

describe('a fault', () => {
  it.each(types)('%s changes the answer until it is removed', async (type) => {
    const operation = type.startsWith('page-') ? 'shield_zone' : at(faultTypes[type].appliesTo, 0);
    const { url, key } = addressOf(operation);
    const answer = async (patience: Patience) =>
      seen(await observe(url + (pageOf[type] ?? ''), key, patience));
    const right = await answer({});
    expect(right).toMatchObject({ end: 'complete', status: 200 });

    const remove = simulator.inject({ type, kind: operation, latencyMs: 20_000, decodedBytes: 2_000_000 });
    const timeMs = withoutEnd.has(type) ? 100 : undefined;
    expect(await answer({ bytes: 1_000_000, ...(timeMs && { timeMs }) })).not.toEqual(right);

    remove();
    expect(await answer({})).toEqual(right);
  });

  const statusOf = async ({ url, key }: { url: string; key: string }) => (await ask(url, key)).status;

  it.each<[string, Parameters<typeof simulator.inject>[0], (one: Address) => boolean]>([
    ['every operation by default', { type: 'status-503' }, () => true],
    [
      'several operations',
      { type: 'status-503', kind: ['rate_limit', 'api_guardian'] },
      ({ operation }) => operation === 'rate_limit' || operation === 'api_guardian',
    ],
    [
      'the operations of one API',
      { type: 'status-503', api: 'shield' },
      ({ operation }) => operations.some(({ name, api }) => name === operation && api === 'shield'),
    ],
    [
      'what has a part of the path',
      { type: 'status-503', target: `library/${simulator.libraryIds[0]}` },
      ({ url }) => url.includes(`/library/${simulator.libraryIds[0]}/`),
    ],
  ])('strikes %s, and nothing else', async (_, fault, isStruck) => {
    simulator.inject(fault);
    const addresses = oneOfEach(simulator);
    const statuses = await Promise.all(addresses.map(statusOf));
    expect(statuses).toEqual(addresses.map((one) => (isStruck(one) ? 503 : 200)));
    expect(statuses).toContain(503);
  });

  it('strikes a share of the requests', async () => {
    simulator.inject({ type: 'status-503', share: 0.5 });
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(addressOf('application'))));
    const struck = statuses.filter((status) => status === 503).length;
    expect(struck).toBeGreaterThan(25);
    expect(struck).toBeLessThan(75);
  });

  it('strikes so many times, and replaces older ones meanwhile', async () => {
    simulator.inject({ type: 'status-504' });
    simulator.inject({ type: 'status-503', count: 1 });
    const address = addressOf('rate_limit');
    expect([await statusOf(address), await statusOf(address)]).toEqual([503, 504]);
  });

  it('leaves refusals alone if it is about good answers', async () => {
    simulator.inject({ type: 'gzip' });
    const heard = await ask(urls(simulator).application('nobody'), simulator.keys.account);
    expect(heard.status).toBe(404);
    expect(heard.headers).not.toHaveProperty('content-encoding');
  });

  it('is refused where it can never strike', () => {
    expect(() => simulator.inject({ type: 'page-fails', kind: 'application' })).toThrow(
      /page-fails cannot happen to application/,
    );
  });
});

it('closes connections that a fault keeps open, and keeps its address when it starts again', async () => {
  const another = createSimulator();
  const { origin } = await another.start();
  another.inject({ type: 'hang' });
  const { url, key } = at(oneOfEach(another), 0);
  const hanging = observe(url, key, {});
  while (another.counters.application.requests === 0) await new Promise((resolve) => setImmediate(resolve));
  await another.stop();
  expect(await hanging).toMatchObject({ end: 'ECONNRESET', status: 0 });
  another.clearFaults();
  expect((await another.start()).origin).toBe(origin);
  expect((await ask(url, key)).status).toBe(200);
  await another.stop();
});
