/** HTTP basic authentication against bcrypt hashes, with bounds on what unknown clients can make it compute. */
import type { PasswordCheck } from './password-check.ts';

export interface AuthLimits {
  /** Comparisons that may wait, for all clients together; the verdict on one more is `busy`. */
  readonly maxWaiting: number;
  /** The same for one address, so that one client cannot keep the others out. */
  readonly maxWaitingPerAddress: number;
  /** Correct passwords to remember. */
  readonly maxRemembered: number;
}

export const defaultAuthLimits: AuthLimits = { maxWaiting: 64, maxWaitingPerAddress: 4, maxRemembered: 256 };

export type Verdict = 'allowed' | 'denied' | 'busy';

export interface BasicAuth {
  /** `users` maps names to bcrypt hashes; `address` is the client's. */
  judge(
    users: ReadonlyMap<string, string>,
    authorization: string | undefined,
    address: string,
  ): Promise<Verdict>;
}

/** Matches no password and costs as much as the costliest hash in use, so an unknown user takes as long as a known one. */
function dummyHash(users: ReadonlyMap<string, string>): string {
  const cost = [...users.values()]
    .map((hash) => hash.slice(4, 6))
    .sort()
    .at(-1);
  return `$2b$${cost}$${'.'.repeat(53)}`;
}

/** Undefined for a header that cannot be parsed. */
function credentialsOf(
  authorization: string | undefined,
): readonly [user: string, password: string] | undefined {
  const encoded = /^basic ((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/i.exec(
    authorization ?? '',
  )?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colonAt = text.indexOf(':');
  return colonAt < 0 ? undefined : [text.slice(0, colonAt), text.slice(colonAt + 1)];
}

export function createBasicAuth(passwords: PasswordCheck, limits: AuthLimits = defaultAuthLimits): BasicAuth {
  /** Passwords are remembered only as digests, under a key that dies with the process. */
  let secret: Buffer | undefined;
  /** The oldest first. Only correct passwords are added, so strangers cannot push others out. */
  const remembered = new Set<string>();
  const underWay = new Map<string, Promise<boolean>>();
  const waitingByAddress = new Map<string, number>();

  async function compare(key: string, password: string, hash: string, address: string): Promise<boolean> {
    waitingByAddress.set(address, (waitingByAddress.get(address) ?? 0) + 1);
    try {
      return await passwords.matches(password, hash);
    } finally {
      underWay.delete(key);
      const left = (waitingByAddress.get(address) ?? 1) - 1;
      if (left > 0) waitingByAddress.set(address, left);
      else waitingByAddress.delete(address);
    }
  }

  return {
    async judge(users, authorization, address) {
      const credentials = credentialsOf(authorization);
      if (!credentials) return 'denied';
      const [user, password] = credentials;
      const known = users.get(user);
      const hash = known ?? dummyHash(users);
      const { createHmac, randomBytes } = process.getBuiltinModule('node:crypto');
      secret ??= randomBytes(32);
      const key = createHmac('sha256', secret)
        .update(JSON.stringify([user, hash, password]))
        .digest('base64');
      if (known !== undefined && remembered.has(key)) return 'allowed';

      // Requests with the same credentials at the same time, as at the first scrapes, share one comparison.
      let answer = underWay.get(key);
      if (!answer) {
        const atAddress = waitingByAddress.get(address) ?? 0;
        if (underWay.size >= limits.maxWaiting || atAddress >= limits.maxWaitingPerAddress) return 'busy';
        answer = compare(key, password, hash, address);
        underWay.set(key, answer);
      }
      if (!(await answer) || known === undefined) return 'denied';
      if (remembered.size >= limits.maxRemembered)
        for (const oldest of [...remembered].slice(0, 1)) remembered.delete(oldest);
      remembered.add(key);
      return 'allowed';
    },
  };
}
