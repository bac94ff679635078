/** The one configuration that exports all that the simulator has, as the exporter's users would write it. */
import { type AnyKind, allKinds, type Dataset, type Keys } from './dataset.ts';
import { type ApiName, isPaged, type Target } from './kind.ts';
import type { BaseUrls } from './simulator.ts';

/** What a simulator shows of itself, wherever it runs. */
export type Account = Dataset & { readonly keys: Keys; readonly baseUrls: BaseUrls };

/** Plain data, as YAML and JSON hold it; what is undefined is left out. */
export type Setting = string | number | boolean | null | readonly Setting[] | Settings;
export type Settings = { readonly [name: string]: Setting | undefined };

export interface EverythingOptions {
  /** Default: every kind. */
  readonly kinds?: readonly string[];
  /** The first of each kind. Default: all of them. */
  readonly targetsPerKind?: number;
  /** As in the configuration: `30s`. Default: left out, as is `staleAfter`. */
  readonly interval?: string;
  readonly staleAfter?: string;
  /** Settings of an API beside its address; `polls` is how many its kinds ask for in one round. */
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
  const { interval, staleAfter, api: settingsOf = () => ({}) } = options;
  const wanted = allKinds
    .filter(({ kind }) => options.kinds?.includes(kind) ?? true)
    .map((kind) => ({ kind, targets: kind.targets(account).slice(0, options.targetsPerKind) }))
    .filter(({ targets }) => targets.length > 0);

  const document: ConfigDocument = { credentials: {}, apis: {} };
  const env: Record<string, string> = {};
  const addKey = (name: string, variable: string, key = '') => {
    document.credentials[name] = { env: variable };
    env[variable] = key;
  };
  addKey('account', 'ACCOUNT_KEY', account.keys.account);
  const libraries = wanted.flatMap(({ targets }) => targets.flatMap(({ library }) => library ?? []));
  for (const library of new Set(libraries)) {
    addKey(credentialOf(library), `LIBRARY_${library}_KEY`, account.keys.libraries[library]);
  }

  // Every API has its address, also one without a target: nothing is ever asked of the real API.
  const polls = new Map<ApiName, number>(allKinds.map(({ operations: [{ api }] }) => [api, 0]));
  for (const { kind, targets } of wanted) {
    const [operation] = kind.operations;
    const round = isPaged(operation) ? 1 : targets.length;
    polls.set(operation.api, (polls.get(operation.api) ?? 0) + round);
    document[kind.section] = {
      credential: 'account',
      interval,
      stale_after: staleAfter,
      targets: targets.every(isAccount) ? 'all' : targets.map(entryOf),
      ...options.sections?.[kind.kind],
    } satisfies Section;
  }
  for (const [name, count] of polls) {
    document.apis[name] = { base_url: account.baseUrls[name], ...settingsOf(name, count) };
  }
  return { document, env };
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
