/** What was changed in an account, by whom as a sort of actor, and when (`/user/audit/{date}`). Persons and settings are not read. */
import { newestAndTotal } from '../charts.ts';
import { defineResource } from '../define.ts';
import {
  boolean,
  instant,
  listOf,
  mapped,
  object,
  ReadingError,
  TooLongError,
  text,
  type ValueOf,
} from '../fields.ts';
import { onPage, type PagedAnswer, withQuery } from '../pages.ts';
import { eachDate } from '../queries.ts';
import type { RequestedRange } from '../requested.ts';
import type { CounterSample } from '../resource.ts';
import { tallyOf, withRest } from '../tallies.ts';

const maxSeries = 100;
const maxPages = 200;
const other = 'other';
const rest = { product: other, resource_type: other, action: other, actor_type: other };

/** The API documents none of the values. What cannot be the name of a sort of thing, such as an address, is no label. */
const sort = mapped(text, (value) => (/^[\w .:/-]{1,64}$/.test(value) ? value : other));

/** Neither the change itself, which can hold a secret, nor who made it. */
const entry = object({
  Timestamp: instant,
  Product: sort,
  ResourceType: sort,
  Action: sort,
  ActorType: sort,
}).ignoring('ResourceId ResourceOwner ActorId Diff');
type Entry = ValueOf<typeof entry>;

function labelsOf({ Product = '', ResourceType = '', Action = '', ActorType = '' }: Entry) {
  return { product: Product, resource_type: ResourceType, action: Action, actor_type: ActorType };
}

const page = object({
  Logs: listOf(entry),
  HasMoreData: boolean,
  ContinuationToken: text,
}).ignoring('StartToken');

interface Changes {
  readonly counts: readonly CounterSample[];
  /** When each was made, in seconds since 1970. */
  readonly times: readonly number[];
}

function changesOf({ Logs = [] }: ValueOf<typeof page>, requested: RequestedRange | undefined): Changes {
  const all = Logs.flatMap((one) => one ?? []);
  return {
    counts: tallyOf(all.map(labelsOf), requested?.startSeconds ?? 0),
    times: all.flatMap(({ Timestamp }) => Timestamp ?? []),
  };
}

/**
 * The whole day with every poll, so that nothing is counted twice or missed: entries have no id, several can have the same time, and
 * the token is empty at the end.
 */
const answer: PagedAnswer<Changes> = {
  shape: page.shape,
  documented: page.documented,
  nothing: { counts: [], times: [] },
  from: (body, diagnostics, requested) => changesOf(page.from(body, diagnostics), requested),
  async readAll(path, get, diagnostics, requested) {
    const tokens = new Set<string>();
    const pages: Changes[] = [];
    for (let token = ''; ; ) {
      const query = token && `ContinuationToken=${encodeURIComponent(token)}`;
      const body = await get(withQuery(path, query)).catch((error: unknown) => {
        throw onPage(pages.length + 1, error);
      });
      const read = page.from(body, diagnostics);
      pages.push(changesOf(read, requested));
      const { HasMoreData: goesOn, ContinuationToken: next = '' } = read;
      if (goesOn === false || (next === '' && goesOn === undefined)) break;
      if (next === '') throw new ReadingError('schema', 'the log goes on, but does not say where');
      if (tokens.has(next))
        throw new ReadingError('schema', `the log repeats itself after page ${pages.length}`);
      if (pages.length === maxPages) throw new TooLongError(`the log did not end after ${maxPages} pages`);
      tokens.add(next);
      token = next;
    }
    return {
      counts: withRest(
        rest,
        pages.flatMap(({ counts }) => counts),
      ),
      times: pages.flatMap(({ times }) => times),
    };
  },
};

const [, total] = newestAndTotal<Changes>(
  'changes',
  'Changes in the account by product, type of resource, action and type of actor, which the API does not document',
  {
    fields: ['Logs'],
    labels: Object.keys(rest),
    bound: { most: maxSeries, rest },
    series: ({ counts }) => withRest(rest, counts),
  },
  'none',
);

export const auditLog = defineResource({
  kind: 'audit_log',
  noun: 'account audit log',
  ofAccount: true,
  defaultIntervalSeconds: 300,
  path: '/user/audit/{date}',
  query: eachDate((date) => date, 'Order=Descending&Limit=500'),
  answer,
  families: () => [
    total,
    {
      name: 'latest_change_timestamp_seconds',
      words:
        'When the latest change of the UTC day was made, as Unix time; nothing before the first (%s: Timestamp)',
      fields: ['Logs'],
      series: ({ times }) =>
        times.reduce<number | undefined>((latest, at) => Math.max(latest ?? at, at), undefined),
    },
  ],
});
