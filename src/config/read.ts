/**
 * Turns settings into the configuration: checks them against each other and decides which credential each target uses. And shows a
 * configuration as it would stand in a file; it holds no key, so nothing here can show one.
 */
import { resolve } from 'node:path';
import { type ApiName, apiNames, type Ids, operationsOf, type Resource } from '../resources/resource.ts';
import { dayMs } from '../resources/times.ts';
import { andList, didYouMean, expectedOf, formatDuration, orList, quote } from '../text.ts';
import {
  type ApiConfig,
  type ApiSettingNames,
  apiDefaults,
  type Config,
  type OverrideConfig,
  type Plain,
  type SectionConfig,
  type TargetConfig,
} from './config.ts';
import type { AddProblem, Path } from './problems.ts';
import {
  type ApiSettings,
  isOfAccount,
  listingIntervalMs,
  minStaleAfterIntervals,
  type SectionSettings,
  type Settings,
  selectionKeys,
  staleAfterIntervals,
  type TargetSettings,
  takesAll,
  thingLabels,
  unwrittenSection,
} from './schema.ts';
import { leftOutOf, meantByGlob, type Selection } from './selector.ts';
import { formatBytes, isPlainRemote } from './values.ts';
import type { Document } from './yaml.ts';

interface Context {
  readonly report: AddProblem;
  readonly place: Document['place'];
  /** The names of all credentials. */
  readonly names: readonly string[];
  /** The credentials that are an account's key; empty if nothing says which are. */
  readonly accounts: readonly string[];
  /** The credentials of the accounts of which a section without `credential` is read. */
  readonly defaultAccounts: readonly string[];
  readonly factor: number;
  /** Whether anything is read with the key of an account: then the only credential is not that of a library. */
  readonly readsAccounts: boolean;
}

/**
 * A section with its kind. isImplicit: the document does not have it, but `kinds: all` turns it on. intervalMs: its own interval, or
 * the default times `interval_factor`.
 */
type Section = SectionSettings & {
  readonly resource: Resource;
  readonly isImplicit: boolean;
  readonly intervalMs: number;
};

/** A default interval times `interval_factor`: at most a day, unless the default is longer. */
function scaledMs(defaultMs: number, factor: number): number {
  return Math.round(Math.min(defaultMs * factor, Math.max(defaultMs, dayMs)));
}

/** Reports every contradiction between settings. If there is one, the result must not be used to poll. */
export function readConfig(
  settings: Settings,
  { directory, place }: Document,
  resources: readonly Resource[],
  addProblem: AddProblem,
): Config {
  let hasProblems = false;
  const report: AddProblem = (path, message) => {
    hasProblems = true;
    addProblem(path, message);
  };
  const { credentials, apis, discovery } = settings;
  const sections = resources.flatMap((resource) => sectionOf(resource, settings));
  const names = Object.keys(credentials);
  const accounts = accountsOf(settings, sections, names);
  const { interval_factor: factor } = settings;
  const defaultAccounts = accounts.filter((name) => discovery.accounts?.includes(name) ?? true);
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
  const readsAccounts = sections.some((section) => !isOfVideos(section) || section.targets === 'all');
  const context = { report, place, names, accounts, defaultAccounts, factor, readsAccounts };
  checkAccounts(settings.accounts ?? [], ['accounts'], context);
  checkAccounts(discovery.accounts ?? [], ['discovery', 'accounts'], context);
  const others = names.filter((name) => discovery.accounts?.includes(name) && !accounts.includes(name));
  if (others.length > 0) {
    const message = `expected accounts among those of \`accounts\` (${accounts.join(', ')})`;
    report(
      ['discovery', 'accounts'],
      `${message}; ${andList(others)} ${others.length === 1 ? 'is' : 'are'} not`,
    );
  }
  const read = sections.map((section) => toSection(section, context));
  if (accounts.length === 0 && sections.some(needsAccount)) {
    const message = `expected to know which of the credentials are an account's key`;
    report(['accounts'], `${message}: write \`accounts: [${names.join(', ')}]\`, or those of them that are`);
  }
  // Another mistake may be the reason why nothing uses the credential.
  if (!hasProblems && names.length > 1) {
    const named = sections.flatMap(({ credential = [] }) => credential);
    for (const name of names.filter((one) => !named.includes(one) && !isUsed(one, read)))
      report(
        ['credentials', name],
        discovery.accounts && accounts.includes(name)
          ? 'expected `discovery.accounts`, a section or a target to name it; remove it otherwise'
          : 'expected a section, a target or `accounts` to use it; remove it otherwise',
      );
  }
  const used = new Set(sections.flatMap(({ resource }) => operationsOf(resource)).map(({ api }) => api));
  const sources = Object.entries(credentials).map(([name, source]) => [
    name,
    'file' in source ? { file: resolve(directory, source.file) } : source,
  ]);
  return {
    credentials: Object.fromEntries(sources) as Config['credentials'],
    accounts,
    apis: Object.fromEntries(
      apiNames.map((api) => [
        api,
        { ...toApi(apis[api], api, directory, report), names: namesOf(api, apis, used, place) },
      ]),
    ) as Config['apis'],
    sections: read,
    intervalFactor: factor,
    discovery: {
      intervalMs: discovery.interval ?? scaledMs(listingIntervalMs, factor),
      accounts: discovery.accounts && defaultAccounts,
      exclude: discovery.exclude,
    },
    state: { file: settings.state.file === undefined ? undefined : resolve(directory, settings.state.file) },
  };
}

