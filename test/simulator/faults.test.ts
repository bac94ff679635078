/** What other tests rely on: each fault changes what is answered. What the program makes of it is tested there. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type FaultType, faultTypes } from '../../simulator/faults.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { addressOf } from './addresses.ts';

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

/** When to hang up if the answer has not ended. */
interface Patience {
  /** After this many bytes of the body. */
  readonly bytes?: number;
  /** Milliseconds since the request. */
  readonly timeMs?: number;
}

/** What is answered, without decoding. end: complete, left (we hung up), or the error code of the broken connection. */
async function observe(url: string, key: string, { bytes = Number.POSITIVE_INFINITY, timeMs }: Patience) {
  return await new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status: number | undefined;
    let headers: IncomingHttpHeaders = {};
    const asked = request(url, { headers: { AccessKey: key }, agent: false });
    const timer = timeMs === undefined ? undefined : setTimeout(() => end('left'), timeMs);
    const end = (how: string) => {
      clearTimeout(timer);
      asked.destroy();
      resolve({
        end: how,
        status,
        body: Buffer.concat(chunks).toString('latin1'),
        coding: headers['content-encoding'],
        type: headers['content-type'],
        cookie: headers['set-cookie'],
      });
    };
    const broken = (error: NodeJS.ErrnoException) => end(error.code ?? error.message);
    asked.on('error', broken);
    asked.on('response', (response) => {
      status = response.statusCode;
      headers = response.headers;
      let heardBytes = 0;
      response.on('error', broken);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        heardBytes += chunk.byteLength;
        if (heardBytes >= bytes) end('left');
      });
      response.on('end', () => end('complete'));
    });
    asked.end();
  });
}

it.each(types)('%s changes the answer until it is removed', async (type) => {
  const operation = type.startsWith('page-')
    ? 'shield_zone'
    : (faultTypes[type].appliesTo[0] ?? 'application');
  const { url, key } = addressOf(simulator, operation);
  const answer = (patience: Patience) => observe(url + (pageOf[type] ?? ''), key, patience);
  const remove = simulator.inject({ type, kind: operation, latencyMs: 20_000, decodedBytes: 2_000_000 });
  const timeMs = withoutEnd.has(type) ? 100 : undefined;
  const wrong = await answer({ bytes: 1_000_000, ...(timeMs && { timeMs }) });

  remove();
  const right = await answer({});
  expect(right).toMatchObject({ end: 'complete', status: 200 });
  expect(wrong).not.toEqual(right);
});
