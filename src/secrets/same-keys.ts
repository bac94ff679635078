/** Which accounts have the key of another one: somebody copied the wrong secret. */
import { type KeyOrProblem, Secret } from './credentials.ts';

/** An account that is not read, because it has the key of another one. */
export interface SameKey {
  readonly account: string;
  /** The first account with this key, which is read. */
  readonly other: string;
}

/** Keys that cannot be read are not equal. accounts: in the order of the configuration. */
export function sameKeys(
  accounts: readonly string[],
  keyOf: (account: string) => KeyOrProblem | undefined,
): readonly SameKey[] {
  const first = new Map<string, string>();
  return accounts.flatMap((account) => {
    const key = keyOf(account);
    if (!(key instanceof Secret)) return [];
    const other = first.get(key.id);
    if (other !== undefined) return [{ account, other }];
    first.set(key.id, account);
    return [];
  });
}
