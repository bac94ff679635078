/** The one configuration that exports all that the simulator has, as the exporter's users would write it. */
import { type AnyKind, type AnyOperation, allKinds, type Dataset, type Keys, operations } from './dataset.ts';
import { type ApiName, isPaged, type Target } from './kind.ts';
import type { BaseUrls } from './simulator.ts';

/** What there is to know about a simulator, which may run in another process. */
export type Account = Dataset & { readonly keys: Keys; readonly baseUrls: BaseUrls };

/** Plain data, as YAML and JSON hold it; what is undefined is left out. */
export type Setting = string | number | boolean | null | readonly Setting[] | Settings;
export type Settings = { readonly [name: string]: Setting | undefined };

interface EverythingOptions {
  /** Default: every kind. */
  readonly kinds?: readonly string[];
  /** True: targets are named one by one, with the key of each library. Default: the account's one key finds them all. */
  readonly isNamed?: boolean;
  /** The first of each kind, named one by one. Default: all of them. */
  readonly targetsPerKind?: number;
  /** As in the configuration: `30s`. Default: left out, as is `staleAfter`. */
  readonly interval?: string;
  readonly staleAfter?: string;
  /** Settings of an API beside its address; `polls` is how many its kinds and listings ask for in one round. */
  readonly api?: (api: string, polls: number) => Settings;
  /** By kind: settings of its section, which replace those that it would have. */
  readonly sections?: Readonly<Record<string, Settings>>;
}

type Entry = Record<string, Setting | undefined>;

/** A section, to be changed in place where a caller needs another. */
export interface Section {
  targets: 'all' | Entry[];
  [setting: string]: Setting | undefined;
}

/** A configuration in the form of the file, with each section under its own name. */
export interface ConfigDocument {
  credentials: Record<string, { readonly env: string }>;
  apis: Record<string, Settings>;
  [section: string]: Setting | undefined;
}

export interface Everything {
  readonly document: ConfigDocument;
  /** The environment that holds the keys. */
  readonly env: Readonly<Record<string, string>>;
}

export function everything(account: Account, options: EverythingOptions = {}): Everything {
  const { targetsPerKind, isNamed = targetsPerKind !== undefined, interval, staleAfter } = options;
  const wanted = allKinds
    .filter(({ kind }) => options.kinds?.includes(kind) ?? true)
    .map((kind) => ({ kind, targets: targetsOf(kind, account, isNamed).slice(0, targetsPerKind) }))
    .filter(({ targets }) => !isNamed || targets.length > 0);

  const document: ConfigDocument = { credentials: {}, apis: {} };
  const env: Record<string, string> = {};
  const addKey = (name: string, variable: string, key = '') => {
    document.credentials[name] = { env: variable };
    env[variable] = key;
  };
  addKey('account', 'ACCOUNT_KEY', account.keys.account);
  const libraries = wanted.flatMap(({ targets }) => targets.flatMap(({ library }) => library ?? []));
  for (const library of isNamed ? new Set(libraries) : []) {
    addKey(credentialOf(library), `LIBRARY_${library}_KEY`, account.keys.libraries[library]);
  }

  // Every API has its address, also one without a target: nothing is ever asked of the real API.
  const polls = new Map<ApiName, number>(operations.map(({ api }) => [api, 0]));
  const count = ({ api }: AnyOperation, more: number) => polls.set(api, (polls.get(api) ?? 0) + more);
  for (const { kind, targets } of wanted) {
    const [reading, ...listings] = kind.operations;
    count(reading, isPaged(reading) ? 1 : targets.length);
    if (!isNamed) for (const listing of listings) count(listing, listingsOf(listing, targets));
    document[kind.section] = {
      // Where a credential is named it goes before the keys that are found.
      credential: isNamed ? 'account' : undefined,
      interval,
      stale_after: staleAfter,
      targets: !isNamed || targets.every(isAccount) ? 'all' : targets.map(entryOf),
      ...options.sections?.[kind.kind],
    } satisfies Section;
  }
  for (const [name, requests] of polls) {
    document.apis[name] = { base_url: account.baseUrls[name], ...options.api?.(name, requests) };
  }
  return { document, env };
}

/** The targets of a kind: those that have readings of their own, or those that its listing has. */
export function targetsOf(kind: AnyKind, account: Dataset, isNamed: boolean): readonly Target[] {
  return isNamed ? kind.targets(account) : (kind.listed ?? kind.targets)(account);
}

/** How many times a listing is asked: once, or once for each thing that its path names. */
function listingsOf({ path }: AnyOperation, targets: readonly Target[]): number {
  const named = path.match(/\{/g)?.length ?? 0;
  return new Set(targets.map(({ ids }) => Object.values(ids).slice(0, named).join('/'))).size;
}

/** The name of a library's credential. */
export function credentialOf(library: string): string {
  return `library-${library}`;
}

function isAccount({ ids }: Target): boolean {
  return Object.keys(ids).length === 0;
}

function entryOf({ ids, name, library }: Target): Entry {
  return { ...ids, name, credential: library === undefined ? undefined : credentialOf(library) };
}

/** The section of a kind. */
export function sectionOf(document: ConfigDocument, { section }: Pick<AnyKind, 'section'>): Section {
  return document[section] as Section;
}