/** The section of a kind, from the document or because `kinds: all` turns it on. */
function sectionOf(resource: Resource, settings: Settings): readonly Section[] {
  const { kinds, except = [] } = settings.discovery;
  const written = settings[resource.section] as SectionSettings | undefined;
  const defaultMs = scaledMs(resource.defaultIntervalSeconds * 1000, settings.interval_factor);
  if (written)
    return [{ ...written, resource, isImplicit: false, intervalMs: written.interval ?? defaultMs }];
  if (kinds === 'none' || !takesAll(resource) || resource.isCostly || except.includes(resource.kind))
    return [];
  return [{ ...unwrittenSection(resource), resource, isImplicit: true, intervalMs: defaultMs }];
}

function isOfVideos({ resource }: Section): boolean {
  return resource.api === 'video';
}

/**
 * The credentials that are an account's key: those that `accounts` lists, else those that `discovery.accounts`, and sections and
 * targets of the other APIs name, else the only one that no video section or target names. A library's key cannot list libraries.
 */
function accountsOf(
  { accounts: listed, discovery }: Settings,
  sections: readonly Section[],
  names: readonly string[],
): readonly string[] {
  if (listed) return listed;
  if (names.length === 1) return names;
  const namedBy = (of: readonly Section[]) =>
    new Set(
      of.flatMap(({ credential = [], targets }) => [
        ...credential,
        ...(targets === 'all' ? [] : targets.flatMap((target) => target.credential ?? [])),
      ]),
    );
  const named = namedBy(sections.filter((section) => !isOfVideos(section)));
  const ofAccounts = names.filter((name) => named.has(name) || discovery.accounts?.includes(name));
  if (ofAccounts.length > 0) return ofAccounts;
  const ofVideos = namedBy(sections.filter(isOfVideos));
  const others = names.filter((name) => !ofVideos.has(name));
  return others.length === 1 ? others : [];
}

/** Whether a section reads what an account lists and does not say whose. */
function needsAccount(section: Section): boolean {
  const isAll = section.targets === 'all' || isOfAccount(section.resource);
  return isAll && (section.credential === undefined || isOfVideos(section));
}

function checkAccounts(listed: readonly string[], path: Path, context: Context): void {
  for (const [index, name] of listed.entries()) {
    if (listed.indexOf(name) < index)
      context.report([...path, index], `expected each credential once; ${name} is there twice`);
    checkCredential(name, [...path, index], context);
  }
}

