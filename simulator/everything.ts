/** The one configuration that exports all that the simulator has, as the exporter's users would write it. */
import { type AnyKind, allKinds, type Dataset } from './dataset.ts';
import { apiNames, isPaged, type Target } from './kind.ts';
import type { BaseUrls, SimulatedAccount } from './simulator.ts';

/** The account of a simulator, which may run in another process. */
export type Account = SimulatedAccount & { readonly baseUrls: BaseUrls };

/** Plain data, as YAML and JSON hold it; what is undefined is left out. */
export type Setting = string | number | boolean | null | readonly Setting[] | Settings;
export type Settings = { readonly [name: string]: Setting | undefined };

interface EverythingOptions {
  /** Default: every kind. */
  readonly kinds?: readonly string[];
  /** True: targets are named one by one, with the key of each library. Default: the account's one key finds them all. */
  readonly isNamed?: boolean;
  /** As in the configuration: `30s`. Default: left out, as is `staleAfter`. */
  readonly interval?: string;
  readonly staleAfter?: string;
  /** Settings of an API beside its address. polls: how many polls its kinds make in one interval. */
  readonly api?: (api: string, polls: number) => Settings;
  /** Further accounts of the same simulator, by the names that they get. Not with `isNamed`. */
  readonly others?: Readonly<Record<string, SimulatedAccount>>;
  /** What the account is called. */
  readonly name?: string;
  /** By kind: settings of its section, which replace those that it would have. */
  readonly sections?: Readonly<Record<string, Settings>>;
}

type WrittenTarget = Record<string, Setting | undefined>;

/** A section; callers may change it. */
export interface WrittenSection {
  targets: 'all' | WrittenTarget[];
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
  const { isNamed = false, interval, staleAfter, name: first = 'account' } = options;
  const accounts: Readonly<Record<string, SimulatedAccount>> = { [first]: account, ...options.others };
  const wanted = allKinds
    .filter(({ kind }) => options.kinds?.includes(kind) ?? true)
    .map((kind) => ({ kind, targets: targetsOf(kind, account, isNamed) }))
    .filter(({ targets }) => !isNamed || targets.length > 0);

  const document: ConfigDocument = { credentials: {}, apis: {} };
  const env: Record<string, string> = {};
  for (const [name, { keys }] of Object.entries(accounts)) {
    const variable = `${name.toUpperCase()}_KEY`;
    document.credentials[name] = { env: variable };
    env[variable] = keys.account;
  }
  if (options.others) document['accounts'] = Object.keys(accounts);
  const libraries = wanted.flatMap(({ targets }) => targets.flatMap(({ library }) => library ?? []));
  for (const library of isNamed ? libraries : []) {
    document.credentials[credentialOf(library)] = { env: `LIBRARY_${library}_KEY` };
    env[`LIBRARY_${library}_KEY`] = account.keys.libraries[library] ?? '';
  }

  for (const { kind, targets } of wanted) {
    document[kind.section] = {
      // A credential that is named takes precedence over the keys that listings give.
      credential: isNamed ? 'account' : undefined,
      interval,
      stale_after: staleAfter,
      targets: !isNamed || targets.every(isAccount) ? 'all' : targets.map(entryOf),
      ...options.sections?.[kind.kind],
    } satisfies WrittenSection;
  }
  // Every API gets the simulator's address, so that the real one is never called.
  for (const api of apiNames) {
    const ofApi = wanted.filter(({ kind }) => kind.operations[0].api === api);
    const polls = ofApi.map(({ kind, targets }) => (isPaged(kind.operations[0]) ? 1 : targets.length));
    const sum = Object.keys(accounts).length * polls.reduce((total, count) => total + count, 0);
    document.apis[api] = { base_url: account.baseUrls[api], ...options.api?.(api, sum) };
  }
  return { document, env };
}

/** The targets of a kind: those that have readings of their own, or those that its listing has. */
export function targetsOf(kind: AnyKind, account: Dataset, isNamed: boolean): readonly Target[] {
  return isNamed ? kind.targets(account) : (kind.listed ?? kind.targets)(account);
}

function credentialOf(library: string): string {
  return `library-${library}`;
}

function isAccount({ ids }: Target): boolean {
  return Object.keys(ids).length === 0;
}

function entryOf({ ids, name, library }: Target): WrittenTarget {
  return { ...ids, name, credential: library === undefined ? undefined : credentialOf(library) };
}

/** The section of a kind. */
export function sectionOf(document: ConfigDocument, { section }: Pick<AnyKind, 'section'>): WrittenSection {
  return document[section] as WrittenSection;
}
