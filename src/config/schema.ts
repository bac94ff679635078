/**
 * The schema of the configuration: settings, defaults, messages. Sections are built from the declared resources, so a new
 * kind needs nothing here.
 */
import * as z from 'zod';
import { type ApiName, apiNames, isReadAlone, type Resource } from '../resources/resource.ts';
import type { CredentialSource } from '../secrets/credentials.ts';
import { didYouMean, formatDuration, orList } from '../text.ts';
import { apiDefaults } from './config.ts';
import { idPatternOf, patternProblem } from './selector.ts';
import * as value from './values.ts';
import { mapping, optional, preset } from './values.ts';

/** How many missed intervals make a reading stale by default. */
export const staleAfterIntervals = 3;

/** Polls are up to 1.1 intervals apart, and a poll takes time: with less than this, values could become stale between two. */
export const minStaleAfterIntervals = 1.5;

const keySource = '{ env: VARIABLE } or { file: PATH }; a key is never written in the configuration';

const credentialSchema = mapping(
  {
    env: optional(value.variableName, 'The environment variable that holds the key'),
    file: optional(
      value.keyPath,
      'The file that holds the key, relative to this one; read again when it changes',
    ),
  },
  keySource,
)
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error: `expected either ${keySource}`,
    params: { quiet: true },
    // Check this even if one of them has a wrong value.
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
  })
  .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] });

const oneCredential = 'expected at least one, such as `account: { env: BUNNYNET_ACCESS_KEY }`';

const credentialsSchema = z
  .record(z.string().regex(new RegExp(value.credentialNamePattern)), credentialSchema, {
    error: ({ code, input }) => {
      if (code === 'invalid_key') {
        return 'expected a name of 1 to 64 characters A-Z a-z 0-9 . _ - that begins with a letter or digit';
      }
      return input === undefined ? oneCredential : 'expected a mapping of names to where each key is read';
    },
  })
  .refine((credentials) => Object.keys(credentials).length > 0, {
    error: `${oneCredential}; it is empty`,
    params: { quiet: true },
  })
  .describe('Where each key is read, by a name of your choice; a key itself is never written here');

const timeout = preset(
  value.duration(1000, 600_000),
  '10s',
  'From the start of a request to the last byte of its answer',
);
const concurrency = value.integer(1, 256);
const requestRate = value.decimal(0.1, 10_000);

/** The settings that every API has with the same default. Their schemas are made once, since each takes memory. */
const sharedApiShape = {
  max_retries: preset(value.integer(0, 10), '2', 'How often a failed request is retried'),
  max_response_bytes: preset(
    value.bytes(1024, 2 ** 28),
    '8MiB',
    'The largest answer that is read; it may hold one JSON value for each 17 bytes of this limit. A larger page of a listing is requested in smaller ones',
  ),
  ca_file: optional(
    value.filePath,
    'Certificates in PEM to trust beside the public ones and those of NODE_EXTRA_CA_CERTS, relative to this file; read at each load',
  ),
  allow_insecure_http: preset(
    value.boolean,
    'false',
    'Allows an http address beyond this machine: the key is then sent unencrypted',
  ),
};

function apiSchema(api: ApiName) {
  const { baseUrl, maxConcurrency, requestsPerSecond } = apiDefaults[api];
  return mapping({
    base_url: preset(value.baseUrl, baseUrl, 'Address of the API'),
    timeout,
    max_concurrency: preset(concurrency, String(maxConcurrency), 'Requests in flight at the same time'),
    requests_per_second: preset(requestRate, String(requestsPerSecond), 'Shared by all kinds of the API'),
    ...sharedApiShape,
  });
}

const interval = value.duration(1000, 604_800_000);

/** The default of `discovery.interval`. */
export const listingIntervalMs = 600_000;

/** A setting that has a default only where nothing else gives it one: that depends on `interval_factor`. */
function scaled(schema: typeof interval, defaultMs: number, description: string) {
  return schema.meta({ ...schema.meta(), description, default: formatDuration(defaultMs) }).optional();
}

