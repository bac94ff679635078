/** docs/migrating.md: what it names of this exporter exists. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownFamilies } from './monitoring/families.ts';
import { misusedCounters, readExpression } from './monitoring/promql.ts';

const page = readFileSync(new URL('../docs/migrating.md', import.meta.url), 'utf8');

/** The metric of the other exporter and our query, from each row of each table. */
const rows = [...page.matchAll(/^\| `(\w+)` \|.* `(.+)` \|$/gm)].map(([, theirs = '', ours = '']) => ({
  theirs,
  ours,
}));
const blocks = [...page.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
const families = await knownFamilies();
const queries = [...rows.map(({ ours }) => ours), ...blocks];

describe('the page about migrating', () => {
  it.each(queries)('names only existing metrics and labels, in a query that parses: %s', (query) => {
    const { errors, selectors, ...expression } = readExpression(query);
    expect(errors).toEqual([]);
    expect(misusedCounters({ errors, selectors, ...expression })).toEqual([]);
    for (const { metric, labels } of selectors) {
      // A selector by name alone, such as {__name__=~"…"}, has no metric.
      if (metric === '') continue;
      expect([...families.keys()]).toContain(metric);
      const known = families.get(metric);
      if (known) expect(known).toEqual(expect.arrayContaining([...labels]));
    }
  });

  it('names all that another exporter calls as this one does', () => {
    const alike = rows.map(({ theirs }) => theirs).filter((name) => families.has(name));
    const [, listed = ''] = /^.*names are also names of this\nexporter,([\s\S]*?)\n\n/m.exec(page) ?? [];
    expect(new Set(Array.from(listed.matchAll(/`(\w+_\w+)`/g), ([, name]) => name))).toEqual(new Set(alike));
  });

  it('names in its text only metrics of this exporter or the others', () => {
    const known = new Set([...families.keys(), ...rows.map(({ theirs }) => theirs)]);
    const named = [...page.matchAll(/\bbunny(?:net|cdn)?_[a-z0-9_]*[a-z0-9]\b(?![/_])/g)].map(
      ([name]) => name,
    );
    const repositories = ['bunnynet_prometheus', 'bunnycdn_exporter'];
    expect(named.filter((name) => !known.has(name) && !repositories.includes(name))).toEqual([]);
  });
});