/** Whether anything is read with a credential. */
function isUsed(name: string, sections: readonly SectionConfig[]): boolean {
  return sections.some(({ targets, accounts, libraryCredential }) =>
    targets === 'all'
      ? accounts.includes(name) || libraryCredential === name
      : targets.some(({ credential }) => credential === name),
  );
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

/** What the settings of an API are called in messages. used: the APIs that something is read from. */
function namesOf(
  api: ApiName,
  apis: Settings['apis'],
  used: ReadonlySet<ApiName>,
  place: Document['place'],
): ApiSettingNames {
  const hostOf = (one: ApiName) => new URL(apis[one].base_url).host;
  const nameOf = (one: ApiName, setting: string) => place(['apis', one, setting]).path;
  const sameHost = apiNames.filter((one) => used.has(one) && hostOf(one) === hostOf(api));
  const isSet = (one: ApiName) => apis[one].base_url !== apiDefaults[one].baseUrl;
  return {
    address: isSet(api) ? nameOf(api, 'base_url') : undefined,
    host: settingsOfHost(
      sameHost.filter(isSet).toSorted((a, b) => Number(b === api) - Number(a === api)),
      (one) => nameOf(one, 'base_url'),
    ),
    authorities: [...new Set(sameHost.map((one) => nameOf(one, 'ca_file')))],
  };
}

/** The settings that lead to a host, for messages: of more than two, the first by its name, and how many others there are. */
function settingsOfHost(apis: readonly ApiName[], nameOf: (api: ApiName) => string): readonly string[] {
  const [first, ...others] = apis;
  if (first === undefined) return [];
  if (others.length <= 1) return apis.map(nameOf);
  return [nameOf(first), `the addresses of the ${others.length} other APIs at this host`];
}

function toSection(section: Section, context: Context): SectionConfig {
  const { resource, targets, credential: named = [], intervalMs } = section;
  const { report } = context;
  const path = [resource.section];
  const staleAfterMs = section.stale_after ?? staleAfterIntervals * intervalMs;
  checkStaleness(staleAfterMs, intervalMs, path, context, section.interval === undefined);
  for (const name of named) checkCredential(name, [...path, 'credential'], context);
  for (const key of targets === 'all' ? [] : selectionKeys) {
    if (section[key]) report([...path, key], 'expected only with `targets: all`; the targets are a list');
  }
  const own = Object.entries(section).filter(([key]) => Object.hasOwn(resource.settings, key));
  return {
    kind: resource.kind,
    ...credentialsOf(section, context),
    intervalMs,
    staleAfterMs,
    settings: Object.fromEntries(own),
    selection: selectionOf(section),
    parents: section.parents && selectionOf(section.parents),
    overrides: overridesOf(section, context),
    targets: targets === 'all' ? targets : targetsOf(targets, section, context),
  };
}

/** Whose listings a section of all targets reads, and with which key of a library. Of named targets, each has its own. */
function credentialsOf(
  section: Section,
  { accounts, defaultAccounts, names, report }: Context,
): Pick<SectionConfig, 'accounts' | 'libraryCredential'> {
  const { targets, resource, credential: named = [] } = section;
  const path = [resource.section, 'credential'];
  if (targets !== 'all') {
    if (named.length > 1)
      report(path, 'expected one credential; the targets are a list, and each can name its own');
    return { accounts: [] };
  }
  const others = named.filter((name) => names.includes(name) && !accounts.includes(name));
  // The order is that of `accounts`, however the section lists them: it decides to which account a thing belongs that several list.
  const ofSection = named.length > 0 ? accounts.filter((name) => named.includes(name)) : defaultAccounts;
  if (!isOfVideos(section)) {
    if (others.length > 0)
      report(
        path,
        `expected one of the accounts (${accounts.join(', ')}), or ${others.join(', ')} among them`,
      );
    return { accounts: ofSection };
  }
  // The account's key does not open a library.
  if (others.length === 0) return { accounts: ofSection };
  if (named.length > 1) report(path, 'expected accounts alone, or the key of one library');
  return { accounts: defaultAccounts, libraryCredential: others[0] };
}

function targetsOf(
  targets: readonly TargetSettings[],
  section: Section,
  context: Context,
): readonly TargetConfig[] {
  const { accounts, defaultAccounts, names, readsAccounts, report } = context;
  const [own] = section.credential ?? [];
  const ofLibrary = readsAccounts ? [] : names;
  const only = isOfVideos(section) ? ofLibrary : defaultAccounts;
  const credential = own ?? (only.length === 1 ? only[0] : undefined);
  if (credential === undefined && targets.some((target) => !target.credential)) {
    const which =
      names.length === 1
        ? `the key of the library (that of ${names.join()} is an account's, which opens none)`
        : `one of the ${names.length} credentials (${names.join(', ')})`;
    report(
      [section.resource.section, 'credential'],
      `expected the name of ${which}, unless every target names its own`,
    );
  }
  return resolveTargets(targets, 'targets', section, context).map(
    ({ settings, ids, intervalMs, staleAfterMs }) => {
      const ofTarget = settings.credential ?? credential ?? '';
      const [account] = accounts;
      return {
        ids,
        name: settings.name,
        credential: ofTarget,
        // With the key of a library alone, nothing says to which of several accounts the library belongs.
        account: accounts.length === 1 && account !== undefined ? account : ofTarget,
        intervalMs,
        staleAfterMs,
      };
    },
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
  { resource, interval, intervalMs: ofSectionMs, stale_after }: Section,
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
    if (settings.credential !== undefined)
      checkCredential(settings.credential, [...path, 'credential'], context);
    const isOwn = settings.interval !== undefined || settings.stale_after !== undefined;
    const intervalMs = settings.interval ?? ofSectionMs;
    const staleAfterMs = settings.stale_after ?? stale_after ?? staleAfterIntervals * intervalMs;
    const isDefault = settings.interval === undefined && interval === undefined;
    if (isOwn) checkStaleness(staleAfterMs, intervalMs, path, context, isDefault);
    return { key, ids, settings, isOwn, intervalMs, staleAfterMs };
  });
}

