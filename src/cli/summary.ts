/** What `--config.check` prints of a configuration. */
import type { Config } from '../config/config.ts';
import { capacity, intervals, rate } from '../polling/capacity.ts';
import type { Resource } from '../resources/resource.ts';
import { count } from '../text.ts';

/** A table by kind, one by API, and a sentence for every pace that does not suffice. */
export function summary(config: Config, resources: readonly Resource[]): string {
  const pace = capacity(config, resources);
  const kinds = pace.flatMap((each) => each.kinds);
  const tables = [
    table([
      ['kind', 'targets', 'interval'],
      ...kinds.map((kind) => [
        kind.kind,
        kind.targets === undefined ? 'all' : count(kind.targets),
        intervals(kind),
      ]),
    ]),
    table([
      ['API', 'requests/s needed', 'allowed', 'address'],
      ...pace.map(({ api, kinds: asked, neededPerSecond, allowedPerSecond }) => [
        api,
        // What follows a listing is not known before it is read.
        `${asked.some(({ targets }) => targets === undefined) ? 'at least ' : ''}${rate(neededPerSecond)}`,
        rate(allowedPerSecond),
        config.apis[api].baseUrl,
      ]),
    ]),
    ...pace.flatMap(({ message }) => (message === undefined ? [] : [`${message}\n`])),
  ];
  return tables.join('\n');
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
