/** Charts of a few entities out of many: those with the highest peak in the range, by their names. */
import { lines } from './panels.ts';
import { type Entity, namedWorst, worst } from './promql.ts';

type LineOptions = Omit<Parameters<typeof lines>[0], 'queries'>;

/** The `limit` entities where the expression, of one series an entity, peaks. */
export function ranked(limit: number, entity: Entity, expr: string, options: LineOptions) {
  return lines({ ...options, queries: [{ expr: namedWorst(limit, entity, expr), legend: '{{display}}' }] });
}

/** The largest values of one label, over all that the expression has, stacked. */
export function rankedBy(label: string, expr: string, options: LineOptions) {
  const parts: Entity = { ids: [label], info: undefined, known: [], selection: [] };
  return lines({
    stacked: true,
    ...options,
    queries: [{ expr: worst(15, parts, `sum by (${label}) (${expr})`), legend: `{{${label}}}` }],
  });
}