/** Checks `stale_after` against the interval. isDefault: whether the interval is the default, which `interval_factor` has changed. */
function checkStaleness(
  staleAfterMs: number,
  intervalMs: number,
  path: Path,
  { report, factor }: Context,
  isDefault: boolean,
): void {
  const leastMs = Math.ceil(minStaleAfterIntervals * intervalMs);
  if (staleAfterMs >= leastMs) return;
  const which =
    isDefault && factor !== 1 ? ` (${formatDuration(intervalMs)}, by interval_factor ${factor})` : '';
  const message = `expected at least ${formatDuration(leastMs)}, ${minStaleAfterIntervals} times the interval${which}, or values leave between two polls`;
  report([...path, 'stale_after'], `${message}; got ${formatDuration(staleAfterMs)}`);
}

function checkCredential(name: string, path: Path, { names, report }: Context): void {
  if (names.includes(name)) return;
  const message = `expected a credential that is defined: ${expectedOf(name, names)}`;
  // The message names a single one already.
  report(path, `${message}${names.length > 1 ? didYouMean(name, names) : ''}`);
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

/** What is right, but hardly meant: patterns that look like those of a shell, and what is named although its id is left out. */
export function odditiesOf(
  { sections, discovery }: Config,
  resources: readonly Resource[],
): readonly { readonly path: Path; readonly message: string }[] {
  const globsIn = ({ include = [], exclude = [] }: Partial<Selection> = {}, path: Path) =>
    Object.entries({ include, exclude }).flatMap(([key, patterns]) =>
      patterns.flatMap((pattern) => {
        const meant = meantByGlob(pattern);
        const message = `the pattern ${quote(pattern)} looks like one of a shell; did you mean ${quote(meant ?? '')}?`;
        return meant === undefined ? [] : [{ path: [...path, key], message }];
      }),
    );
  const isLeftOut = leftOutOf(discovery.exclude);
  const things = thingLabels(resources);
  const ofSections = sections.flatMap(({ kind, selection, parents, targets }) => {
    const section = resources.find((resource) => resource.kind === kind)?.section ?? kind;
    const named = (targets === 'all' ? [] : targets).flatMap(({ ids }, index) => {
      const thing = Object.entries(ids).find(
        ([label, id]) => things.includes(label) && isLeftOut?.(label, id, undefined),
      );
      const message = `${thing?.join('=')} is read, since it is named here, although discovery.exclude leaves it out`;
      return thing ? [{ path: [section, 'targets', index], message }] : [];
    });
    return [...globsIn(selection, [section]), ...globsIn(parents, [section, 'parents']), ...named];
  });
  return [...globsIn({ exclude: discovery.exclude ?? [] }, ['discovery']), ...ofSections];
}

/** The configuration in the form of the file, with every default. Keys appear as names of variables and files. */
export function describeConfig(
  config: Config,
  resources: readonly Resource[],
): { readonly [key: string]: Plain } {
  const { accounts = config.accounts, exclude, intervalMs } = config.discovery;
  const sections = resources.flatMap((resource) => {
    const section = config.sections.find(({ kind }) => kind === resource.kind);
    return section === undefined
      ? []
      : [[resource.section, describeSection(section, resource, accounts)] as const];
  });
  const described = {
    credentials: config.credentials,
    accounts: config.accounts,
    apis: Object.fromEntries(apiNames.map((api) => [api, describeApi(config.apis[api])])),
    interval_factor: config.intervalFactor,
    discovery: { interval: formatDuration(intervalMs), accounts: config.discovery.accounts, exclude },
    state: config.state.file === undefined ? undefined : config.state,
    ...Object.fromEntries(sections),
  };
  // JSON leaves out what is undefined.
  return JSON.parse(JSON.stringify(described)) as { readonly [key: string]: Plain };
}

function describeApi(api: ApiConfig) {
  return {
    base_url: api.baseUrl,
    timeout: formatDuration(api.timeoutMs),
    max_concurrency: api.maxConcurrency,
    requests_per_second: api.requestsPerSecond,
    max_retries: api.maxRetries,
    max_response_bytes: formatBytes(api.maxResponseBytes),
    ca_file: api.caFile,
    allow_insecure_http: isPlainRemote(api.baseUrl) || undefined,
  };
}

/** Writes a section as it would stand in the file. all: the accounts of which a section is read by default. */
function describeSection(section: SectionConfig, { ids }: Resource, all: readonly string[]) {
  const { accounts, libraryCredential, overrides, targets } = section;
  const idsOf = (values: readonly string[]) =>
    Object.fromEntries(ids.map(({ setting }, i) => [setting, values[i]]));
  return {
    // The credential is left out if it is that of every account. Named targets have their own.
    credential:
      libraryCredential ?? (targets === 'all' && accounts.join() !== all.join() ? accounts : undefined),
    ...describeOptions(section),
    ...(section.settings as object),
    targets:
      targets === 'all'
        ? targets
        : targets.map((target) => ({
            ...idsOf(Object.values(target.ids)),
            ...describeOptions(target),
            credential: target.credential,
          })),
    ...describeSelection(section.selection),
    parents: section.parents && describeSelection(section.parents),
    overrides:
      overrides &&
      [...overrides].map(([key, override]) => ({ ...idsOf(key.split('/')), ...describeOptions(override) })),
  };
}

function describeOptions({ name, intervalMs, staleAfterMs }: OverrideConfig) {
  return {
    name,
    interval: intervalMs && formatDuration(intervalMs),
    stale_after: staleAfterMs && formatDuration(staleAfterMs),
  };
}

function describeSelection({ include, exclude }: Partial<Selection> = {}) {
  return {
    include: include?.length ? include : undefined,
    exclude: exclude?.length ? exclude : undefined,
  };
}
