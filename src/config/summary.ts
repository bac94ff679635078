/**
 * What a configuration amounts to: how many requests it needs against how many it allows, in numbers and in sentences,
 * and the whole of it as plain data. Pure; a configuration holds no key, so nothing here can show one.
 */
import { type ApiName, apiNames, isReadAlone, type Resource } from '../resources/resource.ts';
import { count, formatDuration, plural } from '../text.ts';
import type { Config, SectionConfig } from './config.ts';
import { formatBytes, isPlainRemote } from './values.ts';

export interface KindPace {
  readonly kind: string;
  /** undefined: all, so that only the listing tells how many. */
  readonly targets: number | undefined;
  readonly shortestIntervalMs: number;
  readonly longestIntervalMs: number;
  /** Without retries; for a listing, its first page alone. */
  readonly requestsPerSecond: number;
}

export interface ApiPace {
  readonly api: ApiName;
  readonly kinds: readonly KindPace[];
  readonly neededPerSecond: number;
  readonly allowedPerSecond: number;
  /** Set when the pace does not suffice: how long it takes to poll every target once, in milliseconds. */
  readonly roundMs: number | undefined;
  /** Set when the pace does not suffice: the numbers, what follows from them, and what to do. */
  readonly message: string | undefined;
}

/** For every API that is asked, whether its pace suffices to poll the listed targets at their intervals. */
export function paceReport(config: Config, resources: readonly Resource[]): readonly ApiPace[] {
  return apiNames.flatMap((api) => {
    const ofApi = resources.filter((resource) => resource.api === api);
    const sections = config.sections.flatMap((section) => {
      const resource = ofApi.find(({ kind }) => kind === section.kind);
      return resource === undefined ? [] : [{ section, resource, polls: pollsOf(section, resource) }];
    });
    if (sections.length === 0) return [];
    const kinds = sections.map(({ section, polls }) => kindPace(section, polls));
    const neededPerSecond = kinds.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
    const allowedPerSecond = config.apis[api].requestsPerSecond;
    const polls = sections.flatMap((each) => each.polls);
    const sufficient = neededPerSecond <= allowedPerSecond * (1 + 1e-9);
    const roundMs = sufficient ? undefined : (polls.length / allowedPerSecond) * 1000;
    const message =
      roundMs === undefined ? undefined : shortfall(api, polls, neededPerSecond, allowedPerSecond, roundMs);
    return [{ api, kinds, neededPerSecond, allowedPerSecond, roundMs, message }];
  });
}

interface Poll {
  readonly intervalMs: number;
  readonly staleAfterMs: number;
}

/** What is asked again and again: every target, or, of a listing, the listing of every credential. */
function pollsOf(section: SectionConfig, resource: Resource): readonly Poll[] {
  if (section.targets === 'all') return isReadAlone(resource) ? [] : [section];
  if (isReadAlone(resource)) return section.targets;
  const listings = new Map<string, Poll>();
  for (const target of section.targets) {
    const known = listings.get(target.credential);
    if (known === undefined || target.intervalMs < known.intervalMs) listings.set(target.credential, target);
  }
  return [...listings.values()];
}

function kindPace(section: SectionConfig, polls: readonly Poll[]): KindPace {
  const targets = section.targets === 'all' ? [section] : section.targets;
  return {
    kind: section.kind,
    targets: section.targets === 'all' ? undefined : targets.length,
    ...range(targets.length === 0 ? [section] : targets),
    requestsPerSecond: polls.reduce((sum, { intervalMs }) => sum + 1000 / intervalMs, 0),
  };
}

function range(polls: readonly Poll[]): { shortestIntervalMs: number; longestIntervalMs: number } {
  let shortestIntervalMs = Number.POSITIVE_INFINITY;
  let longestIntervalMs = 0;
  for (const { intervalMs } of polls) {
    shortestIntervalMs = Math.min(shortestIntervalMs, intervalMs);
    longestIntervalMs = Math.max(longestIntervalMs, intervalMs);
  }
  return { shortestIntervalMs, longestIntervalMs };
}

