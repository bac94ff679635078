/** What `--config.check` prints. */
import type { Config, SectionConfig } from '../config/config.ts';
import { capacity, rateText, specsOf } from '../polling/capacity.ts';
import type { Resource } from '../resources/resource.ts';
import { count, formatDuration } from '../text.ts';
import { type Style, table } from './terminal.ts';

/** A table by kind, one by account, one by API, a sentence for each API whose pace is too low, and a verdict. */
export function summary(config: Config, resources: readonly Resource[], style: Style): string {
  const specs = specsOf(config, resources);
  const apis = capacity(specs, config.apis);
  const hasListed = config.sections.some(({ targets }) => targets === 'all');
  const neededText = (perSecond: number) =>
    hasListed ? `at least ${leastText(perSecond)}` : rateText(perSecond);
  const accountRows = [...new Set([...config.accounts, ...specs.map(({ account }) => account)])].map(
    (account) => {
      const own = specs.filter((spec) => spec.account === account);
      const needed = own.reduce((sum, { intervalMs }) => sum + 1000 / intervalMs, 0);
      return [account, kindsText(kindsOf(account, config.sections), resources), neededText(needed)];
    },
  );
  const kindRows = config.sections.map(kindRow);
  const apiRows = apis.map(({ api, neededPerSecond, allowedPerSecond }) => {
    // How many requests a listing leads to is known only when it has been read.
    return [api, neededText(neededPerSecond), rateText(allowedPerSecond), config.apis[api].baseUrl];
  });
  const blocks = [
    table([['kind', 'credential', 'interval', 'targets'], ...kindRows], style),
    ...(hasListed
      ? ['How many targets `all` stands for is known after the first poll of their listing.\n']
      : []),
    table([['account', 'kinds', 'requests/s needed'], ...accountRows], style),
    table([['API', 'requests/s needed', 'allowed', 'address'], ...apiRows], style),
    ...config.sections.flatMap((section) => costText(section, resources)),
    ...apis.flatMap(({ shortfall }) => (shortfall === undefined ? [] : [`${shortfall}\n`])),
    `${style('green', '✓')} the configuration is valid\n`,
  ];
  return blocks.join('\n');
}

/** What a section costs whose requests depend on how many things are found: `video_storage: a request for each video and hour` */
function costText({ kind, targets, intervalMs }: SectionConfig, resources: readonly Resource[]): string[] {
  const resource = resources.find((one) => one.kind === kind);
  if (!resource?.isCostly || targets !== 'all') return [];
  const interval = formatDuration(intervalMs);
  return [`${kind}: a request for each ${resource.noun} and ${interval === '1h' ? 'hour' : interval}\n`];
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

function kindRow(section: SectionConfig): string[] {
  const { kind, targets, selection, parents, overrides } = section;
  const own = targets === 'all' ? [] : targets;
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

/** The kinds of which something is read of an account. */
function kindsOf(account: string, sections: readonly SectionConfig[]): readonly string[] {
  const isRead = ({ targets, accounts }: SectionConfig) =>
    targets === 'all' ? accounts.includes(account) : targets.some((target) => target.account === account);
  return sections.filter(isRead).map(({ kind }) => kind);
}

const maxNamedKinds = 5;

/** `billing, audit_log`, `all but video_storage`, `12 of 39`, `none` */
function kindsText(kinds: readonly string[], resources: readonly Resource[]): string {
  if (kinds.length === 0) return 'none';
  if (kinds.length <= maxNamedKinds) return kinds.join(', ');
  const others = resources.map(({ kind }) => kind).filter((kind) => !kinds.includes(kind));
  if (others.length === 0) return 'all';
  return others.length <= maxNamedKinds
    ? `all but ${others.join(', ')}`
    : `${kinds.length} of ${resources.length}`;
}

/** The accounts that list a section of all targets, and the key of a library if the section names one. */
function allCredentialsOf({ accounts, libraryCredential }: SectionConfig): readonly string[] {
  return libraryCredential === undefined ? accounts : [...accounts, libraryCredential];
}
