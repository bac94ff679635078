/** The one configuration that exports all that the simulator has, as the exporter's users would write it. */
import { type AnyKind, allKinds, type Dataset, type Keys } from './dataset.ts';
import { isPaged, type Target } from './kind.ts';
import type { BaseUrls } from './simulator.ts';

/** What a simulator shows of itself, wherever it runs. */
export type Account = Dataset & { readonly keys: Keys; readonly baseUrls: BaseUrls };

export interface EverythingOptions {
  /** Default: every kind. */
  readonly kinds?: readonly string[];
  /** The first of each kind. Default: all of them. */
  readonly targetsPerKind?: number;
  /** As in the configuration: `30s`. Default: left out, as is `staleAfter`. */
  readonly interval?: string;
  readonly staleAfter?: string;
  /** Settings of an API beside its address; `polls` is how many its kinds ask for in one round. */
  readonly api?: (api: string, polls: number) => Readonly<Record<string, unknown>>;
  /** Settings of a kind's section, which replace those that it would have. */
  readonly sections?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Section {
  targets: 'all' | Record<string, unknown>[];
  [setting: string]: unknown;
}

/** A configuration in the form of the file, with each section under its own name. */
export interface ConfigDocument {
  credentials: Record<string, { readonly env: string } | { readonly file: string }>;
  apis: Record<string, Record<string, unknown>>;
  [section: string]: unknown;
}

export interface Everything {
  readonly document: ConfigDocument;
  /** The environment that holds the keys. */
  readonly env: Readonly<Record<string, string>>;
}

export function everything(account: Account, options: EverythingOptions = {}): Everything {
  const { interval, staleAfter, api = () => ({}) } = options;
  const wanted = allKinds
    .filter(({ kind }) => options.kinds?.includes(kind) ?? true)
    .map((kind) => ({ kind, targets: kind.targets(account).slice(0, options.targetsPerKind) }))
    .filter(({ targets }) => targets.length > 0);

  const document: ConfigDocument = { credentials: {}, apis: {} };
  const env: Record<string, string> = {};
  const addKey = (name: string, variable: string, key: string) => {
    document.credentials[name] = { env: variable };
    env[variable] = key;
  };
  addKey('account', 'ACCOUNT_KEY', account.keys.account);
  for (const library of new Set(
    wanted.flatMap(({ targets }) => targets.flatMap(({ library = [] }) => library)),
  )) {
    addKey(credentialOf(library), `LIBRARY_${library}_KEY`, account.keys.libraries[library] ?? '');
  }

  const polls = new Map<keyof BaseUrls, number>();
  for (const { kind, targets } of wanted) {
    const [operation] = kind.operations;
    polls.set(operation.api, (polls.get(operation.api) ?? 0) + (isPaged(operation) ? 1 : targets.length));
    document[kind.section] = {
      credential: 'account',
      ...(interval !== undefined && { interval }),
      ...(staleAfter !== undefined && { stale_after: staleAfter }),
      targets: targets.every(isAccount) ? 'all' : targets.map(entryOf),
      ...options.sections?.[kind.kind],
    } satisfies Section;
  }
  for (const [name, count] of polls)
    document.apis[name] = { base_url: account.baseUrls[name], ...api(name, count) };
  return { document, env };
}

/** The name of a library's credential. */
export function credentialOf(library: string): string {
  return `library-${library}`;
}

function isAccount({ ids }: Target): boolean {
  return Object.keys(ids).length === 0;
}

function entryOf({ ids, name, library }: Target): Record<string, unknown> {
  return {
    ...ids,
    ...(name !== undefined && { name }),
    ...(library !== undefined && { credential: credentialOf(library) }),
  };
}

/** The section of a kind, to be changed in place. */
export function sectionOf(document: ConfigDocument, { section }: Pick<AnyKind, 'section'>): Section {
  return document[section] as Section;
}
