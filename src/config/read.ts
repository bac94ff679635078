/**
 * Turns a raw document into the configuration in force: one pass of the schema, whose issues become problems with a path,
 * then what the settings say of each other. Those checks run over whatever could be read, so that one problem hides no other.
 */
import type { Selection } from '../discovery/selector.ts';
import { type ApiName, apiNames, type Ids, type Resource } from '../resources/resource.ts';
import type { CredentialSource } from '../secrets/credentials.ts';
import { didYouMean, formatDuration, oneOf, plural, quote } from '../text.ts';
import type { ApiConfig, Config, OverrideConfig, SectionConfig, TargetConfig } from './config.ts';
import { keyOf, toIssues, withoutExplained } from './issues.ts';
import type { Path } from './problems.ts';
import {
  type ApiSettings,
  type DiscoverySettings,
  documentSchema,
  isOfAccount,
  minStaleAfterIntervals,
  oneCredential,
  overrideSchema,
  type SectionSettings,
  sectionSchema,
  selectionKeys,
  staleAfterIntervals,
  type TargetSettings,
  takesAll,
  targetSchema,
} from './schema.ts';
import { isPlainRemote } from './values.ts';
import type { Raw } from './yaml.ts';

/** What the reader needs to know of the document beyond its content. */
export interface Source {
  /** Takes a problem. */
  readonly report: (path: Path, message: string) => void;
  readonly warn: (path: Path, message: string) => void;
  /** How a message refers to another value: `on line 12`. */
  readonly refer: (path: Path) => string;
  /** Whether a target may be a mapping, as in a file. */
  readonly withLongForm: boolean;
}

/** To be used only when nothing was reported, but for its credentials: those are well defined, whatever is wrong with the rest. */
export function readDocument(raw: Raw, resources: readonly Resource[], source: Source): Config {
  let read: unknown;
  // What has a problem stays in `read` as it was found, or as an object without meaning.
  const { error } = documentSchema(resources, source.withLongForm)
    .refine(
      (document: unknown) => {
        read = document;
        return true;
      },
      { when: () => true },
    )
    .safeParse(raw, { reportInput: true });
  const issues = (error?.issues ?? []).flatMap((issue) => toIssues(issue));
  for (const { path, message } of withoutExplained(issues)) source.report(path, message);
  const paths = issues.flatMap(({ path, meant }) => (meant ? [path, meant] : [path]));
  const wrong = new Set(paths.flatMap((path) => path.map((_, i) => keyOf(path.slice(0, i + 1)))));
  return new Reader(source, raw, wrong).document(mappingOf(read), resources);
}

/** Checks what the settings say of each other, and gives them the shape of the configuration in force. */
class Reader {
  readonly #report: Source['report'];
  readonly #warn: Source['warn'];
  readonly #source: Source;
  readonly #raw: Raw;
  /** The names of all credentials, the ill-defined ones too. */
  readonly #names: readonly string[];
  /** The paths of what has a problem or was probably meant by a misspelt setting, and of all that holds it. */
  readonly #wrong: ReadonlySet<string>;
  readonly #used = new Set<string>();

  constructor(source: Source, raw: Raw, wrong: ReadonlySet<string>) {
    this.#report = source.report;
    this.#warn = source.warn;
    this.#source = source;
    this.#raw = raw;
    this.#names = Object.keys(mappingOf(mappingOf(raw)['credentials']));
    this.#wrong = wrong;
  }

