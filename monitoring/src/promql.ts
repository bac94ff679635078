/**
 * The shapes of PromQL that the dashboards share: one value for each target, however many exporters read it; names through
 * the info series; and rankings that do not change over a panel's range.
 */
import { resources } from '../../src/resources/index.ts';
import type { Resource } from '../../src/resources/resource.ts';

/** What can be picked in a dashboard: its identifying labels, where its name is, and the selection by the dashboard's variables. */
export interface Entity {
  readonly ids: readonly string[];
  /** The family whose label `name` names it; undefined where nothing does. */
  readonly info: string | undefined;
  /** Families that have a series for it whether or not it could be read; without a name it is shown by its id. */
  readonly known: readonly string[];
  /** Label matchers on the dashboard's variables. */
  readonly selection: readonly string[];
}

/** The family that has a series for every target of the kind, fresh or stale. */
export function upOf({ metricPrefix }: Resource): string {
  return `${metricPrefix}_up`;
}

/** An entity is known by every kind whose targets carry its labels, unless it is a part of a target and says by what. */
export function entityOf(declared: Omit<Entity, 'known'> & Partial<Pick<Entity, 'known'>>): Entity {
  const carries = ({ ids }: Resource) => declared.ids.every((id) => ids.some(({ label }) => label === id));
  return { known: resources.filter(carries).map(upOf), ...declared };
}

/** The same entity on a dashboard without a variable for it. */
export function all(entity: Entity): Entity {
  return { ...entity, selection: [] };
}

export function selector(metric: string, matchers: readonly string[] = []): string {
  return matchers.length === 0 ? metric : `${metric}{${matchers.join(',')}}`;
}

interface Refinement {
  /** Labels to keep beside the entity's own. */
  readonly by?: readonly string[];
  /** Matchers beside the entity's selection. */
  readonly where?: readonly string[];
}

/** The value of a family for each entity; two exporters that read the same target count once. */
export function values(entity: Entity, metric: string, { by = [], where = [] }: Refinement = {}): string {
  const labels = [...entity.ids, ...by].join(', ');
  return `max by (${labels}) (${selector(metric, [...entity.selection, ...where])})`;
}

/** The sum over a family's further labels for each entity; two exporters that read the same target count once. */
export function sums(entity: Entity, metric: string): string {
  const ids = entity.ids.join(', ');
  return `max by (${ids}) (sum by (job, instance, ${ids}) (${selector(metric, entity.selection)}))`;
}

/**
 * One series, of value 1, for each entity whose label `display` is its name, or its id where it has none. The info series
 * leave the page with the other values while a target cannot be read: the name is the newest of the past six hours. It is
 * chosen once for all steps, at the end of the range, so that a line keeps its name through an outage and a chart of many
 * steps stays cheap.
 *
 * among: an expression for the entities that matter, also evaluated at the end of the range.
 */
export function displayNames(entity: Entity, among?: string): string {
  const ids = entity.ids.join(', ');
  const info = selector(entity.info ?? '', [...entity.selection, 'name!=""']);
  /** Each entity once by its name, if it has one, with the rank of that name; and once by its id. */
  const candidates = (worth: string, modifier: string): string => {
    const named = `max by (${ids}, name) (${info}${modifier}) * ${worth}`;
    const nameless = entity.known.map(
      (up) => `max by (${ids}) (${selector(up, entity.selection)}${modifier}) * 0`,
    );
    return (entity.info === undefined ? nameless : [named, ...nameless]).join(` or on (${ids}) `);
  };
  // A new target may have no name at any step of the past; the name that it has now ranks above any time.
  const every = `max_over_time((${candidates('time()', '')})[6h:10m] @ end()) or ${candidates('1e10', ' @ end()')}`;
  const some = among === undefined ? every : `(${every}) and on (${ids}) ${among}`;
  const best = `topk by (${ids}) (1, ${some}) >= bool 0`;
  const byId = `label_join(${best}, "display", "/", ${entity.ids.map((label) => `"${label}"`).join(', ')})`;
  return entity.info === undefined ? byId : `label_replace(${byId}, "display", "$1", "name", "(.+)")`;
}

/** Adds the label `display` to an expression of one or more series an entity. */
export function named(entity: Entity, expr: string): string {
  return `(${expr}) * on (${entity.ids.join(', ')}) group_left (display) ${displayNames(entity)}`;
}

/**
 * The `limit` entities with the highest peak in the panel's whole range. The choice is made once, so that a chart does not
 * gain a line at every step as with a plain topk(), and does not depend on there being a value at the end.
 */
function highest(limit: number, expr: string): string {
  return `topk(${limit}, max_over_time((${expr})[$__range:$__interval] @ end()))`;
}

/** The series of the entities with the highest peak in the panel's range. */
export function worst(limit: number, entity: Entity, expr: string): string {
  return `(${expr}) and on (${entity.ids.join(', ')}) ${highest(limit, expr)}`;
}

/** The series of some entities, chosen by an expression that is evaluated at the end of the range, with the label `display`. */
export function namedAmong(among: string, entity: Entity, expr: string): string {
  return `(${expr}) * on (${entity.ids.join(', ')}) group_left (display) ${displayNames(entity, among)}`;
}

/** The series of the entities with the highest peak in the panel's range, with the label `display`. */
export function namedWorst(limit: number, entity: Entity, expr: string): string {
  return namedAmong(highest(limit, expr), entity, expr);
}

function ofCounter(call: 'rate' | 'increase', window: string) {
  return (entity: Entity, metric: string, { by = [], where = [] }: Refinement = {}): string => {
    const labels = [...entity.ids, ...by].join(', ');
    return `max by (${labels}) (${call}(${selector(metric, [...entity.selection, ...where])}[${window}]))`;
  };
}

/** What a counter gains in an hour. The exporter reads the API every few minutes, or even hours: less would be uneven. */
export const hourly = ofCounter('increase', '1h');

/** What a counter gains in a second, averaged over half an hour. */
export const perSecond = ofCounter('rate', '30m');
