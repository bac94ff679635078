/**
 * The accounts, zones and libraries that the simulated API has: who exists and what never changes about them, all from a
 * seed and a shape. It knows nothing of time, of answers or of HTTP.
 */
import { hash, magnitude, text, unit } from './random.ts';

/** How many of each there are. */
export interface Shape {
  readonly applications: number;
  readonly zones: number;
  /** API Guardian endpoints; they need a zone. */
  readonly endpoints: number;
  /** Zones with rate limits; at most as many as there are zones. */
  readonly rateLimitZones: number;
  /** Rate-limit rules of each such zone. */
  readonly rulesPerZone: number;
  readonly libraries: number;
  readonly videosPerLibrary: number;
}

/** About 600, 60,000 and 600,000 series on the exporter's page. */
export const scales = {
  small: {
    applications: 12,
    zones: 5,
    endpoints: 6,
    rateLimitZones: 3,
    rulesPerZone: 2,
    libraries: 2,
    videosPerLibrary: 5,
  },
  medium: {
    applications: 2_650,
    zones: 120,
    endpoints: 40,
    rateLimitZones: 40,
    rulesPerZone: 3,
    libraries: 4,
    videosPerLibrary: 250,
  },
  full: {
    applications: 26_500,
    zones: 1_200,
    endpoints: 300,
    rateLimitZones: 250,
    rulesPerZone: 3,
    libraries: 20,
    videosPerLibrary: 500,
  },
} as const satisfies Record<string, Shape>;

export type Scale = keyof typeof scales;

/** What each entity's numbers are drawn from. */
interface Seeded {
  readonly seed: number;
  readonly index: number;
}

export interface Application extends Seeded {
  /** A short opaque string. */
  readonly id: string;
  readonly name: string;
  readonly latencyMs: number;
  readonly volumeGb: number;
  readonly dollarsPerDay: number;
  /** The state, besides `active`, that this application passes through. */
  readonly ring: number;
  readonly ringPlace: number;
  readonly ringSize: number;
}

export interface Zone extends Seeded {
  /** Decimal digits of an integer of up to 64 bits, as every numeric id here. */
  readonly shieldZoneId: string;
  readonly pullZoneId: string;
  readonly name: string;
  /** 0 basic, 1 advanced, 2 business, 3 enterprise. */
  readonly planType: number;
}

export interface Endpoint extends Seeded {
  readonly shieldZoneId: string;
  readonly endpointId: string;
  readonly name: string;
  readonly requestsPerDay: number;
}

export interface RateLimitZone {
  readonly shieldZoneId: string;
  readonly name: string;
  readonly rules: readonly RateLimitRule[];
}

export interface RateLimitRule extends Seeded {
  readonly rateLimitId: string;
  readonly breachesPerDay: number;
}

export interface Video extends Seeded {
  readonly libraryId: string;
  /** A GUID. */
  readonly videoId: string;
  readonly name: string;
  readonly originalBytes: number;
  readonly renditions: readonly Rendition[];
}

export interface Rendition {
  readonly name: string;
  readonly codec: string | null;
  readonly resolution: string | null;
  readonly bytes: number;
}

export interface Keys {
  /** For the application and the shield API. */
  readonly account: string;
  /** The key of each video library. */
  readonly libraries: Readonly<Record<string, string>>;
  /** The read-only key of each video library, which is refused here. */
  readonly readOnlyLibraries: Readonly<Record<string, string>>;
}

