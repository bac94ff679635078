/** What is planned for accounts of some sizes, once every listing was read. */
import { loadConfig } from '../../src/config/load.ts';
import { capacity } from '../../src/polling/capacity.ts';
import type { SnapshotEntry } from '../../src/polling/listed-things.ts';
import type { ListingSpec } from '../../src/polling/spec.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { Listed } from '../../src/resources/resource.ts';
import { planOf, polledIn, resourceOf } from './fixtures.ts';

/** How many items the listings of an account have, by the kind of the listing; of all others `rest`. */
export interface AccountSizes {
  readonly rest: number;
  readonly sizes: Readonly<Record<string, number>>;
  /** How many of them have every feature that has its own kind. Default: 20. */
  readonly featured?: number;
}

/** That of README.md. */
export const large: AccountSizes = {
  rest: 20,
  sizes: {
    shield_zone: 50,
    // Endpoints of a zone.
    api_guardian_zone: 2,
    rate_limit_zone: 0,
    pull_zone: 100,
    dns_zone: 50,
  },
};

export const small: AccountSizes = {
  rest: 0,
  sizes: { application: 3, pull_zone: 5, shield_zone: 2, dns_zone: 2, video_library: 1, storage_zone: 2 },
};

/** That of docs/compared-with.md: the demo's, with 20 pull zones. */
export const compared: AccountSizes = {
  rest: 0,
  featured: 3,
  sizes: {
    application: 12,
    shield_zone: 5,
    api_guardian_zone: 1,
    storage_zone: 5,
    pull_zone: 20,
    load_balancer: 2,
    dns_zone: 3,
    video_library: 2,
    edge_script: 3,
    database: 3,
  },
};

/** Items with one label. The first of them have every feature that has its own kind. */
function listed(label: string, count: number, featured: number): Listed[] {
  const features = resources.flatMap((resource) =>
    'feature' in resource && resource.feature !== undefined ? [resource.feature] : [],
  );
  return Array.from({ length: count }, (_, i) => ({
    ids: { [label]: `${i + 1}` },
    features: i < featured ? features : [],
  }));
}

function itemsOf(
  { kind, listing, parent }: ListingSpec,
  { sizes, rest, featured = 20 }: AccountSizes,
): readonly Listed[] {
  const label = (listing.ids ?? resourceOf(kind).ids).at(-1)?.label ?? '';
  return listed(label, sizes[kind] ?? rest, featured).map((found) => ({
    ...found,
    ids: { ...parent?.ids, ...found.ids },
  }));
}

/** With every kind that `all` has. */
export async function planOfAccount(sizes: AccountSizes) {
  const document = { credentials: { account: { env: 'KEY' } }, discovery: { kinds: 'all' } };
  const { config } = await loadConfig({ document, env: { KEY: 'k' }, resources });
  const had: Record<string, readonly SnapshotEntry[]> = {};
  for (;;) {
    const everything = planOf(config, { had });
    const unread = [...everything.listings.values()].filter(({ key }) => !had[key]);
    if (unread.length === 0) return { config, everything };
    for (const poll of unread) had[poll.key] = itemsOf(poll, sizes);
  }
}

/** Requests a second. */
export async function neededIn(sizes: AccountSizes): Promise<number> {
  const { config, everything } = await planOfAccount(sizes);
  return capacity(polledIn(everything), config.apis).reduce((sum, one) => sum + one.neededPerSecond, 0);
}
