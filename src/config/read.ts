/**
 * Turns a raw document into the configuration in force: checks it against the schema piece by piece, then what the
 * pieces say of each other. It reports every problem with its path; where that path is written is not its business.
 */
import type { z } from 'zod';
import { type ApiName, apiNames, type Ids, type Resource } from '../resources/resource.ts';
import { didYouMean, formatDuration, oneOf, plural, quote } from '../text.ts';
import type { ApiConfig, Config, CredentialSource, SectionConfig, TargetConfig } from './config.ts';
import type { Path } from './problems.ts';
import * as schema from './schema.ts';
import { isPlainRemote } from './values.ts';
import type { Raw } from './yaml.ts';

type RawMapping = { readonly [key: string]: Raw };

/** What the reader needs to know of the document beyond its content. */
export interface Source {
  /** Takes a problem. */
  readonly report: (path: Path, message: string) => void;
  readonly warn: (path: Path, message: string) => void;
  /** How a message refers to another value: `on line 12`. */
  readonly refer: (path: Path) => string;
  /** True where a target can only be written in its short form. */
  readonly shortOnly: boolean;
}

export interface Reading {
  /** The credentials that are well defined, whatever is wrong with the rest. */
  readonly credentials: Readonly<Record<string, CredentialSource>>;
  /** To be used only when nothing was reported. */
  readonly config: Config;
}

export function readDocument(raw: Raw, resources: readonly Resource[], source: Source): Reading {
  return new Reader(source).document(raw, resources);
}

interface Defaults {
  readonly credential: string | undefined;
  /** Undefined when the section's own is wrong, so that nothing is compared with it. */
  readonly intervalMs: number | undefined;
  readonly staleAfterMs: number | undefined;
}

class Reader {
  readonly #source: Source;
  /** The names of all credentials, the ill-defined ones too. */
  #credentials: readonly string[] = [];
  readonly #used = new Set<string>();

  constructor(source: Source) {
    this.#source = source;
  }

