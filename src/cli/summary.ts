/** What `--config.check` prints. */
import type { Config, SectionConfig } from '../config/config.ts';
import type { Selection } from '../discovery/selector.ts';
import { capacity, intervalsText, pollsOf, rateText } from '../polling/capacity.ts';
import { targetKey } from '../polling/target.ts';
import type { Resource } from '../resources/resource.ts';
import { count, oneOf, plural } from '../text.ts';
import { plain, plainText, type Style, table } from './terminal.ts';

/**
 * A table by kind, one by API, and a sentence for each API whose pace is too low. With a style also marks and a verdict.
 *
 * @param owns whether the target with this key belongs to this shard
 */
export async function summary(
  config: Config,
  resources: readonly Resource[],
  owns: (key: string) => boolean,
  style?: Style,
): Promise<string> {
  const apis = capacity(await pollsOf(config, resources, owns), config.apis);
  const hasListed = config.sections.some(({ targets }) => targets === 'all');
  const kindRows = config.sections.map((section) => {
    const resource = resources.find(({ kind }) => kind === section.kind);
    return kindRow(section, resource, owns);
  });
  const apiRows = apis.map(({ api, neededPerSecond, allowedPerSecond }) => {
    // How many requests a listing leads to is known only when it has been read.
    const needed = `${hasListed ? 'at least ' : ''}${rateText(neededPerSecond)}`;
    return [api, needed, rateText(allowedPerSecond), config.apis[api].baseUrl];
  });
  const blocks = [
    table([['kind', 'interval', 'targets'], ...kindRows], style ?? plain),
    ...(hasListed
      ? ['How many targets `all` stands for is known after the first poll of their listing.\n']
      : []),
    table([['API', 'requests/s needed', 'allowed', 'address'], ...apiRows], style ?? plain),
    ...apis.flatMap(({ shortfall }) =>
      shortfall === undefined ? [] : [`${style ? `${style('yellow', '!')} ` : ''}${shortfall}\n`],
    ),
    ...(style ? [`${style('green', '✓')} the configuration is good\n`] : []),
  ];
  return blocks.join('\n');
}

function kindRow(
  section: SectionConfig,
  resource: Resource | undefined,
  owns: (key: string) => boolean,
): string[] {
  const { kind, targets, overrides } = section;
  const own = targets === 'all' ? [] : targets.filter(({ ids }) => owns(targetKey(kind, ids)));
  const intervalsMs = (targets === 'all' ? [...(overrides?.values() ?? [])] : own)
    .flatMap(({ intervalMs }) => intervalMs ?? [])
    .concat(own.length === 0 ? section.intervalMs : []);
  const shortestMs = intervalsMs.reduce((a, b) => Math.min(a, b));
  const longestMs = intervalsMs.reduce((a, b) => Math.max(a, b));
  const what = targets === 'all' ? allText(section, resource) : count(own.length);
  return [kind, intervalsText(shortestMs, longestMs), what];
}

/** `all, name or id matches prod-.*; 2 overrides` */
function allText({ selection, parents, overrides }: SectionConfig, resource: Resource | undefined): string {
  const nouns = resource?.listing?.parent?.nouns;
  const words = [
    ['all', ...selectionText(selection)].join(', '),
    ...(parents ? [`of ${[nouns, ...selectionText(parents)].join(', ')}`] : []),
    ...(overrides?.size ? [plural(overrides.size, 'override')] : []),
  ];
  return plainText(words.join('; '));
}

/** `name or id matches prod-.*`, `not .*-preview` */
function selectionText(selection: Selection | undefined): readonly string[] {
  const { include = [], exclude = [] } = selection ?? {};
  const subject = 'name or id matches';
  if (include.length > 0) {
    return [`${subject} ${oneOf(include)}`, ...(exclude.length > 0 ? [`not ${oneOf(exclude)}`] : [])];
  }
  return exclude.length > 0 ? [`neither name nor id matches ${oneOf(exclude)}`] : [];
}
