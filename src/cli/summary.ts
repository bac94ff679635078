/** What `--config.check` prints of a configuration. */
import type { Config, SectionConfig } from '../config/config.ts';
import { capacity, intervalsText, pollsOf, rateText } from '../polling/capacity.ts';
import { targetKey } from '../polling/plan.ts';
import type { Resource } from '../resources/resource.ts';
import { count } from '../text.ts';
import { plain, type Style, table } from './terminal.ts';

/**
 * A table by kind, one by API, and a sentence for every pace that does not suffice. With a style, for people: headers
 * dimmed, warnings marked, and the verdict.
 *
 * @param owns whether the target of a key belongs to this process (sharding)
 */
export function summary(
  config: Config,
  resources: readonly Resource[],
  owns: (key: string) => boolean,
  style?: Style,
): string {
  const apis = capacity(pollsOf(config, resources, owns), config.apis);
  const hasListed = config.sections.some(({ targets }) => targets === 'all');
  const kindRows = config.sections.map((section) => kindRow(section, owns));
  const apiRows = apis.map(({ api, neededPerSecond, allowedPerSecond }) => {
    // What follows a listing is not known before it is read.
    const needed = `${hasListed ? 'at least ' : ''}${rateText(neededPerSecond)}`;
    return [api, needed, rateText(allowedPerSecond), config.apis[api].baseUrl];
  });
  const blocks = [
    table([['kind', 'targets', 'interval'], ...kindRows], style ?? plain),
    table([['API', 'requests/s needed', 'allowed', 'address'], ...apiRows], style ?? plain),
    ...apis.flatMap(({ shortfall }) =>
      shortfall === undefined ? [] : [`${style ? `${style.yellow('!')} ` : ''}${shortfall}\n`],
    ),
    ...(style ? [`${style.green('✓')} the configuration is good\n`] : []),
  ];
  return blocks.join('\n');
}

function kindRow({ kind, targets, intervalMs }: SectionConfig, owns: (key: string) => boolean): string[] {
  if (targets === 'all') return [kind, 'all', intervalsText(intervalMs, intervalMs)];
  const own = targets.filter(({ ids }) => owns(targetKey(kind, ids)));
  const intervals = own.length === 0 ? [intervalMs] : own.map((target) => target.intervalMs);
  const shortestMs = intervals.reduce((a, b) => Math.min(a, b));
  const longestMs = intervals.reduce((a, b) => Math.max(a, b));
  return [kind, count(own.length), intervalsText(shortestMs, longestMs)];
}
