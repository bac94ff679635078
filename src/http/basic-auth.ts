/** HTTP basic authentication against bcrypt hashes. Limits the work that clients without a password can cause. */
import { createHmac, randomBytes } from 'node:crypto';

const defaultLimits = {
  /** The most comparisons in flight; the verdict on a further request is `busy`. */
  maxWaiting: 64,
  /** The same for each client address, so that one client cannot keep the others out. */
  maxWaitingPerAddress: 4,
  /** The most correct passwords in the cache. */
  maxRemembered: 256,
};

export type Verdict = 'allowed' | 'denied' | 'busy';

/** Matches no password, and costs as much as the costliest hash in use: unknown users take as long as known ones. */
function dummyHash(users: ReadonlyMap<string, string>): string {
  const costs = Array.from(users.values(), (hash) => hash.slice(4, 6));
  return `$2b$${costs.sort().at(-1)}$${'.'.repeat(53)}`;
}

/** Returns the function that authenticates a request. users: bcrypt hashes by name; address: the client's. */
export function createBasicAuth(
  matches: (password: string, hash: string) => Promise<boolean>,
  limits = defaultLimits,
) {
  /** Correct passwords are cached as digests, with this key, which only the process knows. */
  const secret = randomBytes(32);
  /** Only correct passwords are added, so wrong ones cannot evict them. */
  const remembered = new Set<string>();
  const inFlight = new Map<string, { readonly address: string; readonly answer: Promise<boolean> }>();

  return async (
    users: ReadonlyMap<string, string>,
    authorization: string | undefined,
    address: string,
  ): Promise<Verdict> => {
    const [, encoded = ''] = /^basic (.*)$/i.exec(authorization ?? '') ?? [];
    const decoded = Buffer.from(encoded, 'base64');
    const [, user, password] = /^([^:]*):(.*)$/s.exec(decoded.toString()) ?? [];
    // Node decodes any text without an error.
    const isBase64 = decoded.toString('base64') === encoded;
    if (!isBase64 || user === undefined || password === undefined) return 'denied';
    const known = users.get(user);
    const hash = known ?? dummyHash(users);
    const key = createHmac('sha256', secret)
      .update(JSON.stringify([user, hash, password]))
      .digest('base64');
    if (known !== undefined && remembered.has(key)) return 'allowed';

    // The same credentials at the same time, as at the first scrapes, share one comparison.
    let comparison = inFlight.get(key);
    if (!comparison) {
      const atAddress = [...inFlight.values()].filter((other) => other.address === address).length;
      if (inFlight.size >= limits.maxWaiting || atAddress >= limits.maxWaitingPerAddress) return 'busy';
      comparison = { address, answer: matches(password, hash).finally(() => inFlight.delete(key)) };
      inFlight.set(key, comparison);
    }
    if (!(await comparison.answer) || known === undefined) return 'denied';
    if (remembered.size >= limits.maxRemembered) remembered.clear();
    remembered.add(key);
    return 'allowed';
  };
}
