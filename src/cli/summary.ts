/** What `--config.check` prints of a configuration. */
import type { Config } from '../config/config.ts';
import { capacity, intervals, rate } from '../polling/capacity.ts';
import type { Resource } from '../resources/resource.ts';
import { count } from '../text.ts';
import { plain, type Style, table } from './terminal.ts';

/**
 * A table by kind, one by API, and a sentence for every pace that does not suffice. With a style, for people: headers
 * dimmed, warnings marked, and the verdict.
 */
export function summary(config: Config, resources: readonly Resource[], style?: Style): string {
  const apis = capacity(config, resources);
  const kindRows = apis
    .flatMap(({ kinds }) => kinds)
    .map((kind) => [kind.kind, kind.targets === undefined ? 'all' : count(kind.targets), intervals(kind)]);
  const apiRows = apis.map(({ api, kinds, neededPerSecond, allowedPerSecond }) => {
    // What follows a listing is not known before it is read.
    const atLeast = kinds.some(({ targets }) => targets === undefined) ? 'at least ' : '';
    return [api, `${atLeast}${rate(neededPerSecond)}`, rate(allowedPerSecond), config.apis[api].baseUrl];
  });
  const blocks = [
    table([['kind', 'targets', 'interval'], ...kindRows], style ?? plain),
    table([['API', 'requests/s needed', 'allowed', 'address'], ...apiRows], style ?? plain),
    ...apis.flatMap(({ message }) =>
      message === undefined ? [] : [`${style ? `${style.yellow('!')} ` : ''}${message}\n`],
    ),
    ...(style ? [`${style.green('✓')} the configuration is good\n`] : []),
  ];
  return blocks.join('\n');
}