function shortfall(
  api: ApiName,
  polls: readonly Poll[],
  neededPerSecond: number,
  allowedPerSecond: number,
  roundMs: number,
): string {
  const at = intervals(range(polls));
  const staleAfterMs = polls.reduce(
    (least, poll) => Math.min(least, poll.staleAfterMs),
    Number.POSITIVE_INFINITY,
  );
  const round = `a round takes ${formatDuration(Math.ceil(roundMs / 1000) * 1000)}`;
  const stale = `values go stale after ${formatDuration(staleAfterMs)}`;
  return (
    `${api}: ${plural(polls.length, 'target')} at ${at} need ${rate(neededPerSecond)} requests/s, ` +
    `requests_per_second is ${rate(allowedPerSecond)}: ${round}, ${stale}; ` +
    `raise the interval${roundMs > staleAfterMs ? ', stale_after' : ''} or apis.${api}.requests_per_second`
  );
}

function intervals({ shortestIntervalMs, longestIntervalMs }: ReturnType<typeof range>): string {
  const shortest = formatDuration(shortestIntervalMs);
  return shortestIntervalMs === longestIntervalMs
    ? shortest
    : `${shortest} to ${formatDuration(longestIntervalMs)}`;
}

function rate(perSecond: number): string {
  if (perSecond === 0) return '0';
  return perSecond < 0.01
    ? '<0.01'
    : perSecond.toLocaleString('en-US', { maximumFractionDigits: perSecond < 1 ? 2 : 1 });
}

/** What `--config.check` prints: a table by kind, one by API, and a sentence for every pace that does not suffice. */
export function summary(config: Config, resources: readonly Resource[]): string {
  const pace = paceReport(config, resources);
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

type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** The configuration in force as the file would say it, every default filled in: names of variables and files, no key. */
export function describeConfig(
  config: Config,
  resources: readonly Resource[],
): { readonly [key: string]: Plain } {
  const apis = apiNames.map((api) => {
    const { baseUrl, timeoutMs, maxConcurrency, requestsPerSecond, maxRetries, maxResponseBytes, caFile } =
      config.apis[api];
    const settings = {
      base_url: baseUrl,
      timeout: formatDuration(timeoutMs),
      max_concurrency: maxConcurrency,
      requests_per_second: requestsPerSecond,
      max_retries: maxRetries,
      max_response_bytes: formatBytes(maxResponseBytes),
      ...(caFile === undefined ? {} : { ca_file: caFile }),
      ...(isPlainRemote(baseUrl) ? { allow_insecure_http: true } : {}),
    };
    return [api, settings] as const;
  });
  const sections = config.sections.flatMap((section) => {
    const resource = resources.find(({ kind }) => kind === section.kind);
    return resource === undefined ? [] : [[resource.section, describeSection(section, resource)] as const];
  });
  return {
    credentials: Object.fromEntries(
      Object.entries(config.credentials).map(([name, source]) => [name, { ...source }]),
    ),
    apis: Object.fromEntries(apis),
    ...Object.fromEntries(sections),
    limits: { max_series: config.limits.maxSeries },
  };
}

function describeSection(section: SectionConfig, resource: Resource): Plain {
  const targets =
    section.targets === 'all'
      ? section.targets
      : section.targets.map(({ ids, name, credential, intervalMs, staleAfterMs }) => ({
          ...Object.fromEntries(resource.ids.map(({ label, setting }) => [setting, ids[label] ?? ''])),
          ...(name === undefined ? {} : { name }),
          credential,
          interval: formatDuration(intervalMs),
          stale_after: formatDuration(staleAfterMs),
        }));
  return {
    // Empty where every target names its own.
    ...(section.credential === '' ? {} : { credential: section.credential }),
    interval: formatDuration(section.intervalMs),
    stale_after: formatDuration(section.staleAfterMs),
    ...(section.settings as Readonly<Record<string, Plain>>),
    targets,
  };
}
