/** What `--config.check` prints. */
import type { Config, SectionConfig } from '../config/config.ts';
import { capacity, rateText, specsOf } from '../polling/capacity.ts';
import { targetKey } from '../polling/spec.ts';
import type { Resource } from '../resources/resource.ts';
import { count, formatDuration } from '../text.ts';
import { type Style, table } from './terminal.ts';

/**
 * A table by kind, one by API, a sentence for each API whose pace is too low, and a verdict.
 *
 * @param owns whether the target with this key belongs to this shard
 */
export function summary(
  config: Config,
  resources: readonly Resource[],
  owns: (key: string) => boolean,
  style: Style,
): string {
  const apis = capacity(specsOf(config, resources, owns), config.apis);
  const hasListed = config.sections.some(({ targets }) => targets === 'all');
  const kindRows = config.sections.map((section) => kindRow(section, owns));
  const apiRows = apis.map(({ api, neededPerSecond, allowedPerSecond }) => {
    // How many requests a listing leads to is known only when it has been read.
    const needed = hasListed ? `at least ${leastText(neededPerSecond)}` : rateText(neededPerSecond);
    return [api, needed, rateText(allowedPerSecond), config.apis[api].baseUrl];
  });
  const blocks = [
    table([['kind', 'credential', 'interval', 'targets'], ...kindRows], style),
    ...(hasListed
      ? ['How many targets `all` stands for is known after the first poll of their listing.\n']
      : []),
    table([['API', 'requests/s needed', 'allowed', 'address'], ...apiRows], style),
    ...apis.flatMap(({ shortfall }) => (shortfall === undefined ? [] : [`${shortfall}\n`])),
    `${style('green', '✓')} the configuration is valid\n`,
  ];
  return blocks.join('\n');
}

/** As `rateText`, but with one digit where that says `<0.01`: `0.002`. */
function leastText(perSecond: number): string {
  return perSecond < 0.01 ? String(Number(perSecond.toPrecision(1))) : rateText(perSecond);
}

/** `1m`, or `1m to 1h` */
function intervalsText(shortestMs: number, longestMs: number): string {
  const shortest = formatDuration(shortestMs);
  return shortestMs === longestMs ? shortest : `${shortest} to ${formatDuration(longestMs)}`;
}

function kindRow(section: SectionConfig, owns: (key: string) => boolean): string[] {
  const { kind, targets, selection, parents, overrides } = section;
  const own = targets === 'all' ? [] : targets.filter(({ ids }) => owns(targetKey(kind, ids)));
  const intervalsMs = (targets === 'all' ? [...(overrides?.values() ?? [])] : own)
    .flatMap(({ intervalMs }) => intervalMs ?? [])
    .concat(own.length === 0 ? section.intervalMs : []);
  const shortestMs = intervalsMs.reduce((a, b) => Math.min(a, b));
  const longestMs = intervalsMs.reduce((a, b) => Math.max(a, b));
  const all = selection || parents ? 'all that are selected' : 'all';
  const credentials = targets === 'all' ? allCredentialsOf(section) : own.map(({ credential }) => credential);
  return [
    kind,
    [...new Set(credentials)].join(', ') || '–',
    intervalsText(shortestMs, longestMs),
    targets === 'all' ? all : count(own.length),
  ];
}

/** The accounts that list a section of all targets, and the key of a library if the section names one. */
function allCredentialsOf({ accounts, libraryCredential }: SectionConfig): readonly string[] {
  return libraryCredential === undefined ? accounts : [...accounts, libraryCredential];
}
