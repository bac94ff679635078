/** GET requests that change something, cost something or answer keys and persons: no request of the exporter can be one of them. */
import { describe, expect, it } from 'vitest';
import { everything } from '../../simulator/everything.ts';
import { prefixes } from '../../simulator/kind.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import {
  type ApiName,
  type IdField,
  type Ids,
  isReadAlone,
  type Listing,
  operationsOf,
} from '../../src/resources/resource.ts';
import { runs } from '../runs.ts';
import { pollAll } from '../simulator/page.ts';
import { single, startSimulator } from '../simulator/start.ts';

/** What stands before a path in the vendor's documents. */
const bases: Readonly<Record<ApiName, string>> = {
  application: 'https://api.bunny.net/mc',
  shield: 'https://api.bunny.net',
  core: 'https://api.bunny.net',
  video: 'https://video.bunnycdn.com',
  origin_errors: 'https://cdn-origin-logging.bunny.net',
};

/** Each with a request that it is about. */
const forbidden: readonly (readonly [about: string, pattern: RegExp, example: string])[] = [
  [
    'issues a certificate',
    /^api\.bunny\.net\/pullzone\/loadfreecertificate/,
    'https://api.bunny.net/pullzone/loadFreeCertificate?hostname=a',
  ],
  [
    'answers private keys',
    /[?&]includecertificate=/,
    'https://api.bunny.net/pullzone?page=1&includeCertificate=true',
  ],
  [
    'makes an AI work',
    /^api\.bunny\.net\/shield\/.*\/ai-recommendation(\/|$)/,
    'https://api.bunny.net/shield/waf/rules/review-triggered/ai-recommendation/7/941100',
  ],
  ['answers keys', /^api\.bunny\.net\/apikey/, 'https://api.bunny.net/apikey?page=1'],
  [
    'answers environment variables',
    /^api\.bunny\.net\/mc\/apps\/[^/?]+\/?(\?|$)/,
    'https://api.bunny.net/mc/apps/HbqFnk0KZjzYOcp',
  ],
  ['answers parts of passwords', /^api\.bunny\.net\/mc\/registries/, 'https://api.bunny.net/mc/registries/7'],
  ['answers a token', /^api\.bunny\.net\/log\/forwarding/, 'https://api.bunny.net/log/forwarding'],
  [
    'answers code and persons',
    /^api\.bunny\.net\/compute\/script\/[^/]+\/(code|releases|secrets)/,
    'https://api.bunny.net/compute/script/7/releases?page=1',
  ],
  [
    'answers what visitors sent',
    /^api\.bunny\.net\/shield\/event-logs(\/|$)/,
    'https://api.bunny.net/shield/event-logs/7/08-20-2026',
  ],
  ['is a raw log', /^logging\.bunnycdn\.com/, 'https://logging.bunnycdn.com/08-20-26/7.log'],
  [
    'mints tokens',
    /^api\.bunny\.net\/database\/v\d+\/(databases\/[^/]+\/)?auth(\/|$)/,
    'https://api.bunny.net/database/v2/databases/db_1/auth/generate',
  ],
];

/** The request as a server understands it: with `.` and `..` resolved, without regard to case. */
function understood(url: string): string {
  const { host, pathname, search } = new URL(url);
  return `${host}${decodeURIComponent(pathname)}${search}`.toLowerCase();
}

function forbiddenBy(url: string): readonly string[] {
  return forbidden.flatMap(([about, pattern]) => (pattern.test(understood(url)) ? [about] : []));
}

it.each(forbidden)('%s is recognized', (about, _pattern, example) => {
  expect(forbiddenBy(example)).toEqual([about]);
});

/** Ids of the form, the most harmful ones. Dots alone are none. */
const hostile: Readonly<Record<IdField['form'], readonly string[]>> = {
  integer: ['7', '0'],
  guid: ['0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f'],
  opaque: ['.a', 'a', 'summary', 'autoscaling', 'auth', 'registries', 'ai-recommendation', 'apikey'],
};

function* idsOf([field, ...others]: readonly IdField[]): Iterable<Ids> {
  if (!field) {
    yield {};
    return;
  }
  for (const id of hostile[field.form]) for (const ids of idsOf(others)) yield { [field.label]: id, ...ids };
}

const nothing = { mismatch: () => undefined, unrecognized: () => undefined };

/** The first request that it makes; answered with an error, so that there is no other. */
async function firstAsked(
  ask: (get: (path: string) => Promise<never>) => Promise<unknown>,
): Promise<readonly string[]> {
  const asked: string[] = [];
  await ask((path) => {
    asked.push(path);
    return Promise.reject(new Error('asked'));
  }).catch(() => undefined);
  return asked;
}

describe.each(resources)('$kind', (resource) => {
  const isListing = (one: object): one is Listing => 'discover' in one;

  it('asks for none of them, whatever the ids', async () => {
    const urls: string[] = [];
    const nowMs = Date.parse('2026-08-20T12:00:00Z');
    const past = { fromMs: Date.parse('2026-07-11'), toMs: Date.parse('2026-08-08') };
    if (isReadAlone(resource)) {
      for (const ids of idsOf(resource.ids))
        for (const context of [{ nowMs }, { nowMs, past }]) {
          const asked = await firstAsked((get) => resource.read(get, ids, nothing, context));
          urls.push(...asked.map((path) => bases[resource.api] + path));
        }
    }
    for (const listing of operationsOf(resource).filter(isListing)) {
      for (const parent of idsOf(listing.parent?.ids ?? [])) {
        const asked = await firstAsked((get) => listing.discover(get, parent, nothing, nowMs));
        urls.push(...asked.map((path) => bases[listing.api] + path));
      }
    }
    expect(urls).not.toEqual([]);
    for (const url of urls) expect(forbiddenBy(url), url).toEqual([]);
  });
});

it('a whole account asks for none of them', async () => {
  const simulator = await startSimulator({ logRequests: true, shape: runs(single, {}) });
  await pollAll(everything(simulator, { api: () => ({ requests_per_second: 5000, max_concurrency: 100 }) }));
  const apis = Object.entries(prefixes).toSorted(([, a], [, b]) => b.length - a.length);
  const urls = simulator.requests.map(({ path }) => {
    const [api = 'core', prefix = ''] = apis.find(([, one]) => path.startsWith(`${one}/`)) ?? [];
    return bases[api as ApiName] + path.slice(prefix.length);
  });
  expect(urls.length).toBeGreaterThan(resources.length);
  for (const url of new Set(urls)) expect(forbiddenBy(url), url).toEqual([]);
});
