/**
 * The shapes of PromQL that the dashboards share: one value for each target however many exporters read it, names through
 * the info series, and rankings that hold still over a panel's range. It knows no panel and no rule.
 */

/** What can be picked in a dashboard: its identifying labels, where its name is, and the selection by the dashboard's variables. */
export interface Entity {
  readonly ids: readonly string[];
  /** The family whose label `name` names it; undefined where nothing does. */
  readonly info: string | undefined;
  /** Families that have a series for it whether or not it could be read: they name it by its id where there is no name. */
  readonly known: readonly string[];
  /** Label matchers on the dashboard's variables. */
  readonly selection: readonly string[];
}

/** The families that stand on the page for every target of a kind, fresh or stale. */
export const upFamilies = {
  application: 'bunnynet_application_up',
  shield_zone: 'bunnynet_shield_zone_up',
  api_guardian: 'bunnynet_shield_api_guardian_up',
  rate_limit: 'bunnynet_shield_rate_limit_up',
  video_storage: 'bunnynet_video_storage_up',
} as const;

export const application: Entity = {
  ids: ['app_id'],
  info: 'bunnynet_application_info',
  known: [upFamilies.application],
  selection: ['app_id=~"$application"'],
};

export const zone: Entity = {
  ids: ['shield_zone_id'],
  info: 'bunnynet_shield_zone_info',
  known: [upFamilies.shield_zone, upFamilies.rate_limit, upFamilies.api_guardian],
  selection: ['shield_zone_id=~"$zone"'],
};

export const guardianEndpoint: Entity = {
  ids: ['shield_zone_id', 'endpoint_id'],
  info: 'bunnynet_shield_api_guardian_info',
  known: [upFamilies.api_guardian],
  selection: ['shield_zone_id=~"$zone"'],
};

export const video: Entity = {
  ids: ['library_id', 'video_id'],
  info: 'bunnynet_video_info',
  known: [upFamilies.video_storage],
  selection: ['library_id=~"$library"', 'video_id=~"$video"'],
};

/** A library has no name of its own in the API: it is known by its id. */
export const library: Entity = {
  ids: ['library_id'],
  info: undefined,
  known: [upFamilies.video_storage],
  selection: ['library_id=~"$library"'],
};

/** The same thing on a dashboard that has no variable to pick it by. */
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

/**
 * One series, of value 1, for each entity whose label `display` is its name, or its id where it has none. The info series
 * leave the page with the other values while a target cannot be read: the name is the newest that was seen in the window,
 * chosen once for all steps, so that a line keeps its name through an outage.
 */
export function displayNames(entity: Entity, window = '$__range:$__interval'): string {
  const ids = entity.ids.join(', ');
  const known = entity.known
    .map((up) => `max by (${ids}) (${selector(up, entity.selection)}) >= bool 0`)
    .join(` or on (${ids}) `);
  const labelId = (expr: string): string =>
    `label_join(${expr}, "display", "/", ${entity.ids.map((label) => `"${label}"`).join(', ')})`;
  if (entity.info === undefined) return labelId(known);
  const named = selector(entity.info, [...entity.selection, 'name!=""']);
  const seenAt = (modifier: string): string => `max by (${ids}, name) (timestamp(${named}${modifier}))`;
  // The steps of the window may all lie before a target that is new.
  const seen = `max_over_time((${seenAt('')})[${window}] @ end()) or ${seenAt(' @ end()')}`;
  const latest = `topk by (${ids}) (1, ${seen}) > bool 0`;
  return `label_replace(${labelId(`${latest} or on (${ids}) ${known}`)}, "display", "$1", "name", "(.+)")`;
}

/** Adds the label `display` to an expression of one or more series an entity. */
export function named(entity: Entity, expr: string): string {
  return `(${expr}) * on (${entity.ids.join(', ')}) group_left (display) ${displayNames(entity)}`;
}

/**
 * The series of the `limit` entities with the highest peak in the panel's whole range: the choice is made once, so that a
 * chart does not gain a line at every step as a plain topk() would, and it does not depend on a value at the end.
 */
export function worst(limit: number, entity: Entity, expr: string): string {
  const ids = entity.ids.join(', ');
  return `(${expr}) and on (${ids}) topk(${limit}, max_over_time((${expr})[$__range:$__interval] @ end()))`;
}

/**
 * How much a figure of the newest day has grown within a window. The figure falls to nothing at midnight, and the API may
 * correct it downwards; increase() would take each correction for a fresh start and count the whole day again.
 */
export function growth(entity: Entity, metric: string, window: string, refinement: Refinement = {}): string {
  const ids = [...entity.ids, ...(refinement.by ?? [])].join(', ');
  const matchers = [...entity.selection, ...(refinement.where ?? [])];
  const series = selector(metric, matchers);
  return `max by (${ids}) (${series} - min_over_time(${series}[${window}]))`;
}
