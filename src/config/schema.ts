/**
 * The settings there are, what each may hold and what it is when left out: the one place that knows. Built from the
 * declared resources, so that a new kind costs nothing here. It knows nothing of files, lines or the environment.
 */
import { z } from 'zod';
import { apis } from '../api/apis.ts';
import { type ApiName, apiNames, type Resource } from '../resources/resource.ts';
import { formatDuration } from '../text.ts';
import * as value from './values.ts';

/** How many missed intervals make a reading stale, where nothing else is said. */
export const staleAfterIntervals = 3;

export const envSourceSchema = z.strictObject({
  env: value.variableName.describe('The environment variable that holds the key'),
});
export const fileSourceSchema = z.strictObject({
  file: value.filePath.describe(
    'The file that holds the key, relative to this one; read again when it changes',
  ),
});

export type ApiSchema = ReturnType<typeof apiSchema>;

/** One API: its address and how hard it may be asked. */
export function apiSchema(api: ApiName) {
  const defaults = apis[api];
  return z.strictObject({
    base_url: value.baseUrl.prefault(defaults.baseUrl).describe('Where the API is'),
    timeout: value
      .duration(1000, 600_000)
      .prefault('10s')
      .describe('From the start of a request to the last byte of its answer'),
    max_concurrency: value
      .integer(1, 256)
      .prefault(String(defaults.maxConcurrency))
      .describe('Requests under way at the same time'),
    requests_per_second: value
      .decimal(0.1, 10_000)
      .prefault(String(defaults.requestsPerSecond))
      .describe('The pace that all kinds of the API share'),
    max_retries: value.integer(0, 10).prefault('2').describe('Further tries within one poll'),
    max_response_bytes: value
      .bytes(1024, 2 ** 28)
      .prefault('8MiB')
      .describe('The largest answer that is read'),
    ca_file: value.filePath
      .optional()
      .describe(
        'Certificates in PEM to trust beside the public ones, relative to this file; read at each load',
      ),
    allow_insecure_http: value.boolean
      .prefault('false')
      .describe('Allows an http address beyond this machine: the key is then sent unencrypted'),
  });
}

export const limitsSchema = z.strictObject({
  max_series: value
    .integer(1, 100_000_000)
    .prefault('1000000')
    .describe('A hard cap on the series of the page; what it drops is counted'),
});

export const interval = value.duration(1000, 604_800_000);

/** What the long form of a target says beside its ids. */
const targetOptions = {
  name: value.displayName.describe('What people call it; exposed as a label of the info series').optional(),
  interval: interval.describe('Time between two polls; default: that of the section').optional(),
  credential: value.credentialName
    .describe('The credential to ask with; default: that of the section')
    .optional(),
  stale_after: value
    .duration()
    .describe(
      'Age at which its values leave the page; default: that of the section, else 3 times its interval',
    )
    .optional(),
};

/** The long form of a target of the kind. */
export function targetSchema(resource: Resource) {
  const ids: Record<string, z.ZodType<string, string>> = {};
  for (const { setting, form, label } of resource.ids) {
    ids[setting] = value.id(form).describe(`The id that is exposed as the label ${label}`);
  }
  return z.strictObject({ ...ids, ...targetOptions });
}

/** What a section says beside its targets. */
export function sectionSchema(resource: Resource) {
  return z.strictObject({
    credential: value.credentialName
      .describe('The credential to ask with; may be left out where only one is defined')
      .optional(),
    interval: interval
      .prefault(formatDuration(resource.defaultIntervalSeconds * 1000))
      .describe('Time between two polls of a target'),
    stale_after: value
      .duration()
      .describe(
        `Age at which a target's values leave the page; default: ${staleAfterIntervals} times the interval`,
      )
      .optional(),
    ...resource.settings,
  });
}

export function isCredentialName(name: string): boolean {
  return value.credentialName.safeParse(name).success;
}

/** Whether `targets: all` has a meaning for the kind. */
export function takesAll(resource: Resource): boolean {
  return resource.listing !== undefined;
}

/** How the short form of a target is written: `an id`, or `library_id/video_id`. */
export function shortForm(resource: Resource): string {
  return resource.ids.length === 1 ? 'an id' : resource.ids.map(({ setting }) => setting).join('/');
}

/** What the list of targets holds: `ids`, or `library_id/video_id`. */
export function shortForms(resource: Resource): string {
  return resource.ids.length === 1 ? 'ids' : shortForm(resource);
}

/** The least that the long form of a target says: `{ id: … }`. */
export function longForm(resource: Resource): string {
  return `{ ${resource.ids.map(({ setting }) => `${setting}: …`).join(', ')} }`;
}

/** The document as a whole, for editors; the loader reads it piece by piece, so that one problem hides no other. */
export function documentSchema(resources: readonly Resource[]) {
  const apiSchemas = Object.fromEntries(apiNames.map((api) => [api, apiSchema(api).optional()]));
  const sections = resources.map(
    (resource) => [resource.section, sectionWithTargets(resource).optional()] as const,
  );
  return z.strictObject({
    credentials: z
      .record(
        z.string().regex(new RegExp(value.credentialNamePattern)),
        z.union([envSourceSchema, fileSourceSchema]),
      )
      .describe('Where each key is read, by a name of your choice; a key itself is never written here'),
    apis: z.strictObject(apiSchemas).describe('Addresses and pace of the APIs').optional(),
    ...Object.fromEntries(sections),
    limits: limitsSchema.optional(),
  });
}

function sectionWithTargets(resource: Resource) {
  const [only, ...others] = resource.ids;
  const short =
    only !== undefined && others.length === 0
      ? value.id(only.form)
      : value.scalar(shortForm(resource), (text) => text, { type: 'string', pattern: '^[^/]+(/[^/]+)+$' });
  const list = z.array(z.union([short, targetSchema(resource)]));
  const targets = takesAll(resource) ? z.union([z.literal('all'), list]) : list;
  return sectionSchema(resource)
    .extend({
      targets: targets.describe(
        `Which: ${takesAll(resource) ? 'all, or ' : ''}a list of ${shortForms(resource)} or ${longForm(resource)}`,
      ),
    })
    .describe(`${resource.noun}, kind ${resource.kind}; without this section it is off`);
}
