/** What was changed in the account, with the change and who made it (`/user/audit/{date}`). */
import { dayMs, dayOf, minuteMs } from '../days.ts';
import { count, hash, secret, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';

interface Audit {
  readonly auditSeed: number;
}

export const auditLog = {
  kind: 'audit_log',
  section: 'audit_log',
  create: (seed): Audit => ({ auditSeed: hash(seed, 32) }),
  ...coreApi,
  path: '/user/audit/{date}',
  traits: {},
  targets: () => [{ ids: {} }],
  answers: (dataset: Audit) => (request: Request) => ok(log(dataset.auditSeed, request)),
} as const satisfies Kind;

const sorts = [
  ['PullZone', 'PullZone', 'Updated', 'User'],
  ['PullZone', 'EdgeRule', 'Created', 'User'],
  ['Shield', 'ShieldZone', 'Updated', 'ApiKey'],
  ['Dns', 'DnsRecord', 'Updated', 'ApiKey'],
  ['MagicContainers', 'Application', 'Deployed', 'System'],
] as const;

/** How often a day somebody works on the account. */
const sittings = 3;

/** Page by page, by default the oldest first. The token is empty on the last page. */
function log(seed: number, { ids: [date = ''], query, nowMs }: Request) {
  const day = dayOf(Date.parse(date) || nowMs);
  const all = count(6 + (hash(seed, day) % 8), (place) => {
    // One job runs every night. People make many changes within a few minutes, and then none for hours.
    const sitting = (day + 0.98 * unit(seed, day, place % sittings)) * dayMs;
    const atMs =
      place === 0 ? day * dayMs + minuteMs : sitting + unit(hash(seed, 1), day, place) * 10 * minuteMs;
    const [Product, ResourceType, Action, ActorType] =
      sorts[hash(seed, day, place) % sorts.length] ?? sorts[0];
    return {
      Timestamp: new Date(atMs).toISOString(),
      Product,
      ResourceType,
      ResourceId: String(1_000 + place),
      ResourceOwner: 'jane@example.com',
      Action,
      ActorId: `jane-${place}@example.com`,
      ActorType,
      Diff: JSON.stringify({ OriginUrl: `https://user:${secret('diff', hash(seed, place))}@origin.example` }),
    };
  })
    .filter(({ Timestamp }) => Date.parse(Timestamp) <= nowMs)
    .toSorted((a, b) => (a.Timestamp < b.Timestamp ? -1 : 1));
  if (query.get('Order') === 'Descending') all.reverse();
  const limit = Number(query.get('Limit') ?? 20);
  const first = Number(query.get('ContinuationToken') ?? 0);
  const HasMoreData = first + limit < all.length;
  return {
    Logs: all.slice(first, first + limit),
    HasMoreData,
    ContinuationToken: HasMoreData ? String(first + limit) : '',
    StartToken: '0',
  };
}