export interface World {
  readonly seed: number;
  readonly applications: readonly Application[];
  readonly zones: readonly Zone[];
  readonly endpoints: readonly Endpoint[];
  readonly rateLimitZones: readonly RateLimitZone[];
  readonly libraryIds: readonly string[];
  readonly videos: readonly Video[];
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const hexadecimal = '0123456789abcdef';

// Each kind of entity draws from its own stream.
const streams = { application: 1, zone: 2, endpoint: 3, rule: 4, video: 5, key: 6 } as const;

/** API Guardian comes with the plans from here on. */
export const guardianPlan = 2;

/** States that an application passes through: each belongs to a fifth of the applications. */
export const ringCount = 5;

/** Every thousandth of a large world's ids or so needs more than the 53 bits of a double. */
const wideIdBase = 9_007_199_254_740_993n;

export function createWorld(seed: number, shape: Shape): World {
  if (shape.endpoints > 0 && shape.zones === 0) throw new RangeError('endpoints need a zone');
  if (shape.rateLimitZones > shape.zones) throw new RangeError('more zones with rate limits than zones');
  const zones = count(shape.zones, (index) => createZone(seed, index));
  const guarded = zones.filter((zone) => zone.planType >= guardianPlan);
  const limited = [...guarded, ...zones.filter((zone) => zone.planType < guardianPlan)];
  const libraryIds = count(shape.libraries, (index) => String(248_113 + 3_794 * index));
  return {
    seed,
    applications: count(shape.applications, (index) => createApplication(seed, index, shape.applications)),
    zones,
    endpoints:
      guarded.length === 0 ? [] : count(shape.endpoints, (index) => createEndpoint(seed, index, guarded)),
    rateLimitZones: limited
      .slice(0, shape.rateLimitZones)
      .map((zone, index) => createRateLimitZone(seed, index, zone, shape.rulesPerZone)),
    libraryIds,
    videos: libraryIds.flatMap((libraryId, library) =>
      count(shape.videosPerLibrary, (place) =>
        createVideo(seed, library * shape.videosPerLibrary + place, libraryId),
      ),
    ),
  };
}

/** Keys that nothing else on a page or in a log can be taken for. */
export function createKeys(seed: number, libraryIds: readonly string[]): Keys {
  const key = (name: string, place: number) =>
    `sim-${name}-key-${text(hash(seed, streams.key, place), 32, hexadecimal)}`;
  return {
    account: key('account', 0),
    libraries: Object.fromEntries(libraryIds.map((id, index) => [id, key(`library-${id}`, index + 1)])),
    readOnlyLibraries: Object.fromEntries(
      libraryIds.map((id, index) => [id, key(`read-only-${id}`, -1 - index)]),
    ),
  };
}

const services = [
  'storefront',
  'checkout',
  'product-search',
  'image-resizer',
  'customer-login',
  'order-events',
  'recommendations',
  'newsletter',
  'price-feed',
  'store-locator',
  'gift-cards',
  'spring-campaign',
  'returns-portal',
  'stock-sync',
  'reviews',
  'invoice-render',
  'loyalty',
  'shipping-quotes',
  'session-cache',
  'feature-flags',
] as const;

const places = ['ams', 'fra', 'lju', 'waw', 'lon', 'nyc', 'lax', 'sao', 'sin', 'syd', 'tyo', 'jnb'] as const;

const zoneNames = [
  'www',
  'staging',
  'shop',
  'media',
  'api',
  'help',
  'blog',
  'partners',
  'press',
  'jobs',
] as const;

const endpointNames = [
  'POST /checkout',
  'POST /login',
  'GET /search',
  'POST /v1/orders',
  'PUT /cart/{id}',
  'GET /v1/stock/{sku}',
  'POST /reviews',
  'DELETE /v1/sessions/{id}',
] as const;

const videoNames = [
  'Spring collection trailer',
  'How a boot is made',
  'Store opening in Ljubljana',
  'Care guide: leather',
  'Onboarding 1: the till',
  'Onboarding 2: returns',
  'Safety in the warehouse',
  'Quarterly all-hands',
] as const;

function createApplication(world: number, index: number, total: number): Application {
  const seed = hash(world, streams.application, index);
  const ring = index % ringCount;
  return {
    seed,
    index,
    id: text(seed, 15, letters),
    name: nth(services, index, (round) => `-${nth(places, round)}`),
    latencyMs: magnitude(8, 220, unit(seed, 1)),
    volumeGb: unit(seed, 2) < 0.25 ? 0 : magnitude(0.5, 400, unit(seed, 3)),
    dollarsPerDay: magnitude(0.05, 40, unit(seed, 4)),
    ring,
    ringPlace: Math.floor(index / ringCount),
    ringSize: Math.min(40, Math.max(2, Math.ceil((total - ring) / ringCount))),
  };
}

function createZone(world: number, index: number): Zone {
  return {
    seed: hash(world, streams.zone, index),
    index,
    shieldZoneId: index % 100 === 50 ? String(wideIdBase + BigInt(index)) : String(48_210 + 7 * index),
    pullZoneId: String(1_304_551 + 13 * index),
    name: nth(zoneNames, index, (round) => `-${nth(places, round)}`),
    planType: index % 2 === 0 ? 2 + ((index / 2) % 2) : ((index - 1) / 2) % 2,
  };
}

function createEndpoint(world: number, index: number, zones: readonly Zone[]): Endpoint {
  const seed = hash(world, streams.endpoint, index);
  const zone = zones[index % zones.length] as Zone;
  return {
    seed,
    index,
    shieldZoneId: zone.shieldZoneId,
    endpointId: String(1_201 + index),
    name: `${nth(endpointNames, index, () => '')} (${zone.name})`,
    requestsPerDay: magnitude(2_000, 1_500_000, unit(seed, 1)),
  };
}

function createRateLimitZone(world: number, index: number, zone: Zone, rules: number): RateLimitZone {
  return {
    shieldZoneId: zone.shieldZoneId,
    name: zone.name,
    rules: count(rules, (place) => {
      const rule = index * rules + place;
      const seed = hash(world, streams.rule, rule);
      return {
        seed,
        index: rule,
        rateLimitId: index % 50 === 25 ? String(wideIdBase + BigInt(rule)) : String(90_417 + 3 * rule),
        breachesPerDay: magnitude(20, 9_000, unit(seed, 1)),
      };
    }),
  };
}

const ladder = [
  { name: '240p', resolution: '426x240', share: 0.04 },
  { name: '360p', resolution: '640x360', share: 0.08 },
  { name: '480p', resolution: '854x480', share: 0.13 },
  { name: '720p', resolution: '1280x720', share: 0.24 },
  { name: '1080p', resolution: '1920x1080', share: 0.42 },
] as const;

function createVideo(world: number, index: number, libraryId: string): Video {
  const seed = hash(world, streams.video, index);
  const originalBytes = Math.round(magnitude(4e6, 9e9, unit(seed, 1)));
  const codec = index % 5 === 3 ? 'av1' : index % 5 === 4 ? 'vp9' : 'h264';
  const steps = 2 + (hash(seed, 2) % 4);
  return {
    seed,
    index,
    libraryId,
    videoId: guid(seed),
    name: nth(videoNames, index, (round) => `, part ${round + 2}`),
    originalBytes,
    renditions: ladder.slice(0, steps).map((step, place) => ({
      name: step.name,
      codec: index % 6 === 5 && place === 0 ? null : codec,
      resolution: index % 9 === 8 && place === 0 ? null : step.resolution,
      bytes: Math.round(originalBytes * step.share * (0.9 + 0.2 * unit(seed, 3, place))),
    })),
  };
}

/** The name at the index; from the second round through the list on it is told apart by the suffix and, later, a number. */
function nth(names: readonly string[], index: number, suffix?: (round: number) => string): string {
  const name = names[index % names.length] as string;
  const round = Math.floor(index / names.length);
  if (round === 0) return name;
  return suffix === undefined ? `${name}-${round + 1}` : `${name}${suffix(round - 1)}`;
}

function guid(seed: number): string {
  const digits = text(seed, 32, hexadecimal);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join('-');
}

function count<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}
