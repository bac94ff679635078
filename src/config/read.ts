/**
 * Turns a raw document into the configuration in force: one pass of the schema, whose issues become problems with a path,
 * then what the settings say of each other. Those checks run over whatever could be read, so that one problem hides no other.
 */
import { type ApiName, apiNames, type Ids, type Resource } from '../resources/resource.ts';
import { didYouMean, formatDuration, oneOf, plural, quote } from '../text.ts';
import type { ApiConfig, Config, CredentialSource, SectionConfig, TargetConfig } from './config.ts';
import { toIssues } from './issues.ts';
import type { Path } from './problems.ts';
import {
  type ApiSettings,
  documentSchema,
  oneCredential,
  type SectionSettings,
  staleAfterIntervals,
  type TargetSettings,
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

export interface Reading {
  /** The credentials that are well defined, whatever is wrong with the rest. */
  readonly credentials: Readonly<Record<string, CredentialSource>>;
  /** To be used only when nothing was reported. */
  readonly config: Config;
}

export function readDocument(raw: Raw, resources: readonly Resource[], source: Source): Reading {
  let read: unknown;
  // What has a problem stays in `read` as it was found, or as an object without meaning.
  const { error } = documentSchema(resources, source.withLongForm)
    .superRefine(
      (document) => {
        read = document;
      },
      { when: () => true },
    )
    .safeParse(raw, { reportInput: true });
  const issues = (error?.issues ?? []).flatMap((issue) => toIssues(issue));
  for (const { path, message } of issues) source.report(path, message);
  const wrong = new Set(issues.flatMap(({ path }) => path.map((_, i) => keyOf(path.slice(0, i + 1)))));
  return new Reader(source, raw, wrong).document(mappingOf(read), resources);
}

/** Checks what the settings say of each other, and gives them the shape of the configuration in force. */
class Reader {
  readonly #source: Source;
  readonly #raw: Raw;
  /** The names of all credentials, the ill-defined ones too. */
  readonly #names: readonly string[];
  /** The paths of what has a problem, and of all that holds it. */
  readonly #wrong: ReadonlySet<string>;
  readonly #used = new Set<string>();

  constructor(source: Source, raw: Raw, wrong: ReadonlySet<string>) {
    this.#source = source;
    this.#raw = raw;
    this.#names = Object.keys(mappingOf(mappingOf(raw)['credentials']));
    this.#wrong = wrong;
  }

  document(root: Mapping, resources: readonly Resource[]): Reading {
    const isRead = isMapping(this.#raw);
    const present = resources.filter(({ section }) => Object.hasOwn(root, section));
    if (isRead && present.length === 0) {
      const sections = oneOf(resources.map(({ section }) => section));
      this.#source.report([], `expected at least one section that says what to poll: ${sections}`);
    }
    if (isRead && this.#names.length === 0 && !this.#isWrong('credentials')) {
      this.#source.report(['credentials'], `expected ${oneCredential}; it is empty`);
    }
    const credentials = this.#credentials(mappingOf(root['credentials']));
    const apis = apiNames.map((api) => [api, this.#api(mappingOf(mappingOf(root['apis'])[api]), api)]);
    const sections = present.flatMap((resource) => this.#section(root[resource.section], resource));
    for (const name of this.#names) {
      if (!this.#used.has(name)) this.#source.warn(['credentials', name], 'no target uses this credential');
    }
    const maxSeries = mappingOf(root['limits'])['max_series'] as number;
    return {
      credentials,
      config: {
        credentials,
        apis: Object.fromEntries(apis) as Record<ApiName, ApiConfig>,
        sections,
        discovery: { intervalMs: 600_000 },
        limits: { maxSeries },
      },
    };
  }

  #isWrong(...path: Path): boolean {
    return this.#wrong.has(keyOf(path));
  }

  #credentials(settings: Mapping): Record<string, CredentialSource> {
    const defined = Object.entries(settings).filter(([name]) => !this.#isWrong('credentials', name));
    return Object.fromEntries(defined) as Record<string, CredentialSource>;
  }

  #api(settings: Mapping, api: ApiName): ApiConfig {
    const read = settings as ApiSettings;
    const isAddress = typeof read.base_url === 'string';
    if (isAddress && isPlainRemote(read.base_url) && read.allow_insecure_http !== true) {
      const message = 'expected an https address, because over http the key is sent unencrypted';
      this.#source.report(
        ['apis', api, 'base_url'],
        `${message}; allow_insecure_http: true allows it anyway`,
      );
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

  #section(read: unknown, resource: Resource): SectionConfig[] {
    if (!isMapping(read)) return [];
    const path = [resource.section];
    const settings = read as SectionSettings;
    const ownInterval = numberOf(settings.interval);
    const ownStaleAfter = numberOf(settings.stale_after);
    if (ownInterval !== undefined) this.#checkStaleness(ownStaleAfter, ownInterval, path);
    const only = this.#names.length === 1 ? this.#names[0] : undefined;
    const credential = this.#credentialOf(settings.credential, path) ?? only;
    const intervalMs = ownInterval ?? resource.defaultIntervalSeconds * 1000;
    const defaults: Defaults = { credential, ownInterval, intervalMs, ownStaleAfter };
    const own = Object.entries(settings).filter(([key]) => Object.hasOwn(resource.settings, key));
    return [
      {
        kind: resource.kind,
        credential: credential ?? '',
        intervalMs,
        staleAfterMs: ownStaleAfter ?? staleAfterIntervals * intervalMs,
        settings: Object.fromEntries(own),
        targets: this.#targets(settings.targets, resource, defaults),
      },
    ];
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
    if (!Array.isArray(read)) return [];
    if (read.length === 0) this.#source.warn(path, 'the list is empty, so nothing is polled');
    const firstIndex = new Map<string, number>();
    const targets: TargetConfig[] = [];
    for (const [index, settings] of this.#goodTargets(read as readonly TargetSettings[], resource)) {
      const target = this.#target(settings, [...path, index], resource, defaults);
      const key = Object.values(target.ids).join('/');
      const first = firstIndex.get(key);
      if (first === undefined) {
        firstIndex.set(key, index);
      } else {
        const earlier = this.#source.refer([...path, first]);
        this.#source.report(
          [...path, index],
          `expected each target once; ${quote(key)} is already ${earlier}`,
        );
      }
      targets.push(target);
    }
    const without = targets.filter(({ credential }) => credential === '').length;
    const name = without === 1 ? 'names' : 'name';
    if (without > 0) this.#needCredential(undefined, section, `${plural(without, 'target')} ${name}`);
    return targets;
  }

  /** With their indices. Where one of a list is wrong, zod may leave all of them unread. */
  *#goodTargets(read: readonly TargetSettings[], resource: Resource): Iterable<[number, TargetSettings]> {
    const path = [resource.section, 'targets'];
    if (!this.#isWrong(...path)) return yield* read.entries();
    const schema = targetSchema(resource, this.#source.withLongForm);
    const raw = mappingOf(mappingOf(this.#raw)[resource.section])['targets'] as readonly Raw[];
    for (const [index, target] of raw.entries()) {
      if (!this.#isWrong(...path, index)) yield [index, schema.parse(target)];
    }
  }

  #target(settings: TargetSettings, path: Path, resource: Resource, defaults: Defaults): TargetConfig {
    const { name, interval, stale_after } = settings;
    const intervalMs = interval ?? defaults.intervalMs;
    // Where the section's interval is wrong, a target that has none of its own has nothing to compare with.
    if (interval !== undefined || (stale_after !== undefined && defaults.ownInterval !== undefined)) {
      this.#checkStaleness(stale_after ?? defaults.ownStaleAfter, intervalMs, path);
    }
    const credential = this.#credentialOf(settings.credential, path) ?? defaults.credential;
    if (credential !== undefined) this.#used.add(credential);
    const ids = resource.ids.map(({ label, setting }) => [label, settings[setting]]);
    return {
      ids: Object.fromEntries(ids) as Ids,
      name,
      credential: credential ?? '',
      intervalMs,
      staleAfterMs: stale_after ?? defaults.ownStaleAfter ?? staleAfterIntervals * intervalMs,
    };
  }

  #checkStaleness(staleAfterMs: number | undefined, intervalMs: number, path: Path): void {
    if (staleAfterMs === undefined || staleAfterMs >= intervalMs) return;
    const message = `expected at least the interval, ${formatDuration(intervalMs)}, or the values leave between two polls`;
    this.#source.report([...path, 'stale_after'], `${message}; got ${formatDuration(staleAfterMs)}`);
  }

  /** The credential that a section or a target names; one that is not defined is reported and another stands in. */
  #credentialOf(name: unknown, path: Path): string | undefined {
    if (name === undefined) return undefined;
    if (typeof name === 'string' && this.#names.includes(name)) {
      this.#used.add(name);
      return name;
    }
    if (typeof name === 'string' && this.#names.length > 0) {
      const message = `expected a credential that is defined: ${oneOf(this.#names)}`;
      this.#source.report([...path, 'credential'], `${message}${didYouMean(name, this.#names)}`);
    }
    return this.#names[0];
  }

  /** Marks the credential as used; reports that there is none to use. */
  #needCredential(name: string | undefined, section: string, who: string): void {
    if (name !== undefined) this.#used.add(name);
    else if (this.#names.length > 1) {
      const message = `expected the name of one of the ${this.#names.length} credentials`;
      this.#source.report(
        [section, 'credential'],
        `${message} (${this.#names.join(', ')}), because ${who} none`,
      );
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

function keyOf(path: Path): string {
  return path.join('\n');
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