  document(root: Mapping, resources: readonly Resource[]): Config {
    const isRead = isMapping(this.#raw);
    const present = resources.filter(({ section }) => Object.hasOwn(root, section));
    const discovery = mappingOf(root['discovery']) as Partial<DiscoverySettings>;
    const all = this.#discoveredKinds(discovery, present, resources);
    const sectionNames = resources.map(({ section }) => section);
    const isMeant = ['discovery', ...sectionNames].some((name) => this.#isWrong(name));
    if (isRead && present.length + all.length === 0 && !isMeant) {
      const message = `expected \`discovery: { kinds: all }\`, or a section that says what to poll: ${oneOf(sectionNames)}`;
      this.#report([], message);
    }
    if (isRead && this.#names.length === 0 && !this.#isWrong('credentials')) {
      this.#report(['credentials'], `expected ${oneCredential}; it is empty`);
    }
    const defined = Object.entries(mappingOf(root['credentials']));
    const credentials = Object.fromEntries(
      defined.filter(([name]) => !this.#isWrong('credentials', name)),
    ) as Record<string, CredentialSource>;
    const apis = apiNames.map((api) => [api, this.#api(mappingOf(mappingOf(root['apis'])[api]), api)]);
    const account = this.#accountCredential(root, present);
    if (all.length > 0 && account === undefined && this.#names.length > 0) {
      const message = `expected to know which of the credentials (${this.#names.join(', ')}) is the account's`;
      this.#report(['discovery', 'kinds'], `${message}: name it in a section`);
    }
    const sections = resources.flatMap((resource) => {
      if (present.includes(resource)) return this.#section(root[resource.section], resource, account);
      if (!all.includes(resource)) return [];
      const settings = sectionSchema(resource, true).parse({ targets: 'all' });
      return this.#section(settings, resource, account, account ?? this.#names[0]);
    });
    for (const name of this.#names) {
      if (!this.#used.has(name)) this.#warn(['credentials', name], 'no target uses this credential');
    }
    return {
      credentials,
      apis: Object.fromEntries(apis) as Config['apis'],
      sections,
      discovery: { intervalMs: discovery.interval as number },
      limits: { maxSeries: mappingOf(root['limits'])['max_series'] as number },
    };
  }

  #isWrong(...path: Path): boolean {
    return this.#wrong.has(keyOf(path));
  }

  #api(settings: Mapping, api: ApiName): ApiConfig {
    const read = settings as ApiSettings;
    const isPlain = typeof read.base_url === 'string' && isPlainRemote(read.base_url);
    if (isPlain && read.allow_insecure_http !== true) {
      const message = 'expected an https address, because over http the key is sent unencrypted';
      this.#report(['apis', api, 'base_url'], `${message}; allow_insecure_http: true allows it anyway`);
    }
    return {
      baseUrl: read.base_url,
      timeoutMs: read.timeout,
      maxConcurrency: read.max_concurrency,
      requestsPerSecond: read.requests_per_second,
      maxRetries: read.max_retries,
      maxResponseBytes: read.max_response_bytes,
      caFile: read.ca_file,
    };
  }

  /** The kinds that are on without a section. */
  #discoveredKinds(
    { kinds, except }: Partial<DiscoverySettings>,
    present: readonly Resource[],
    resources: readonly Resource[],
  ): readonly Resource[] {
    const path = ['discovery', 'except'];
    const left = Array.isArray(except) ? except : [];
    if (kinds === 'none' && except !== undefined) this.#report(path, 'expected only with `kinds: all`');
    if (kinds !== 'all') return [];
    const isPresent = (kind: string) => present.some((resource) => resource.kind === kind);
    for (const [index, kind] of left.entries()) {
      if (isPresent(kind)) this.#warn([...path, index], 'the kind has a section, which turns it on');
    }
    return resources.filter(
      (resource) => takesAll(resource) && !present.includes(resource) && !left.includes(resource.kind),
    );
  }

  /**
   * The credential that lists what an account has: the only one, that of the first section of another API than video, or the
   * only one that no video section names, for a library's key lists nothing.
   */
  #accountCredential(root: Mapping, present: readonly Resource[]): string | undefined {
    if (this.#names.length === 1) return this.#names[0];
    const ofVideos = new Set<unknown>();
    for (const { api, section } of present) {
      const { credential, targets } = mappingOf(root[section]);
      if (api !== 'video' && this.#isDefined(credential)) return credential;
      if (api !== 'video') continue;
      ofVideos.add(credential);
      for (const target of Array.isArray(targets) ? targets : [])
        ofVideos.add(mappingOf(target)['credential']);
    }
    const others = this.#names.filter((name) => !ofVideos.has(name));
    return others.length === 1 ? others[0] : undefined;
  }

  #isDefined(name: unknown): name is string {
    return this.#names.some((defined) => defined === name);
  }

  /** @param fallback the credential of a section that names none; default: the only one */
  #section(
    read: unknown,
    resource: Resource,
    account: string | undefined,
    fallback = this.#names.length === 1 ? this.#names[0] : undefined,
  ): SectionConfig[] {
    if (!isMapping(read)) return [];
    const path = [resource.section];
    const settings = read as SectionSettings;
    const ownInterval = numberOf(settings.interval);
    const ownStaleAfter = numberOf(settings.stale_after);
    if (ownInterval !== undefined) this.#checkStaleness(ownStaleAfter, ownInterval, path);
    const isListedVideo = resource.api === 'video' && settings.targets === 'all';
    const named = this.#credentialOf(settings.credential, path);
    const credential = named ?? (isListedVideo ? account : undefined) ?? fallback;
    const intervalMs = ownInterval ?? resource.defaultIntervalSeconds * 1000;
    const defaults: Defaults = { credential, ownInterval, intervalMs, ownStaleAfter };
    const own = Object.entries(settings).filter(([key]) => Object.hasOwn(resource.settings, key));
    if (Array.isArray(settings.targets)) this.#refuseSelection(settings, path);
    if (isListedVideo && account !== undefined) this.#used.add(account);
    return [
      {
        kind: resource.kind,
        credential: credential ?? '',
        // A library's own key opens it; that of the account does not.
        ...(isListedVideo && {
          isCredentialNamed: named !== undefined && named !== account,
          listingCredential: account ?? named,
        }),
        intervalMs,
        staleAfterMs: ownStaleAfter ?? staleAfterIntervals * intervalMs,
        settings: Object.fromEntries(own),
        selection: selectionOf(settings),
        parents: selectionOf(mappingOf(settings.parents)),
        overrides: this.#overrides(settings, resource, defaults),
        targets: this.#targets(settings.targets, resource, defaults),
      },
    ];
  }

  #refuseSelection(settings: SectionSettings, path: Path): void {
    for (const key of selectionKeys) {
      if (settings[key] === undefined) continue;
      this.#report([...path, key], 'expected only with `targets: all`; the targets are a list');
    }
  }

  #overrides(
    { overrides }: SectionSettings,
    resource: Resource,
    defaults: Defaults,
  ): SectionConfig['overrides'] {
    if (!Array.isArray(overrides)) return undefined;
    const path = [resource.section, 'overrides'];
    const once = this.#once(path);
    const good = this.#good(overrides as readonly TargetSettings[], path, overrideSchema(resource));
    const made = good.map(([index, settings]): [string, OverrideConfig] => {
      const { name, interval: intervalMs, stale_after } = settings;
      const staleAfterMs = this.#staleAfter(settings, [...path, index], defaults);
      const key = Object.values(idsOf(settings, resource)).join('/');
      once(key, index);
      const isOwn = intervalMs !== undefined || stale_after !== undefined;
      return [key, { name, intervalMs, staleAfterMs: isOwn ? staleAfterMs : undefined }];
    });
    return new Map(made);
  }

