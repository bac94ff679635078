/**
 * The shapes of PromQL that the dashboards share: one value for each target, however many exporters read it; names by a recording
 * rule; and rankings that do not change over a panel's range. Grafana's editor and a reader of a query both like them short: what
 * says which targets are meant, the scope and the selection, stands in a query as rarely as it can.
 */
import { resources } from '../../src/resources/index.ts';
import type { Resource } from '../../src/resources/resource.ts';

/** What can be picked in a dashboard: its identifying labels, where its name is, and the selection by the dashboard's variables. */
export interface Entity {
  readonly ids: readonly string[];
  /** The record of its display names; undefined where the ids are names already. */
  readonly display: string | undefined;
  /** The labels of that record: a part of a target may go by the target's name. */
  readonly nameIds: readonly string[];
  /** The family whose label `name` names it. */
  readonly info: string | undefined;
  /** Families that have a series for it whether or not it could be read; without a name it is shown by its id. */
  readonly known: readonly string[];
  /** Label matchers on the dashboard's variables. */
  readonly matchers: readonly string[];
}

/**
 * The exporters that are meant, by labels that a scrape configuration may add. All but the job are optional: a series that lacks
 * the label is never left out.
 */
export const scope = [
  'cluster=~"$cluster|"',
  'namespace=~"$namespace|"',
  'job=~"$job"',
  'account=~"$account|"',
];

/** The family that has a series for every target of the kind, fresh or stale. */
export function upOf({ metricPrefix }: Resource): string {
  return `${metricPrefix}_up`;
}

interface Declared extends Pick<Entity, 'ids' | 'info'> {
  readonly known?: readonly string[];
  readonly selection: readonly string[];
}

/** An entity is known by every kind whose targets carry its labels, unless it is a part of a target and says by what. */
export function entityOf({ ids, info, known, selection }: Declared): Entity {
  const carries = (resource: Resource) => ids.every((id) => resource.ids.some(({ label }) => label === id));
  return {
    ids,
    nameIds: ids,
    info,
    display: info?.replace(/^bunnynet_(\w+)_info$/, 'bunnynet:$1_display'),
    known: known ?? resources.filter(carries).map(upOf),
    matchers: [...scope, ...selection],
  };
}

/** The same entity on a dashboard without a variable for it. */
export function all(entity: Entity): Entity {
  return { ...entity, matchers: scope };
}

/** The same entity wherever it is: for what is joined with a set that is chosen already. */
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

/** A pattern that these texts match and no others. */
export function oneOf(texts: readonly string[]): string {
  const start = sharedStart(texts);
  return texts.length === 1 ? start : `${start}(${texts.map((text) => text.slice(start.length)).join('|')})`;
}

interface Refinement {
  /** Labels to keep beside the entity's own. */
  readonly by?: readonly string[];
  /** Matchers beside the entity's own. */
  readonly where?: readonly string[];
}

/** A family's series for the entity. */
export function seriesOf(entity: Entity, metric: string, where: readonly string[] = []): string {
  return selector(metric, [...entity.matchers, ...where]);
}

/** The highest of an expression for each entity; two exporters that read the same target count once. */
export function highest(entity: Entity, expr: string, by: readonly string[] = []): string {
  return `max by (${[...entity.ids, ...by].join(', ')}) (${expr})`;
}

/** The value of a family for each entity. */
export function values(entity: Entity, metric: string, { by = [], where = [] }: Refinement = {}): string {
  return highest(entity, seriesOf(entity, metric, where), by);
}

/** One family to another of the same target, where the other is above 0. */
export function share(entity: Entity, part: string, whole: string, by: readonly string[] = []): string {
  return highest(entity, `${seriesOf(entity, part)} / (${whole} > 0)`, by);
}

/** The sum over a family's further labels for each entity; two exporters that read the same target count once. */
export function sums(entity: Entity, metric: string): string {
  const ids = entity.ids.join(', ');
  return `max by (${ids}) (sum by (job, instance, ${ids}) (${seriesOf(entity, metric)}))`;
}

function ofCounter(call: 'rate' | 'increase', window: string) {
  return (entity: Entity, metric: string, { by = [], where = [] }: Refinement = {}): string =>
    highest(entity, `${call}(${seriesOf(entity, metric, where)}[${window}])`, by);
}

/** What a counter gains in an hour. The exporter reads the API every few minutes, or even hours: less would be uneven. */
export const hourly = ofCounter('increase', '1h');

/** What a counter gains in a second, averaged over half an hour. */
export const perSecond = ofCounter('rate', '30m');

/** The same of what is too slow to be counted by the second. */
export const perMinute: typeof perSecond = (...figure) => `60 * ${perSecond(...figure)}`;

/** A series of value 1 for each entity whose label `display` is its name, or its id where it has none. */
function displayOf({ display, ids }: Entity): string {
  if (display === undefined) throw new Error(`nothing names ${ids.join(', ')}`);
  return display;
}

/** Whether or not it can be read: a series for each of the entities, of some family. Their names begin alike, to be one selector. */
export function knownSeries({ ids, known, matchers }: Entity): string {
  const [first = '', ...rest] = known;
  if (rest.length === 0) return selector(first, matchers);
  return selector('', [
    `__name__=~"${sharedStart(known).replace(/[^_]*$/, '')}.*up"`,
    `${ids[0]}!=""`,
    ...matchers,
  ]);
}

/** The names of the entities that are meant. */
export function displayNames(entity: Entity): string {
  return `${displayOf(entity)} and on (${entity.ids.join(', ')}) ${knownSeries(entity)}`;
}

/** Adds the label `display` to an expression of one or more series an entity. */
export function named(entity: Entity, expr: string): string {
  return `${expr} * on (${entity.nameIds.join(', ')}) group_left (display) ${displayOf(entity)}`;
}

/** What is drawn of the entities of a ranking. */
export interface Figure {
  readonly metric: string;
  /** A counter is drawn as what it gains in a second, a minute or an hour, and ranked by what it gains in the whole range. */
  readonly as?: 'rate' | 'perMinute' | 'hourly';
  readonly where?: readonly string[];
  /** A record with one series an entity, drawn in place of the family. */
  readonly drawn?: string;
}

/**
 * The entities with the highest peak in the panel's whole range, or the largest growth. The choice is made once, so that a chart
 * does not gain a line at every step as with a plain topk(), and does not depend on there being a value at the end.
 */
function leaders(limit: number, entity: Entity, { metric, as, where = [] }: Figure): string {
  const call = as === undefined ? 'max_over_time' : 'increase';
  const series = seriesOf(entity, metric, where);
  return `topk(${limit}, ${highest(entity, `${call}(${series}[$__range] @ end())`)})`;
}

const drawn = { rate: perSecond, perMinute, hourly };

/** The series of the leading entities, with the label `display`, or without where the entity's ids are names. */
export function ranking(limit: number, entity: Entity, figure: Figure): string {
  const { metric, as, where = [] } = figure;
  const expr = figure.drawn ?? (as === undefined ? values : drawn[as])(anywhere(entity), metric, { where });
  const shown = entity.display === undefined ? expr : named(entity, expr);
  return `${shown} and on (${entity.ids.join(', ')}) ${leaders(limit, entity, figure)}`;
}
