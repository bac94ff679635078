/** Two accounts as the API has them: all is well with what they have, but for what an event changes. */
import { createApi } from '../../../simulator/api.ts';
import { bytesOf, replyOf } from '../../../simulator/reply.ts';
import { type Request, type Route, reply } from '../../held/whole.ts';
import {
  type AccountName,
  type Asked,
  accountNames,
  type Body,
  createFlows,
  datasets,
  type Edit,
  keysOf,
} from './accounts.ts';
import { calm } from './calm.ts';

/** Which requests something is about. What is left out is any. */
export interface About {
  readonly account?: AccountName;
  readonly api?: string;
  /** The names of operations in the simulator. */
  readonly operations?: readonly string[];
  /** What is in the path. */
  readonly id?: string;
}

/** What a request gets instead of its answer: a status, nothing at all, or a connection that breaks. */
export type Failure = number | 'no answer' | 'reset' | '429 for a minute';

/** How late figures are as a rule. */
const usualLateMs = 4 * 60_000;

export function createWorld() {
  const accounts = accountNames.map((name) => {
    const keys = keysOf(name);
    const api = createApi({ dataset: datasets[name], keys, now: () => Date.now(), maxPageSize: 1000 });
    return { name, key: keys.account, api, flows: createFlows(name) };
  });
  const accountOf = (name: AccountName) => accounts.find((one) => one.name === name) ?? raise(name);
  const failures = new Set<{ readonly about: About; readonly failure: Failure; readonly share: number }>();
  const edits = new Map<string, Set<{ readonly account: AccountName; readonly edit: Edit }>>();
  const refused = new Set<string>();
  /** The key that an account has in place of its first one. */
  const newKeys = new Map<string, string>();
  let lateMs = usualLateMs;
  let knownMs = 0;
  let requests = 0;

  const isAbout = (about: About, account: AccountName, api: string, operation: string, path: string) =>
    (about.account ?? account) === account &&
    (about.api ?? api) === api &&
    path.includes(about.id ?? '') &&
    (about.operations?.includes(operation) ?? true);

  const answer: Route = ({ path, query, key = '' }: Request) => {
    requests++;
    const usual = refused.has(key) ? '' : (newKeys.get(key) ?? key);
    const account = accounts.find(({ api }) => api.knows(usual)) ?? accountOf('acme');
    const ask = (prefix: string) =>
      account.api.handle({ method: 'GET', url: `${prefix}${path}?${query.toString()}`, key: usual });
    // In a whole, the video API has the same address as the others.
    const plain = ask('');
    const exchange = plain.operation ? plain : ask('/video');
    const { api = '', name = '' } = exchange.operation ?? {};
    for (const { about, failure, share } of failures)
      if (isAbout(about, account.name, api, name, path) && (requests * 7) % 10 < share * 10)
        return failed(failure);
    const { status, headers, body } = replyOf(exchange.answer);
    if (status !== 200) return reply(status, bytesOf({ status, headers, body }).toString(), headers as never);
    knownMs = Math.max(knownMs, Date.now() - lateMs);
    const ids = /\d+|[A-Za-z0-9_]{15,}/g;
    const asked: Asked = {
      account: account.name,
      ids: [...`${path}?pullZone=${query.get('pullZone') ?? ''}`.matchAll(ids)].map(([id]) => id),
      query,
      flows: account.flows,
      knownMs,
    };
    let edited: unknown = calm[name]?.(body as Body, asked) ?? body;
    for (const one of edits.get(name) ?? [])
      if (one.account === account.name) edited = one.edit(edited as Body, asked) ?? edited;
    return reply(status, bytesOf({ status, headers, body: edited }).toString(), headers as never);
  };

  return {
    routes: { '*': answer },
    flows: (account: AccountName) => accountOf(account).flows,
    /** Each returned function ends what was begun. */
    fail(about: About, failure: Failure, share = 1) {
      const one = { about, failure, share };
      failures.add(one);
      return () => failures.delete(one);
    },
    edit(account: AccountName, operation: string, edit: Edit) {
      const one = { account, edit };
      const all = edits.get(operation) ?? new Set();
      edits.set(operation, all.add(one));
      return () => all.delete(one);
    },
    refuse(key: string) {
      refused.add(key);
      return () => refused.delete(key);
    },
    remove: (account: AccountName, id: string) => accountOf(account).api.remove(id),
    /** Gives an account a further key. */
    addKey: (account: AccountName, key: string) => void newKeys.set(key, accountOf(account).key),
    /** Figures come so much later from now on. */
    delay(laterMs: number) {
      lateMs = usualLateMs + laterMs;
      return () => {
        lateMs = usualLateMs;
      };
    },
  };
}

export type World = ReturnType<typeof createWorld>;

function raise(name: string): never {
  throw new Error(`there is no account ${name}`);
}

function failed(failure: Failure) {
  if (failure === 'no answer') return () => undefined;
  if (failure === 'reset') return (response: { destroy(): void }) => response.destroy();
  if (failure === '429 for a minute') return reply(429, '', { 'retry-after': '60' });
  return reply(failure, '');
}