function discoverySchema(resources: readonly Resource[]) {
  const kinds = resources.map(({ kind }) => kind);
  const costly = resources.filter(({ isCostly }) => isCostly).map(({ kind }) => kind);
  const ofAll = kinds.filter((kind) => !costly.includes(kind));
  const kindOfAll = z
    .string({ error: 'expected a kind' })
    .refine((kind) => !costly.includes(kind), {
      error: '`all` never has it; remove this',
      params: { quiet: true },
      abort: true,
    })
    .pipe(z.enum(ofAll))
    .meta({ type: 'string', enum: ofAll });
  const things = thingLabels(resources);
  return mapping({
    interval: scaled(
      interval,
      listingIntervalMs,
      'Time between two polls of a listing that is not a kind of its own',
    ),
    kinds: preset(
      z.enum(['all', 'none']),
      'none',
      `all: every kind without a section is on, with \`targets: all\`, but never ${orList(costly)}, which only its section turns on`,
    ),
    except: optional(
      z.array(kindOfAll, { error: 'expected a list of kinds' }),
      'The kinds that `kinds: all` leaves off',
    ),
    accounts: optional(
      value.credentialNames,
      'The accounts of which kinds without a section, and sections without `credential`, are read; default: all',
    ),
    exclude: optional(
      value.patternsOf((text) => thingProblem(text, things)),
      `Things to leave out of every kind: a pattern in RE2 syntax or a list of them, each of a whole name, or of an id as in \`pull_zone_id=501\` (${orList(things)})`,
    ),
  });
}

/** What is wrong with a pattern of things beside its syntax: it may name an id that is none. */
function thingProblem(pattern: string, things: readonly string[]): string | undefined {
  const ofIds = idPatternOf(pattern);
  if (!ofIds) return undefined;
  const { label, ids } = ofIds;
  if (things.includes(label)) return patternProblem(ids);
  const hint = didYouMean(label, things) || '; what is below or about one of them is left out with it';
  return `${label} is none of ${orList(things)}${hint}`;
}

/** The labels of the ids of what `discovery.exclude` leaves out. */
export function thingLabels(resources: readonly Resource[]): readonly string[] {
  return [...new Set(resources.flatMap((resource) => thingLabelOf(resource) ?? []))];
}

/** The label of the id of the thing that a kind is of, below or about. Undefined for a kind of an account. */
export function thingLabelOf({ listing }: Pick<Resource, 'listing'>): string | undefined {
  let root = listing;
  while (root?.parent) root = root.parent;
  return (root?.names ?? root)?.ids?.[0]?.label;
}

/** Builds the schema of each once. Those of all kinds take 50 ms, which no reload takes again. */
function once<Of extends object, Schema>(build: (of: Of) => Schema): (of: Of) => Schema {
  const built = new WeakMap<Of, Schema>();
  return (of) => {
    const schema = built.get(of) ?? build(of);
    built.set(of, schema);
    return schema;
  };
}

const stateSchema = mapping({
  file: optional(
    value.filePath,
    'Where counters are kept over a restart, relative to this file; in a folder that the exporter may write. Each exporter needs a file of its own. Default: they begin anew',
  ),
});

/** Settings that only `targets: all` allows. */
export const selectionKeys = ['include', 'exclude', 'parents', 'overrides'] as const;

/** Which of all are taken. The schemas that sections have in common are made once, since each takes memory. */
const selection = {
  include: optional(
    value.patterns,
    'With all: what to take, a pattern in RE2 syntax or a list of them; it matches the whole name or the whole id; . is any character',
  ),
  exclude: optional(value.patterns, 'With all: what to leave out, likewise'),
};

const parents = mapping({
  include: optional(value.patterns, 'Patterns of the names or ids to take; default: all'),
  exclude: optional(value.patterns, 'Patterns of the names or ids to leave out'),
});

function selectionShape(resource: Resource) {
  const { listing } = resource;
  if (!listing) return {};
  return {
    ...selection,
    ...(listing.parent ? { parents: optional(parents, `With all: of which ${listing.parent.nouns}`) } : {}),
    overrides: optional(
      z.array(
        z.lazy(() => overrideSchema(resource)),
        {
          error: `expected a list of { ${longForm(resource)}, … }`,
        },
      ),
      'With all: what is different for single targets, by their ids',
    ),
  };
}

function idShape({ ids }: Resource): Record<string, z.ZodType<string, string>> {
  const shape = ids.map(({ setting, form, label }) => [
    setting,
    value.ids[form].describe(`The id that is exposed as the label ${label}`),
  ]);
  return Object.fromEntries(shape) as Record<string, z.ZodType<string, string>>;
}

