/** Turns settings into the configuration: checks them against each other and decides which credential each target uses. */
import { resolve } from 'node:path';
import type { Selection } from '../discovery/selector.ts';
import { type ApiName, apiNames, type Ids, operationsOf, type Resource } from '../resources/resource.ts';
import { didYouMean, expectedOf, formatDuration, orList, quote } from '../text.ts';
import { apis as defaults } from './apis.ts';
import type { ApiConfig, ApiSettingNames, Config, SectionConfig, TargetConfig } from './config.ts';
import type { Document } from './document.ts';
import type { AddProblem, Path } from './problems.ts';
import {
  type ApiSettings,
  isOfAccount,
  minStaleAfterIntervals,
  type SectionSettings,
  type Settings,
  sectionSchema,
  selectionKeys,
  staleAfterIntervals,
  type TargetSettings,
  takesAll,
} from './schema.ts';
import { isPlainRemote } from './values.ts';

interface Context {
  readonly report: AddProblem;
  readonly place: Document['place'];
  /** The names of all credentials. */
  readonly names: readonly string[];
  /** The credential of the account, which lists everything. */
  readonly account: string | undefined;
}

/** A section with its kind. isImplicit: the document does not have it, but `kinds: all` turns it on. */
type Section = SectionSettings & { readonly resource: Resource; readonly isImplicit: boolean };

/** Reports every contradiction between settings. If there is one, the result must not be used to poll. */
export function readConfig(
  settings: Settings,
  { directory, place }: Document,
  resources: readonly Resource[],
  report: AddProblem,
): Config {
  const { credentials, apis, discovery, limits } = settings;
  const sections = resources.flatMap((resource) => sectionOf(resource, settings));
  const names = Object.keys(credentials);
  const account = accountOf(sections, names);
  if (discovery.kinds === 'none' && discovery.except) {
    report(['discovery', 'except'], 'expected only with `kinds: all`');
  }
  if (discovery.kinds === 'none' && sections.length === 0) {
    const examples = orList(resources.slice(0, 3).map(({ section }) => section));
    report(
      [],
      `expected \`discovery: { kinds: all }\`, or a section that says what to poll, such as ${examples}`,
    );
  }
  if (sections.some(({ isImplicit }) => isImplicit) && account === undefined) {
    const message = `expected to know which of the credentials (${names.join(', ')}) is the account's`;
    report(['discovery', 'kinds'], `${message}: name it in a section`);
  }
  const used = new Set(sections.flatMap(({ resource }) => operationsOf(resource)).map(({ api }) => api));
  const sources = Object.entries(credentials).map(([name, source]) => [
    name,
    'file' in source ? { file: resolve(directory, source.file) } : source,
  ]);
  return {
    credentials: Object.fromEntries(sources) as Config['credentials'],
    apis: Object.fromEntries(
      apiNames.map((api) => [
        api,
        { ...toApi(apis[api], api, directory, report), names: namesOf(api, apis, used, place) },
      ]),
    ) as Config['apis'],
    sections: sections.map((section) => toSection(section, { report, place, names, account })),
    discovery: { intervalMs: discovery.interval },
    limits: { maxSeries: limits.max_series },
  };
}

/** The section of a kind, from the document or because `kinds: all` turns it on. */
function sectionOf(resource: Resource, settings: Settings): readonly Section[] {
  const { kinds, except = [] } = settings.discovery;
  const written = settings[resource.section] as SectionSettings | undefined;
  if (written) return [{ ...written, resource, isImplicit: false }];
  if (kinds === 'none' || !takesAll(resource) || except.includes(resource.kind)) return [];
  const preset = sectionSchema(resource).parse({ targets: 'all' }) as SectionSettings;
  return [{ ...preset, resource, isImplicit: true }];
}

/**
 * The credential of the account: the only one, else that of the first section that is not of the video API, else the only one that
 * no video section uses. A library's key cannot list libraries.
 */
function accountOf(sections: readonly Section[], names: readonly string[]): string | undefined {
  if (names.length === 1) return names[0];
  const isOfVideos = ({ resource }: Section) => resource.api === 'video';
  const named = sections.flatMap((section) => (isOfVideos(section) ? [] : (section.credential ?? [])));
  const ofVideos = new Set(
    sections.filter(isOfVideos).flatMap(({ credential, targets }) => {
      const ofTargets = targets === 'all' ? [] : targets.map((target) => target.credential);
      return [credential, ...ofTargets];
    }),
  );
  const others = names.filter((name) => !ofVideos.has(name));
  return named.find((name) => names.includes(name)) ?? (others.length === 1 ? others[0] : undefined);
}

