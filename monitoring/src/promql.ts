/**
 * The shapes of PromQL that dashboards and rules share: one value for each target, however many exporters read it; names from a
 * recording rule; and rankings that stay the same over a panel's range. Short queries are easier to read in Grafana's editor, so
 * the matchers that say which targets are meant appear as rarely as possible.
 */
import { accountLabel, allLabelsOf, catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import type { Resource } from '../../src/resources/resource.ts';
import { type Link, linkTo } from './links.ts';

/** The queries of a panel, by their legends. */
export type Queries = Readonly<Record<string, string>>;

/** Something that a dashboard can pick, with the labels that identify it. */
export interface Entity {
  readonly ids: readonly string[];
  /** What one of them is called, as in "Open the pull zone". */
  readonly noun: string;
  /** The labels that the dashboard's variables pick it by: variable to label. */
  readonly picks: Readonly<Record<string, string>>;
  /** The record of its display names; undefined if the ids are names already. */
  readonly display: string | undefined;
  /** The labels of that record: a part of a target may use the target's name. */
  readonly nameIds: readonly string[];
  /** The family whose label `name` has its name. */
  readonly info: string | undefined;
  /** Families that have a series for it even while it cannot be read; without a name it is shown by its id. */
  readonly known: readonly string[];
  /** Label matchers on the dashboard's variables. Without any, accounts are not chosen either. */
  readonly matchers: readonly string[];
  /** To its dashboard, from one of its series. */
  readonly link: Link;
  /** The same from the row of a table. */
  readonly rowLink: Link;
}

/**
 * The selected exporters, by labels that a scrape configuration may add. All but the job are optional: a series that lacks the
 * label is never left out.
 */
export const scope = ['cluster=~"$cluster|"', 'namespace=~"$namespace|"', 'job=~"$job"'];

/** The selected accounts, of series that say whose they are. One that lacks the label is never left out. */
export const ofAccounts = 'account=~"$account|"';

/** How many alerts fire: a record that is there whenever the rules are. */
export const firingCount = 'bunnynet:firing_alerts:count';

/** Whether an expression is empty where the rules are not loaded. */
export function readsRecords(expr: string): boolean {
  return /\bbunnynet:/.test(expr);
}

/** What a query has where it found nothing although the rules are loaded. No figure is as low. */
export const nothingFound = -1e9;

/** The same expression, or `nothingFound`. Without the rules it stays empty, and so proves nothing. */
export function orNothing(expr: string): string {
  return `${expr} or on () 0 * max(${firingCount}) - 1e9`;
}

/** The family that has a series for every target of the kind, fresh or stale. */
export function upOf({ metricPrefix }: Resource): string {
  return `${metricPrefix}_up`;
}

/** Matchers of the `_up` of every kind. */
const anyUp = ['__name__=~"bunnynet_.+_up"', '__name__!~"bunnynet_exporter.+"'];

/** The `_up` of every target of the selected exporters, whoever it belongs to. */
export const targetsOfAll = selector('', [...anyUp, ...scope]);

/** The `_up` of every target of the selected exporters and accounts. */
export function targets(...more: readonly string[]): string {
  return selector('', [...anyUp, ...scope, ofAccounts, ...more]);
}

/**
 * Leaves out what is about a target of another account, or about a part of one. What is about no target stays.
 *
 * @param kinds those that it may be about. Default: all
 */
export function unlessOfOthers(kinds?: readonly string[]): string {
  const others = ofAccounts.replace('=~', '!~');
  const ofId = (resource: Resource) =>
    resource.ids.map(({ label }) => label).find((each) => each !== accountLabel);
  const about = resources.filter((each) => ofId(each) !== undefined && (kinds?.includes(each.kind) ?? true));
  // What is below a target, such as a video of a library, is of the same account.
  const ids = [...new Set(about.flatMap((each) => ofId(each) ?? []))];
  if (ids.length === 0) return '';
  const aboutNone = resources.filter((each) => ofId(each) === undefined).map(upOf);
  const ups = kinds
    ? ids.map((id) => upSeries([id], about.filter((each) => ofId(each) === id).map(upOf), [others]))
    : [selector('', [...anyUp, `__name__!~"${oneOf(aboutNone)}"`, others])];
  return ` unless on (${ids.join(', ')}) ${ups.length > 1 ? `(${ups.join(' or ')})` : ups.join()}`;
}

interface Declared extends Pick<Entity, 'ids' | 'noun' | 'picks'> {
  readonly info?: string;
  /** The address of the dashboard that shows it. */
  readonly dashboard: string;
  /** Default: the `_up` of every kind whose targets have its labels. */
  readonly known?: readonly string[];
}

export function entityOf({ ids, noun, picks, info, dashboard, known }: Declared): Entity {
  const hasIds = (resource: Resource) => ids.every((id) => resource.ids.some(({ label }) => label === id));
  const linkFrom = (source: string): Link => {
    const set = Object.entries(picks).map(([variable, label]) => [variable, `\${${source}.${label}}`]);
    return linkTo(dashboard, `Open the ${noun}`, Object.fromEntries(set) as Record<string, string>);
  };
  return {
    ids,
    noun,
    picks,
    nameIds: ids,
    info,
    display: info?.replace(/^bunnynet_(\w+)_info$/, 'bunnynet:$1_display'),
    known: known ?? resources.filter(hasIds).map(upOf),
    matchers: [...scope, ...Object.entries(picks).map(([variable, label]) => `${label}=~"$${variable}"`)],
    link: linkFrom('__field.labels'),
    rowLink: linkFrom('__data.fields'),
  };
}

/** The same entity on a dashboard without a variable for it. */
export function all(entity: Entity): Entity {
  return { ...entity, matchers: scope };
}

/** The same entity without matchers: for what is joined with a set that is already chosen. */
export function anywhere(entity: Entity): Entity {
  return { ...entity, matchers: [] };
}

export function selector(metric: string, matchers: readonly string[] = []): string {
  return matchers.length === 0 ? metric : `${metric}{${matchers.join(',')}}`;
}

function sharedStart([first = '', ...rest]: readonly string[]): string {
  let length = first.length;
  while (!rest.every((each) => each.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

/** What several alternatives have to share to be written once. */
const shortestShared = 6;

/** A pattern that matches these texts and no others. */
export function oneOf(texts: readonly string[]): string {
  const start = sharedStart(texts);
  if (texts.length === 1) return start;
  const groups: string[][] = [];
  for (const rest of texts.map((text) => text.slice(start.length))) {
    const group = groups.find(([first = '']) => sharedStart([first, rest]).length >= shortestShared);
    if (group) group.push(rest);
    else groups.push([rest]);
  }
  return `${start}(${groups.map(oneOf).join('|')})`;
}

type Chosen = Pick<Entity, 'ids' | 'known' | 'matchers'>;

/**
 * A family's series, of the selected accounts alone. Most families do not say whose they are, but the `_up` of their kind does, and
 * stays while nothing can be read.
 *
 * @param metric a family or a record, or a pattern of families of one kind
 * @param read what is read of the series, and of that `_up` over the same window
 */
function owned(
  { ids, known, matchers }: Chosen,
  metric: string,
  where: readonly string[] = [],
  read = { call: '', window: '' },
): string {
  const { call, window } = read;
  const pattern = new RegExp(`^(?:${metric})$`);
  const family = catalogue.find(({ name }) => pattern.test(name));
  const isPattern = metric.includes('(');
  const saysWhose = family !== undefined && !isPattern && allLabelsOf(family).includes(accountLabel);
  const isChosen = matchers.length > 0;
  const all = [...matchers, ...(isChosen && saysWhose ? [ofAccounts] : []), ...where];
  const series = isPattern ? selector('', [`__name__=~"${metric}"`, ...all]) : selector(metric, all);
  const figure = window === '' ? series : `${call}(${series}${window})`;
  if (!isChosen || saysWhose) return figure;
  const resource = resources.find(({ kind }) => kind === family?.kind);
  const on = resource?.ids.map(({ label }) => label) ?? ids;
  const up = resource ? selector(upOf(resource), [ofAccounts]) : upSeries(ids, known, [ofAccounts]);
  return `${figure} and on (${on.join(', ')}) ${window === '' ? up : `last_over_time(${up}${window})`}`;
}

const ofChosen = String.raw`(?:\w+)?\{[^{}]*account=~"\$account\|"\}`;
const ownedBy = new RegExp(
  String.raw`( and on \([\w, ]+\) )(${ofChosen}(?! @)|last_over_time\((${ofChosen})\[\w+\]\))`,
  'g',
);

/**
 * The same expression of `owned` series for a graph over time: a target is also there before its account, or the account's name,
 * became the one that it has at the end of the range.
 */
export function overRenamings(expr: string): string {
  return expr.replaceAll(
    ownedBy,
    (_, on: string, up: string, inWindow?: string) => `${on}(${up} or ${inWindow ?? up} @ end())`,
  );
}

/** A family's series for the entity, as an operand. */
export function seriesOf(entity: Chosen, metric: string, where: readonly string[] = []): string {
  const series = owned(entity, metric, where);
  return series.includes(' and ') ? `(${series})` : series;
}

/** The series of several families of a kind, by a pattern with a choice in it. */
export function anyOf(entity: Chosen, families: string): string {
  return owned(entity, families);
}

/** A function of a family's series over a window such as `[1h]`. */
export function over(
  window: string,
  call: string,
  entity: Chosen,
  metric: string,
  where: readonly string[] = [],
): string {
  return owned(entity, metric, where, { call, window });
}

/** The sum of a family's figures for each of the selected accounts. */
export function byAccount(metric: string, figure: OfFamily = values): string {
  const kind = catalogue.find(({ name }) => name === metric)?.kind;
  const resource = resources.find((each) => each.kind === kind);
  if (!resource) throw new Error(`no kind has ${metric}`);
  const ids = resource.ids.map(({ label }) => label);
  const whose = `topk by (${ids.join(', ')}) (1, ${selector(upOf(resource), [...scope, ofAccounts])}) * 0 + 1`;
  const all = figure({ ids, known: [], matchers: [] }, metric);
  return `sum by (account) (${all} * on (${ids.join(', ')}) group_left (account) (${whose}))`;
}

/** What a panel that ranks over its whole range reads: the same at each of its steps. */
export const wholeRange = '[$__range] @ end()';

/** The highest of an expression for each entity; two exporters that read the same target count once. */
export function highest(entity: Pick<Entity, 'ids'>, expr: string, by: readonly string[] = []): string {
  return `max by (${[...entity.ids, ...by].join(', ')}) (${expr})`;
}

/**
 * An expression of a family's series for each entity.
 *
 * @param by further labels to keep
 * @param where further matchers
 */
type OfFamily = (entity: Chosen, metric: string, by?: readonly string[], where?: readonly string[]) => string;

export const values: OfFamily = (entity, metric, by = [], where = []) =>
  highest(entity, owned(entity, metric, where), by);

/** One family divided by another of the same target, where the other is above 0. */
export function share(entity: Entity, part: string, whole: string): string {
  return highest(entity, `${seriesOf(entity, part)} / (${whole} > 0)`);
}

/** The sum over a family's further labels for each entity; two exporters that read the same target count once. */
export function sums(entity: Entity, metric: string): string {
  const ids = entity.ids.join(', ');
  return `max by (${ids}) (sum by (job, instance, ${ids}) (${owned(entity, metric)}))`;
}

function ofCounter(call: 'rate' | 'increase', window: string): OfFamily {
  return (entity, metric, by = [], where = []) =>
    highest(entity, over(`[${window}]`, call, entity, metric, where), by);
}

/** What a counter gains in an hour. The exporter reads the API every few minutes, or even hours: less would be uneven. */
export const hourly = ofCounter('increase', '1h');

/** What a counter gains in a second, averaged over half an hour. */
export const perSecond = ofCounter('rate', '30m');

/** The same in a minute, for what happens too rarely to be counted by the second. */
export const perMinute: OfFamily = (...figure) => `60 * ${perSecond(...figure)}`;

function displayOf({ display, ids }: Entity): string {
  if (display === undefined) throw new Error(`nothing names ${ids.join(', ')}`);
  return display;
}

/** Several families share one selector, by how their names begin. */
function upSeries(ids: readonly string[], known: readonly string[], matchers: readonly string[]): string {
  const [first = '', ...rest] = known;
  if (rest.length === 0) return selector(first, matchers);
  const start = sharedStart(known).replace(/[^_]*$/, '');
  return selector('', [`__name__=~"${start}.*up"`, `${ids[0]}!=""`, ...matchers]);
}

/** A series for each of the entities, readable or not. */
export function knownSeries({ ids, known, matchers }: Entity): string {
  return upSeries(ids, known, matchers.length === 0 ? [] : [...matchers, ofAccounts]);
}

/** A series of value 1 for each entity, with its name in the label `display`, or its id if it has none. */
export function displayNames(entity: Entity): string {
  return `${displayOf(entity)} and on (${entity.ids.join(', ')}) ${knownSeries(entity)}`;
}

/** Adds the label `display` to the series of an expression. */
export function named(entity: Entity, expr: string): string {
  return `${expr} * on (${entity.nameIds.join(', ')}) group_left (display) ${displayOf(entity)}`;
}

/**
 * The entities with the highest peak in the panel's whole range, or the largest growth of a counter, over time. They are
 * chosen once: a chart does not gain a line at every step as with a plain topk(), nor depend on the value at the end.
 *
 * @param drawn what is drawn of the family
 * @param nothing what a line at 0 is called where there is nothing in the whole range although the rules are loaded
 */
export function peaks(
  limit: number,
  entity: Entity,
  metric: string,
  drawn: OfFamily = values,
  nothing?: string,
): Queries {
  const call = metric.endsWith('_total') ? 'increase' : 'max_over_time';
  const inRange = over(wholeRange, call, entity, metric);
  const leaders = `topk(${limit}, ${highest(entity, inRange)})`;
  const shown = named(entity, drawn(anywhere(entity), metric));
  return {
    '{{display}}': `${shown} and on (${entity.ids.join(', ')}) ${leaders}`,
    ...(nothing !== undefined && { [nothing]: `0 * max(${firingCount}) unless on () (${inRange})` }),
  };
}

/** The entities with the highest value now of an expression that has one series for each entity or part of one. */
export function top(limit: number, entity: Entity, expr: string, legend = '{{display}}'): Queries {
  return { [legend]: named(entity, `topk(${limit}, ${expr})`) };
}

/** The largest values of one label, over everything in the expression. */
export function topBy(label: string, expr: string): Queries {
  return { [`{{${label}}}`]: `topk(10, sum by (${label}) (${expr}))` };
}

/** The hundred entities with the highest value of any of these families. With `_up` among them, unreadable ones are listed too. */
export function hundred(entity: Entity, families: string): string {
  return `topk(100, ${highest(entity, anyOf(entity, families))})`;
}

/** What a record was in the past day, on average; nothing on its first day. */
export function usual(record: string): string {
  return `(avg_over_time(${record}[1d] offset 1h) and last_over_time(${record}[2h] offset 22h))`;
}

/** The first hours of a month in UTC, in which a figure of a day ago can be one of the month before, also if it was read late. */
export const beganNow = '24 * (day_of_month() - 1) + hour() < 26';

const grownInDay = (cost: string): string => cost.replace(/:max$/, ':growth1d');

/** What a monthly cost grew within a day. One that began anew with the month grew by what it is. */
export function costGrowth(cost: string): {
  readonly record: string;
  readonly comment: string;
  readonly expr: string;
} {
  const dayAgo = `last_over_time(${cost}[15m] offset 1d)`;
  const onFirstDay = `on () ${beganNow}`;
  return {
    record: grownInDay(cost),
    comment: `
      What that grew within a day. On the first of a month a cost has begun anew that is less than half of what it was a day ago, or was so
      since midnight; it grew by what it is, and by what it grew until midnight. Of one that fell otherwise nothing is known.`,
    expr: `
      (
        (
          ${cost} < 0.5 * ${dayAgo}
          or ${cost} and min_over_time((${cost} and ${onFirstDay})[1d:15m]) < 0.5 * ${dayAgo}
        )
        + (clamp_min(last_over_time((${cost} unless ${onFirstDay})[1d:15m]) - ${dayAgo}, 0) or 0 * ${cost})
        and ${onFirstDay}
      )
      or ${cost} - ${dayAgo} >= 0`,
  };
}

/** Where a monthly cost grew within a day by far more than the day before. */
export function costLeap(cost: string): string {
  const growth = grownInDay(cost);
  return `
    ${growth}
    > [[ratio]] * last_over_time(${growth}[15m] offset 1d)
    + clamp_min([[share]] * last_over_time(${cost}[15m] offset 1d), [[dollars]])`;
}