/** A mapping of the ids of a target and these options. An id may be called as its setting or as its label: `id`, `pull_zone_id`. */
function withIds<Options extends z.ZodRawShape>(
  resource: Resource,
  options: Options,
  expected?: string,
): z.ZodType<z.output<z.ZodObject<Options>> & Record<string, unknown>, Record<string, string | undefined>> {
  const [only] = resource.ids.length === 1 ? resource.ids : [];
  const shape = idShape(resource);
  if (!only || only.setting === only.label) return mapping({ ...shape, ...options }, expected) as never;
  const { setting, label, form } = only;
  const id = value.ids[form];
  return mapping(
    {
      [setting]: (shape[setting] ?? id).optional(),
      [label]: id.describe(`The same as ${setting}`).optional(),
      ...options,
    },
    expected,
  )
    .superRefine((settings: Readonly<Record<string, unknown>>, context) => {
      if (settings[setting] === undefined && settings[label] === undefined) {
        const issues = id.safeParse(undefined).error?.issues ?? [];
        for (const { message } of issues)
          context.addIssue({ code: 'custom', path: [setting], input: undefined, message });
      } else if (settings[setting] !== undefined && settings[label] !== undefined)
        context.addIssue({
          code: 'custom',
          path: [label],
          message: `expected either ${setting} or ${label}; both are set`,
          params: { quiet: true },
        });
    })
    .transform(({ [label]: byLabel, ...settings }: Readonly<Record<string, unknown>>) => ({
      ...settings,
      [setting]: settings[setting] ?? byLabel,
    }))
    .meta({ oneOf: [{ required: [setting] }, { required: [label] }] }) as never;
}

/** Overrides for one target of `all`. A target that comes with its listing has no interval of its own. */
function overrideSchema(resource: Resource) {
  const { name, interval, stale_after } = targetOptions;
  const options = isReadAlone(resource) ? { name, interval, stale_after } : { name, stale_after };
  return withIds(resource, options, `{ ${longForm(resource)}, … }`);
}

const staleAfter = value.duration();

/** The settings in the long form of a target, besides its ids. */
const targetOptions = {
  name: optional(value.displayName, 'Display name; exposed as a label of the info series'),
  interval: optional(interval, 'Time between two polls; default: that of the section'),
  credential: optional(value.credentialName, 'The credential to use; default: that of the section'),
  stale_after: optional(
    staleAfter,
    'Age after which its values are no longer exported; default: that of the section, else 3 times its interval',
  ),
};

function longSchema(resource: Resource) {
  return withIds(resource, targetOptions);
}

/** A target as `501/77`, which becomes the long form. */
function shortSchema(resource: Resource, long: ReturnType<typeof longSchema>, error: string) {
  const { ids } = resource;
  const [only] = ids.length === 1 ? ids : [];
  const partsOf = (text: string) => (only ? [text] : text.split('/'));
  const isAll = (text: unknown) => takesAll(resource) && String(text).toLowerCase() === 'all';
  return z
    .string()
    .refine((text) => partsOf(text).length === ids.length && !isAll(text), {
      error: ({ input }) => (isAll(input) ? 'expected `all` alone, not in a list' : error),
    })
    .transform((text): Record<string, string | undefined> => {
      const parts = partsOf(text);
      return Object.fromEntries(ids.map(({ setting }, i) => [setting, parts[i]]));
    })
    .pipe(long)
    .meta(only ? { ...value.ids[only.form].meta() } : { type: 'string', pattern: '^[^/]+(/[^/]+)+$' });
}

function targetsSchema(resource: Resource) {
  if (isOfAccount(resource)) {
    return preset(
      z.literal('all', { error: 'expected all' }),
      'all',
      "What to poll: all, which is the credential's account",
    );
  }
  const orLong = ` or { ${longForm(resource)} }`;
  const one = `expected ${resource.ids.length === 1 ? 'an id' : shortForm(resource)}${orLong}`;
  // Most sections have `targets: all`, and need no schema of a target, which takes memory.
  const target = z.lazy(() => {
    const long = longSchema(resource);
    return z.union([shortSchema(resource, long, one), long], { error: one });
  });
  const listOf = `${takesAll(resource) ? 'all, or ' : ''}a list of ${shortForms(resource)}${orLong}`;
  const error = `expected ${listOf}`;
  const list = z.array(target, { error });
  const targets = takesAll(resource) ? z.union([z.literal('all'), list], { error }) : list;
  return targets.describe(`What to poll: ${listOf}`);
}

const sectionStaleAfter = optional(
  staleAfter,
  `Age after which a target's values are no longer exported, at least ${minStaleAfterIntervals} times the interval; default: ${staleAfterIntervals} times`,
);

