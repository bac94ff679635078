import { expect, it } from 'vitest';
import { CredentialError, type KeyOrProblem, Secret } from '../../src/secrets/credentials.ts';
import { sameKeys } from '../../src/secrets/same-keys.ts';

it('of the accounts with one key all but the first have that of another; keys that cannot be read are not equal', () => {
  const keys = new Map<string, KeyOrProblem>([
    ['a', new CredentialError('there is none')],
    ['b', new Secret('one')],
    ['c', new Secret('two')],
    ['d', new Secret('one')],
    ['e', new CredentialError('there is none')],
    ['f', new Secret('one')],
  ]);
  expect(sameKeys(['a', 'b', 'c', 'd', 'e', 'f', 'unknown'], (account) => keys.get(account))).toEqual([
    { account: 'd', other: 'b' },
    { account: 'f', other: 'b' },
  ]);
});
