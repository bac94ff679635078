/** Rankings: the leading entities out of many, by their names. */
import { bars, lines } from './panels.ts';
import { type Entity, type Figure, named, ranking } from './promql.ts';

type LineOptions = Omit<Parameters<typeof lines>[0], 'queries'>;
type BarOptions = Omit<Parameters<typeof bars>[0], 'queries'>;

/** Lines of the `limit` entities where the figure peaks in the range. */
export function ranked(limit: number, entity: Entity, figure: Figure, options: LineOptions) {
  const legend = entity.display === undefined ? `{{${entity.ids.join('}} {{')}}}` : '{{display}}';
  return lines({ ...options, queries: [{ expr: ranking(limit, entity, figure), legend }] });
}

/** Bars of the `limit` entities for which an expression of one series an entity, or a part of it, is highest now. */
export function rankedNow(
  limit: number,
  entity: Entity,
  expr: string,
  { legend = '{{display}}', ...options }: BarOptions & { readonly legend?: string },
) {
  return bars({ ...options, queries: [{ expr: named(entity, `topk(${limit}, ${expr})`), legend }] });
}

/** Bars of the largest values of one label, over all that the expression has. */
export function rankedBy(label: string, expr: string, options: BarOptions) {
  return bars({
    ...options,
    queries: [{ expr: `topk(10, sum by (${label}) (${expr}))`, legend: `{{${label}}}` }],
  });
}