const ofAccount = optional(
  value.credentialNames,
  'The account, or with all a list of them; default: with all every account, else the only one',
);

const ofLibrary = optional(
  value.credentialNames,
  "The key of a library; without it, `all` reads each library with its own key, from the account's list",
);

/** A section of one kind. */
export const sectionSchema = once((resource: Resource) =>
  mapping(
    {
      credential: resource.api === 'video' ? ofLibrary : ofAccount,
      interval: scaled(
        interval,
        resource.defaultIntervalSeconds * 1000,
        'Time between two polls of a target',
      ),
      stale_after: sectionStaleAfter,
      ...resource.settings,
      targets: targetsSchema(resource),
      ...selectionShape(resource),
    },
    isOfAccount(resource) ? 'a mapping of settings' : 'a mapping with `targets`',
  ).describe(
    `${resource.noun}, kind ${resource.kind}; unless discovery turns it on, it is off without this section`,
  ),
);

/** What a section with `targets: all` and nothing else is read as, without building and compiling the whole schema of its kind. */
export function unwrittenSection({ settings }: Resource): SectionSettings {
  return { targets: 'all', ...mapping(settings).parse({}, { jitless: true }) };
}

export function takesAll(resource: Resource): boolean {
  return resource.listing !== undefined || isOfAccount(resource);
}

/** Whether the only target is the credential's account, so that `all` is the only form. */
export function isOfAccount(resource: Resource): boolean {
  return isReadAlone(resource) && resource.ofAccount === true;
}

/** `library_id/video_id` */
function shortForm(resource: Resource): string {
  return resource.ids.map(({ setting }) => setting).join('/');
}

/** What the list of targets holds: `ids`, or `library_id/video_id`. */
export function shortForms(resource: Resource): string {
  return resource.ids.length === 1 ? 'ids' : shortForm(resource);
}

function longForm({ ids }: Resource): string {
  return ids.map(({ setting }) => `${setting}: …`).join(', ');
}

const apisSchema = preset(
  mapping(
    Object.fromEntries(apiNames.map((api) => [api, apiSchema(api).prefault({})])) as Record<
      ApiName,
      z.ZodPrefault<ReturnType<typeof apiSchema>>
    >,
    `a mapping of ${orList(apiNames)}`,
  ),
  {},
  'Addresses and pace of the APIs',
);

/** The schema of a document whose sections hold anything: `sectionSchema` is that of each. */
export const frameSchema = once((resources: readonly Resource[]) =>
  mapping(
    {
      credentials: credentialsSchema,
      accounts: optional(
        z.array(value.credentialName, { error: 'expected a list of credentials' }).min(1, {
          error: 'expected at least one credential',
        }),
        "The credentials that are an account's key; may be left out where only one can be meant, or sections name them",
      ),
      apis: apisSchema,
      interval_factor: preset(
        value.decimal(0.5, 10),
        '1',
        'What every interval that is not set here is multiplied by, from 0.5 to 10; 24h is the longest, except where the default is longer',
      ),
      discovery: preset(discoverySchema(resources), {}, 'What is found and polled without being named here'),
      state: preset(stateSchema, {}, 'What outlives a restart'),
      ...Object.fromEntries(resources.map(({ section }) => [section, z.unknown().optional()])),
    },
    'a mapping of settings',
  ),
);

export type ApiSettings = z.output<ReturnType<typeof apiSchema>>;

type TargetOptions = { [Key in keyof typeof targetOptions]?: z.output<(typeof targetOptions)[Key]> };

/** A target in either form. The ids are under their own names. */
export type TargetSettings = Readonly<TargetOptions & Record<string, unknown>>;

/** A section of any kind. The kind's own settings are under their names. */
export interface SectionSettings {
  readonly credential?: readonly string[];
  /** Undefined where it is not set by hand, see `interval_factor`. */
  readonly interval?: number;
  readonly stale_after?: number;
  readonly targets: 'all' | readonly TargetSettings[];
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly parents?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] };
  readonly overrides?: readonly TargetSettings[];
  readonly [setting: string]: unknown;
}

/** The whole document, with defaults. */
export interface Settings {
  readonly credentials: Readonly<Record<string, CredentialSource>>;
  readonly accounts?: readonly string[];
  readonly apis: Readonly<Record<ApiName, ApiSettings>>;
  readonly interval_factor: number;
  readonly discovery: z.output<ReturnType<typeof discoverySchema>>;
  readonly state: z.output<typeof stateSchema>;
  /** The sections. */
  readonly [section: string]: unknown;
}