  document(raw: Raw, resources: readonly Resource[]): Reading {
    const root = this.#mapping(raw, [], 'a mapping of settings');
    const sections = resources.map(({ section }) => section);
    this.#refuseUnknown(root, ['credentials', 'apis', ...sections, 'limits'], []);
    if (isMapping(raw) && !sections.some((section) => Object.hasOwn(root, section))) {
      this.#source.report([], `expected at least one section that says what to poll: ${oneOf(sections)}`);
    }
    const credentials = isMapping(raw) ? this.#readCredentials(root['credentials']) : {};
    const apis = this.#apis(root['apis']);
    const config = {
      credentials,
      apis,
      sections: resources
        .filter(({ section }) => Object.hasOwn(root, section))
        .map((resource) => this.#section(root[resource.section] ?? null, resource)),
      limits: {
        maxSeries:
          this.#check(schema.limitsSchema, root['limits'] === undefined ? {} : root['limits'], ['limits'])
            ?.max_series ?? 0,
      },
    };
    for (const name of this.#credentials) {
      if (!this.#used.has(name)) this.#source.warn(['credentials', name], 'no target uses this credential');
    }
    return { credentials, config };
  }

  #readCredentials(raw: Raw | undefined): Record<string, CredentialSource> {
    const path = ['credentials'];
    const expected = 'expected at least one, such as `account: { env: BUNNYNET_ACCESS_KEY }`';
    if (raw === undefined) this.#source.report(path, `${expected}; it is missing`);
    const entries = this.#mapping(
      raw === undefined ? {} : raw,
      path,
      'a mapping of names to where each key is read',
      true,
    );
    this.#credentials = Object.keys(entries);
    if (raw !== undefined && isMapping(raw) && this.#credentials.length === 0) {
      this.#source.report(path, `${expected}; it is empty`);
    }
    const credentials: Record<string, CredentialSource> = {};
    for (const [name, entry] of Object.entries(entries)) {
      const at = [...path, name];
      if (!schema.isCredentialName(name)) {
        this.#source.report(
          at,
          'expected a name of 1 to 64 characters A-Z a-z 0-9 . _ - that begins with a letter or digit',
        );
        continue;
      }
      const read = this.#credential(entry, at);
      if (read !== undefined) credentials[name] = read;
    }
    return credentials;
  }

  #credential(raw: Raw, path: Path): CredentialSource | undefined {
    const expected = '{ env: VARIABLE } or { file: PATH }; a key is never written in the configuration';
    if (!isMapping(raw) || Object.hasOwn(raw, 'env') === Object.hasOwn(raw, 'file')) {
      this.#source.report(path, `expected ${isMapping(raw) ? 'either ' : ''}${expected}`);
      if (isMapping(raw)) this.#refuseUnknown(raw, ['env', 'file'], path);
      return undefined;
    }
    return 'env' in raw
      ? this.#check(schema.envSourceSchema, raw, path)
      : this.#check(schema.fileSourceSchema, raw, path);
  }

  #apis(raw: Raw | undefined): Record<ApiName, ApiConfig> {
    const root = raw === undefined ? {} : this.#mapping(raw, ['apis'], `a mapping of ${oneOf(apiNames)}`);
    this.#refuseUnknown(root, apiNames, ['apis']);
    const apis: Partial<Record<ApiName, ApiConfig>> = {};
    for (const api of apiNames) apis[api] = this.#api(root[api], api);
    return apis as Record<ApiName, ApiConfig>;
  }

  #api(raw: Raw | undefined, api: ApiName): ApiConfig {
    const path = ['apis', api];
    const piece = schema.apiSchema(api);
    const read = (raw === undefined ? undefined : this.#check(piece, raw, path)) ?? piece.parse({});
    if (isPlainRemote(read.base_url) && !read.allow_insecure_http) {
      const message = 'expected an https address, because over http the key is sent unencrypted';
      this.#source.report(
        [...path, 'base_url'],
        `${message}; allow_insecure_http: true allows it all the same`,
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

  #section(raw: Raw, resource: Resource): SectionConfig {
    const path = [resource.section];
    const { targets: rawTargets, ...rawHead } = this.#mapping(raw, path, 'a mapping with `targets`');
    const head = this.#check(schema.sectionSchema(resource), rawHead, path, ['targets']);
    const defaults: Defaults = {
      credential: this.#credentialOf(rawHead['credential'], path) ?? this.#onlyCredential(),
      intervalMs: head?.interval,
      staleAfterMs: head?.stale_after,
    };
    if (head !== undefined) this.#checkStaleness(head.stale_after, head.interval, path);
    const targets = isMapping(raw) ? this.#targets(rawTargets, resource, defaults) : [];
    if (targets === 'all') this.#use(defaults.credential, path);
    const settings = Object.entries(head ?? {}).filter(([key]) => Object.hasOwn(resource.settings, key));
    const intervalMs = defaults.intervalMs ?? resource.defaultIntervalSeconds * 1000;
    return {
      kind: resource.kind,
      credential: defaults.credential ?? '',
      intervalMs,
      staleAfterMs: defaults.staleAfterMs ?? schema.staleAfterIntervals * intervalMs,
      settings: Object.fromEntries(settings),
      targets,
    };
  }

  #targets(raw: Raw | undefined, resource: Resource, defaults: Defaults): SectionConfig['targets'] {
    const path = [resource.section, 'targets'];
    const list = `a list of ${schema.shortForms(resource)}${this.#orLong(resource)}`;
    const expected = schema.takesAll(resource) ? `all, or ${list}` : list;
    if (raw === 'all' && schema.takesAll(resource)) return 'all';
    if (!Array.isArray(raw)) {
      this.#source.report(path, `expected ${expected}; ${found(raw)}`);
      return [];
    }
    if (raw.length === 0) this.#source.warn(path, 'the list is empty, so nothing is polled');
    const piece = schema.targetSchema(resource);
    const firstIndex = new Map<string, number>();
    const targets: TargetConfig[] = [];
    let withoutCredential = 0;
    for (const [index, entry] of (raw as readonly Raw[]).entries()) {
      const at = [...path, index];
      const target = this.#target(entry, at, resource, piece, defaults);
      if (target === undefined) continue;
      const key = Object.values(target.ids).join('/');
      const first = firstIndex.get(key);
      if (first === undefined) {
        firstIndex.set(key, index);
      } else {
        this.#source.report(
          at,
          `expected each target once; ${quote(key)} is already ${this.#source.refer([...path, first])}`,
        );
      }
      if (target.credential === '') withoutCredential++;
      targets.push(target);
    }
    if (withoutCredential > 0)
      this.#use(
        undefined,
        [resource.section],
        `${plural(withoutCredential, 'target')} ${withoutCredential === 1 ? 'names' : 'name'}`,
      );
    return targets;
  }

  #target(
    raw: Raw,
    path: Path,
    resource: Resource,
    piece: ReturnType<typeof schema.targetSchema>,
    defaults: Defaults,
  ): TargetConfig | undefined {
    const long = typeof raw === 'string' ? this.#longForm(raw, path, resource) : raw;
    if (long === undefined) return undefined;
    if (!isMapping(long)) {
      this.#source.report(
        path,
        `expected ${schema.shortForm(resource)}${this.#orLong(resource)}; ${found(long)}`,
      );
      return undefined;
    }
    const read = this.#check(piece, long, path, [], typeof raw === 'string') as
      | (z.output<typeof piece> & Ids)
      | undefined;
    if (read === undefined) return undefined;
    const intervalMs = read.interval ?? defaults.intervalMs ?? resource.defaultIntervalSeconds * 1000;
    const staleAfterMs = this.#staleAfter(read, defaults, intervalMs, path);
    const credential = this.#credentialOf(read.credential, path) ?? defaults.credential;
    if (credential !== undefined) this.#used.add(credential);
    const ids: Record<string, string> = {};
    for (const { label, setting } of resource.ids) ids[label] = read[setting] ?? '';
    return { ids, name: read.name, credential: credential ?? '', intervalMs, staleAfterMs };
  }

  /** The target's own, else the section's, else a multiple of its interval. */
  #staleAfter(
    read: { interval?: number | undefined; stale_after?: number | undefined },
    defaults: Defaults,
    intervalMs: number,
    path: Path,
  ): number {
    const { interval, stale_after } = read;
    // Without an interval of either, nothing is known to compare with: the section's own is wrong.
    if (interval !== undefined || (stale_after !== undefined && defaults.intervalMs !== undefined)) {
      this.#checkStaleness(stale_after ?? defaults.staleAfterMs, intervalMs, path);
    }
    return stale_after ?? defaults.staleAfterMs ?? schema.staleAfterIntervals * intervalMs;
  }

  #checkStaleness(staleAfterMs: number | undefined, intervalMs: number, path: Path): void {
    if (staleAfterMs === undefined || staleAfterMs >= intervalMs) return;
    const message = `expected at least the interval, ${formatDuration(intervalMs)}, or the values leave between two polls`;
    this.#source.report([...path, 'stale_after'], `${message}; got ${formatDuration(staleAfterMs)}`);
  }

  /** `501/77` as the mapping that it stands for. */
  #longForm(text: string, path: Path, resource: Resource): RawMapping | undefined {
    const parts = resource.ids.length === 1 ? [text] : text.split('/');
    if (parts.length === resource.ids.length) {
      return Object.fromEntries(resource.ids.map(({ setting }, i) => [setting, parts[i] ?? '']));
    }
    this.#source.report(
      path,
      `expected ${schema.shortForm(resource)}${this.#orLong(resource)}; got ${quote(text)}`,
    );
    return undefined;
  }

  #orLong(resource: Resource): string {
    return this.#source.shortOnly ? '' : ` or ${schema.longForm(resource)}`;
  }

  #onlyCredential(): string | undefined {
    return this.#credentials.length === 1 ? this.#credentials[0] : undefined;
  }

  /** The credential that a section or a target names; one that is not defined is reported and another stands in. */
  #credentialOf(name: Raw | undefined, path: Path): string | undefined {
    if (name === undefined) return undefined;
    if (typeof name === 'string' && this.#credentials.includes(name)) {
      this.#used.add(name);
      return name;
    }
    if (typeof name === 'string' && schema.isCredentialName(name) && this.#credentials.length > 0) {
      const message = `expected a credential that is defined: ${oneOf(this.#credentials)}`;
      this.#source.report([...path, 'credential'], `${message}${didYouMean(name, this.#credentials)}`);
    }
    return this.#credentials[0];
  }

  /** Marks the credential as used; reports that there is none to use. */
  #use(name: string | undefined, path: Path, who = 'the listing names'): void {
    if (name !== undefined) this.#used.add(name);
    else if (this.#credentials.length > 1) {
      const message = `expected the name of one of the ${this.#credentials.length} credentials`;
      this.#source.report(
        [...path, 'credential'],
        `${message} (${this.#credentials.join(', ')}), because ${who} none`,
      );
    }
  }

  #mapping(raw: Raw, path: Path, expected: string, quiet = false): RawMapping {
    if (isMapping(raw)) return raw;
    this.#source.report(path, `expected ${expected}${quiet && raw !== null ? '' : `; ${found(raw)}`}`);
    return {};
  }

  #refuseUnknown(raw: RawMapping, known: readonly string[], path: Path): void {
    for (const key of Object.keys(raw)) {
      if (!known.includes(key)) this.#unknown(key, known, path);
    }
  }

  #unknown(key: string, known: readonly string[], path: Path): void {
    const meant = didYouMean(key, known);
    const message = meant === '' ? `unknown setting; expected ${oneOf(known)}` : `unknown setting${meant}`;
    this.#source.report([...path, key], message);
  }

  /** Reads a piece by its schema; undefined after a report. `flat`: the piece stands for one value at `path`. */
  #check<S extends z.ZodObject>(
    piece: S,
    raw: Raw,
    path: Path,
    alsoKnown: readonly string[] = [],
    flat = false,
  ): z.output<S> | undefined {
    if (!isMapping(raw)) {
      this.#mapping(raw, path, 'a mapping');
      return undefined;
    }
    const result = piece.safeParse(raw);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      if (issue.code === 'unrecognized_keys') {
        const known = [...Object.keys(piece.shape), ...alsoKnown];
        for (const key of issue.keys) this.#unknown(key, known, path);
        continue;
      }
      const steps = issue.path.filter((step) => typeof step !== 'symbol');
      const key = steps[0];
      const input = typeof key === 'string' && Object.hasOwn(raw, key) ? raw[key] : undefined;
      const message = describeIssue(issue, input);
      if (!flat) this.#source.report([...path, ...steps], message);
      else this.#source.report(path, Object.keys(raw).length > 1 ? `${key}: ${message}` : message);
    }
    return undefined;
  }
}

function describeIssue(issue: z.core.$ZodIssue, input: Raw | undefined): string {
  const quiet = issue.code === 'custom' && issue.params?.['quiet'] === true;
  if (quiet && typeof input === 'string') return issue.message;
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const meant = typeof input === 'string' ? didYouMean(input, values) : '';
    return `expected ${oneOf(values)}; ${found(input)}${meant}`;
  }
  return `${issue.message}; ${found(input)}`;
}

function found(raw: Raw | undefined): string {
  if (raw === undefined) return 'it is missing';
  if (raw === null) return 'got nothing';
  if (typeof raw === 'string') return `got ${quote(raw)}`;
  return Array.isArray(raw) ? 'got a list' : 'got a mapping';
}

function isMapping(raw: Raw): raw is RawMapping {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}