function toApi(
  settings: ApiSettings,
  api: ApiName,
  directory: string,
  report: AddProblem,
): Omit<ApiConfig, 'names'> {
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

/** used: the APIs that something is read from. */
function namesOf(
  api: ApiName,
  apis: Settings['apis'],
  used: ReadonlySet<ApiName>,
  place: Document['place'],
): ApiSettingNames {
  const hostOf = (one: ApiName) => new URL(apis[one].base_url).host;
  const nameOf = (one: ApiName, setting: string) => place(['apis', one, setting]).path;
  const sameHost = apiNames.filter((one) => used.has(one) && hostOf(one) === hostOf(api));
  const isSet = (one: ApiName) => apis[one].base_url !== defaults[one].baseUrl;
  return {
    baseUrl: nameOf(api, 'base_url'),
    host: sameHost.filter(isSet).map((one) => nameOf(one, 'base_url')),
    authorities: [...new Set(sameHost.map((one) => nameOf(one, 'ca_file')))],
  };
}

function toSection(section: Section, context: Context): SectionConfig {
  const { resource, targets, credential: named, interval: intervalMs, isImplicit } = section;
  const { account, names, report } = context;
  const path = [resource.section];
  const staleAfterMs = section.stale_after ?? staleAfterIntervals * intervalMs;
  checkStaleness(staleAfterMs, intervalMs, path, report);
  checkCredential(named, path, context);
  for (const key of targets === 'all' ? [] : selectionKeys) {
    if (section[key]) report([...path, key], 'expected only with `targets: all`; the targets are a list');
  }
  const isListedVideo = resource.api === 'video' && targets === 'all';
  const credential = named ?? (isListedVideo || isImplicit || names.length === 1 ? account : undefined);
  const isAll = targets === 'all' || isOfAccount(resource);
  const isNeeded = isAll || targets.some((target) => !target.credential);
  if (isNeeded && credential === undefined && !isImplicit && names.length > 1) {
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
  targets: readonly TargetSettings[],
  section: Section,
  credential: string | undefined,
  context: Context,
): readonly TargetConfig[] {
  return resolveTargets(targets, 'targets', section, context).map(
    ({ settings, ids, intervalMs, staleAfterMs }) => ({
      ids,
      name: settings.name,
      credential: settings.credential ?? credential ?? '',
      intervalMs,
      staleAfterMs,
    }),
  );
}

function overridesOf(section: Section, context: Context): SectionConfig['overrides'] {
  if (section.overrides === undefined) return undefined;
  const overrides = resolveTargets(section.overrides, 'overrides', section, context);
  return new Map(
    overrides.map(({ key, isOwn, settings: { name, interval: intervalMs }, staleAfterMs }) => [
      key,
      { name, intervalMs, staleAfterMs: isOwn ? staleAfterMs : undefined },
    ]),
  );
}

/** Targets or overrides, with the section's settings where they have none. Reports duplicates. */
function resolveTargets(
  list: readonly TargetSettings[],
  name: 'targets' | 'overrides',
  { resource, interval, stale_after }: Section,
  context: Context,
) {
  const { report, place } = context;
  const firsts = new Map<string, Path>();
  return list.map((settings, index) => {
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
    return { key, ids, settings, isOwn, intervalMs, staleAfterMs };
  });
}

function checkStaleness(staleAfterMs: number, intervalMs: number, path: Path, report: AddProblem): void {
  const leastMs = Math.ceil(minStaleAfterIntervals * intervalMs);
  if (staleAfterMs >= leastMs) return;
  const message = `expected at least ${formatDuration(leastMs)}, ${minStaleAfterIntervals} times the interval, or values leave between two polls`;
  report([...path, 'stale_after'], `${message}; got ${formatDuration(staleAfterMs)}`);
}

function checkCredential(name: string | undefined, path: Path, { names, report }: Context): void {
  if (name === undefined || names.includes(name)) return;
  const message = `expected a credential that is defined: ${expectedOf(name, names)}`;
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