  /** Reports a target of a list that was there before. */
  #once(path: Path): (key: string, index: number) => void {
    const firstIndex = new Map<string, number>();
    return (key, index) => {
      const first = firstIndex.get(key);
      if (first === undefined) return void firstIndex.set(key, index);
      const earlier = this.#source.refer([...path, first]);
      this.#report([...path, index], `expected each target once; ${quote(key)} is already ${earlier}`);
    };
  }

  #targets(
    read: SectionSettings['targets'],
    resource: Resource,
    defaults: Defaults,
  ): SectionConfig['targets'] {
    const { section } = resource;
    const path = [section, 'targets'];
    if (read === 'all') {
      this.#needCredential(defaults.credential, section, 'the listing names');
      return read;
    }
    // Of an account there is no list, which was reported.
    if (isOfAccount(resource) || !Array.isArray(read)) return [];
    if (read.length === 0) this.#warn(path, 'the list is empty, so nothing is polled');
    const once = this.#once(path);
    const schema = targetSchema(resource, this.#source.withLongForm);
    const good = this.#good(read as readonly TargetSettings[], path, schema);
    const targets = good.map(([index, settings]) => {
      const target = this.#target(settings, [...path, index], resource, defaults);
      once(Object.values(target.ids).join('/'), index);
      return target;
    });
    const without = targets.filter(({ credential }) => credential === '').length;
    const name = without === 1 ? 'names' : 'name';
    if (without > 0) this.#needCredential(undefined, section, `${plural(without, 'target')} ${name}`);
    return targets;
  }

  /** The good ones of a list, with their indices. Where one is wrong, zod may leave all of them unread. */
  #good(
    read: readonly TargetSettings[],
    path: Path,
    schema: { parse(raw: Raw): unknown },
  ): readonly (readonly [number, TargetSettings])[] {
    if (!this.#isWrong(...path)) return [...read.entries()];
    const [section = '', list = ''] = path;
    const raw = mappingOf(mappingOf(this.#raw)[section])[list] as readonly Raw[];
    return raw.flatMap((one, index) =>
      this.#isWrong(...path, index) ? [] : [[index, schema.parse(one) as TargetSettings] as const],
    );
  }

  #target(settings: TargetSettings, path: Path, resource: Resource, defaults: Defaults): TargetConfig {
    const staleAfterMs = this.#staleAfter(settings, path, defaults);
    const credential = this.#credentialOf(settings.credential, path) ?? defaults.credential;
    if (credential !== undefined) this.#used.add(credential);
    return {
      ids: idsOf(settings, resource),
      name: settings.name,
      credential: credential ?? '',
      intervalMs: settings.interval ?? defaults.intervalMs,
      staleAfterMs,
    };
  }

  /** Of one target, in milliseconds; checked where the target says anything of it. */
  #staleAfter({ interval, stale_after }: TargetSettings, path: Path, defaults: Defaults): number {
    const intervalMs = interval ?? defaults.intervalMs;
    const own = stale_after ?? defaults.ownStaleAfter;
    // Where the section's interval is wrong, a target that has none of its own has nothing to compare with.
    if (interval !== undefined || (stale_after !== undefined && defaults.ownInterval !== undefined)) {
      this.#checkStaleness(own, intervalMs, path);
    }
    return own ?? staleAfterIntervals * intervalMs;
  }

  #checkStaleness(staleAfterMs: number | undefined, intervalMs: number, path: Path): void {
    const leastMs = Math.ceil(minStaleAfterIntervals * intervalMs);
    if (staleAfterMs === undefined || staleAfterMs >= leastMs) return;
    const message = `expected at least ${formatDuration(leastMs)}, ${minStaleAfterIntervals} times the interval, or values leave between two polls`;
    this.#report([...path, 'stale_after'], `${message}; got ${formatDuration(staleAfterMs)}`);
  }

  /** The credential that a section or a target names; one that is not defined is reported and another stands in. */
  #credentialOf(name: unknown, path: Path): string | undefined {
    if (name === undefined) return undefined;
    if (this.#isDefined(name)) {
      this.#used.add(name);
      return name;
    }
    if (typeof name === 'string' && this.#names.length > 0) {
      const message = `expected a credential that is defined: ${oneOf(this.#names)}`;
      this.#report([...path, 'credential'], `${message}${didYouMean(name, this.#names)}`);
    }
    return this.#names[0];
  }

  /** Marks the credential as used; reports that there is none to use. */
  #needCredential(name: string | undefined, section: string, who: string): void {
    if (name !== undefined) this.#used.add(name);
    else if (this.#names.length > 1) {
      const names = `one of the ${this.#names.length} credentials (${this.#names.join(', ')})`;
      this.#report([section, 'credential'], `expected the name of ${names}, because ${who} none`);
    }
  }
}

type Mapping = Readonly<Record<string, unknown>>;

/** What a section says, for targets that do not say it. */
interface Defaults {
  readonly credential: string | undefined;
  /** Undefined where the section's is wrong, so that nothing is compared with it. */
  readonly ownInterval: number | undefined;
  readonly intervalMs: number;
  readonly ownStaleAfter: number | undefined;
}

/** The ids of a target, in the order of its labels. */
function idsOf(settings: TargetSettings, resource: Resource): Ids {
  return Object.fromEntries(resource.ids.map(({ label, setting }) => [label, settings[setting]])) as Ids;
}

function selectionOf({ include, exclude }: Mapping): Selection | undefined {
  if (include === undefined && exclude === undefined) return undefined;
  return { include: (include ?? []) as readonly string[], exclude: (exclude ?? []) as readonly string[] };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mappingOf(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}
