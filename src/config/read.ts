/** Turns a document into the configuration: checks settings against each other and decides which credential each target uses. */
import { resolve } from 'node:path';
import type { Selection } from '../discovery/selector.ts';
import { type ApiName, apiNames, type Ids, type Resource } from '../resources/resource.ts';
import { didYouMean, formatDuration, oneOf, quote } from '../text.ts';
import type { ApiConfig, Config, SectionConfig, TargetConfig } from './config.ts';
import type { Document } from './document.ts';
import type { Path, Report } from './problems.ts';
import {
  type ApiSettings,
  isOfAccount,
  minStaleAfterIntervals,
  type SectionSettings,
  selectionKeys,
  staleAfterIntervals,
  type TargetSettings,
  takesAll,
} from './schema.ts';
import { readSettings } from './settings.ts';
import { isPlainRemote } from './values.ts';
import { isMapping, type Mapping } from './yaml.ts';

interface Context {
  readonly report: Report;
  readonly place: Document['place'];
  /** The names of all credentials, also of wrong ones. */
  readonly names: readonly string[];
  /** The credential of the account, which lists everything. */
  readonly account: string | undefined;
}

type Section = SectionSettings & { readonly resource: Resource; readonly isDiscovered: boolean };

/** If anything was reported, only the credentials and the files of the result can be used, to check them too. */
export function readDocument(
  { raw, directory, place }: Document,
  resources: readonly Resource[],
  report: Report,
): Config {
  const discovered = discover(raw, resources, report);
  const names = isMapping(raw['credentials']) ? Object.keys(raw['credentials']) : [];
  refuseSelections(raw, resources, report);
  const added = Object.fromEntries(discovered.map(({ section }) => [section, { targets: 'all' }]));
  const settings = readSettings({ ...raw, ...added }, resources, names, report);
  const { credentials, apis, discovery, limits } = settings;
  const present = resources.flatMap((resource): Section[] => {
    const section = settings[resource.section] as SectionSettings | undefined;
    return section ? [{ ...section, resource, isDiscovered: discovered.includes(resource) }] : [];
  });
  const account = accountOf(present, names);
  if (discovered.length > 0 && account === undefined && names.length > 0) {
    const message = `expected to know which of the credentials (${names.join(', ')}) is the account's`;
    report(['discovery', 'kinds'], `${message}: name it in a section`);
  }
  const sources = Object.entries(credentials).map(([name, source]) => [
    name,
    'file' in source ? { file: resolve(directory, source.file) } : source,
  ]);
  return {
    credentials: Object.fromEntries(sources) as Config['credentials'],
    apis: Object.fromEntries(
      apiNames.map((api) => [api, toApi(apis[api], api, directory, report)]),
    ) as Config['apis'],
    sections: present.map((section) => toSection(section, { report, place, names, account })),
    discovery: { intervalMs: discovery.interval },
    limits: { maxSeries: limits.max_series },
  };
}

/** The kinds that `kinds: all` turns on. */
function discover(raw: Mapping, resources: readonly Resource[], report: Report) {
  const { discovery } = raw;
  if (!isMapping(discovery)) return [];
  const { kinds = 'none' } = discovery;
  if (kinds === 'none' && 'except' in discovery) {
    report(['discovery', 'except'], 'expected only with `kinds: all`');
  }
  if (kinds !== 'all') return [];
  const except = Array.isArray(discovery['except']) ? discovery['except'] : [];
  return resources.filter(
    (resource) => takesAll(resource) && !(resource.section in raw) && !except.includes(resource.kind),
  );
}

/** `include` and the like with a list of targets, even if those are wrong. */
function refuseSelections(raw: Mapping, resources: readonly Resource[], report: Report): void {
  for (const { section, listing } of resources) {
    const settings = raw[section];
    if (!listing || !isMapping(settings) || !Array.isArray(settings['targets'])) continue;
    for (const key of selectionKeys) {
      if (!(key in settings) || (key === 'parents' && !listing.parent)) continue;
      report([section, key], 'expected only with `targets: all`; the targets are a list');
    }
  }
}

/**
 * The only credential, that of the first section that is not of the video API, or the only one that no video section uses: a
 * library's key cannot list anything.
 */
function accountOf(sections: readonly Section[], names: readonly string[]): string | undefined {
  if (names.length === 1) return names[0];
  const isOfVideos = ({ resource }: Section) => resource.api === 'video';
  const named = sections.flatMap((section) => (isOfVideos(section) ? [] : (section.credential ?? [])));
  const ofVideos = new Set(
    sections.filter(isOfVideos).flatMap(({ credential, targets }) => {
      const ofTargets = targets === 'all' ? [] : targets.map((target) => target?.credential);
      return [credential, ...ofTargets];
    }),
  );
  const others = names.filter((name) => !ofVideos.has(name));
  return named.find((name) => names.includes(name)) ?? (others.length === 1 ? others[0] : undefined);
}

function toApi(settings: ApiSettings, api: ApiName, directory: string, report: Report): ApiConfig {
  const { base_url: baseUrl, ca_file } = settings;
  if (isPlainRemote(baseUrl) && !settings.allow_insecure_http) {
    const message = 'expected an https address, because over http the key is sent unencrypted';
    report(['apis', api, 'base_url'], `${message}; allow_insecure_http: true allows it anyway`);
  }
  return {
    baseUrl,
    timeoutMs: settings.timeout,
    maxConcurrency: settings.max_concurrency,
    requestsPerSecond: settings.requests_per_second,
    maxRetries: settings.max_retries,
    maxResponseBytes: settings.max_response_bytes,
    caFile: ca_file === undefined ? undefined : resolve(directory, ca_file),
  };
}

function toSection(section: Section, context: Context): SectionConfig {
  const { resource, targets, credential: named, interval: intervalMs, isDiscovered } = section;
  const { account, names, report } = context;
  const path = [resource.section];
  const staleAfterMs = section.stale_after ?? staleAfterIntervals * intervalMs;
  checkStaleness(staleAfterMs, intervalMs, path, report);
  checkCredential(named, path, context);
  const isListedVideo = resource.api === 'video' && targets === 'all';
  const credential = named ?? (isListedVideo || isDiscovered || names.length === 1 ? account : undefined);
  const isAll = targets === 'all' || isOfAccount(resource);
  const isNeeded = isAll || targets.some((target) => target && !target.credential);
  if (isNeeded && credential === undefined && !isDiscovered && names.length > 1) {
    const which = `one of the ${names.length} credentials (${names.join(', ')})`;
    const unless = isAll ? '' : ', unless every target names its own';
    report([...path, 'credential'], `expected the name of ${which}${unless}`);
  }
  const own = Object.entries(section).filter(([key]) => Object.hasOwn(resource.settings, key));
  return {
    kind: resource.kind,
    credential: credential ?? '',
    // The account's key does not open a library.
    ...(isListedVideo && {
      isCredentialNamed: named !== undefined && named !== account,
      listingCredential: account ?? named,
    }),
    intervalMs,
    staleAfterMs,
    settings: Object.fromEntries(own),
    selection: selectionOf(section),
    parents: section.parents && selectionOf(section.parents),
    overrides: overridesOf(section, context),
    targets: targets === 'all' ? targets : targetsOf(targets, section, credential, context),
  };
}

function targetsOf(
  targets: readonly (TargetSettings | undefined)[],
  section: Section,
  credential: string | undefined,
  context: Context,
): readonly TargetConfig[] {
  return listed(targets, 'targets', section, context).map(({ settings, ids, intervalMs, staleAfterMs }) => ({
    ids,
    name: settings.name,
    credential: settings.credential ?? credential ?? '',
    intervalMs,
    staleAfterMs,
  }));
}

function overridesOf(section: Section, context: Context): SectionConfig['overrides'] {
  if (section.overrides === undefined) return undefined;
  const overrides = listed(section.overrides, 'overrides', section, context);
  return new Map(
    overrides.map(({ key, isOwn, settings: { name, interval: intervalMs }, staleAfterMs }) => [
      key,
      { name, intervalMs, staleAfterMs: isOwn ? staleAfterMs : undefined },
    ]),
  );
}

/** Targets or overrides, with the section's settings as defaults. Reports duplicates. */
function listed(
  list: readonly (TargetSettings | undefined)[],
  name: 'targets' | 'overrides',
  { resource, interval, stale_after }: Section,
  context: Context,
) {
  const { report, place } = context;
  const firsts = new Map<string, Path>();
  return list.flatMap((settings, index) => {
    if (settings === undefined) return [];
    const path = [resource.section, name, index];
    const ids = idsOf(settings, resource);
    const key = Object.values(ids).join('/');
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, path);
    else {
      const { line, path: name } = place(first);
      const where = line === undefined ? `at ${name}` : `on line ${line}`;
      report(path, `expected each target once; ${quote(key)} is already ${where}`);
    }
    checkCredential(settings.credential, path, context);
    const isOwn = settings.interval !== undefined || settings.stale_after !== undefined;
    const intervalMs = settings.interval ?? interval;
    const staleAfterMs = settings.stale_after ?? stale_after ?? staleAfterIntervals * intervalMs;
    if (isOwn) checkStaleness(staleAfterMs, intervalMs, path, report);
    return [{ key, ids, settings, isOwn, intervalMs, staleAfterMs }];
  });
}

function checkStaleness(staleAfterMs: number, intervalMs: number, path: Path, report: Report): void {
  const leastMs = Math.ceil(minStaleAfterIntervals * intervalMs);
  if (staleAfterMs >= leastMs) return;
  const message = `expected at least ${formatDuration(leastMs)}, ${minStaleAfterIntervals} times the interval, or values leave between two polls`;
  report([...path, 'stale_after'], `${message}; got ${formatDuration(staleAfterMs)}`);
}

function checkCredential(name: string | undefined, path: Path, { names, report }: Context): void {
  if (name === undefined || names.length === 0 || names.includes(name)) return;
  const message = `expected a credential that is defined: ${oneOf(names)}`;
  report([...path, 'credential'], `${message}${didYouMean(name, names)}`);
}

/** The ids of a target, in the order of its labels. */
function idsOf(settings: TargetSettings, { ids }: Resource): Ids {
  return Object.fromEntries(ids.map(({ label, setting }) => [label, settings[setting]])) as Ids;
}

function selectionOf({
  include = [],
  exclude = [],
}: Pick<SectionSettings, 'include' | 'exclude'>): Selection | undefined {
  return include.length + exclude.length === 0 ? undefined : { include, exclude };
}
