/** What holds for the answers of every kind. What each kind makes of its own fields is in its own test. */
import { describe, expect, it } from 'vitest';
import { operationOf } from '../../src/report/operations.ts';
import type { Documented } from '../../src/resources/documented.ts';
import { isNotInPlan } from '../../src/resources/envelope.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import {
  isReadAlone,
  type ListedResource,
  type ReadResource,
  type Resource,
} from '../../src/resources/resource.ts';
import { runs } from '../runs.ts';
import { expose, exposeListing } from './expose.ts';

/** Less those whose answer is a list of elements: an object with one of the fields is no answer of theirs. */
const readAlone = resources.filter(isReadAlone).filter(({ nothing }) => !Array.isArray(nothing));
/** Less those whose readings come with what is listed below them. */
const listed = resources.filter((resource) => !isReadAlone(resource) && !resource.readBy);

const context = { nowMs: Date.parse('2026-08-20T12:00:00Z') };
const idsOf = ({ ids }: Resource) => Object.fromEntries(ids.map(({ label }) => [label, '1']));

/** What the vendor documents of the answer of a kind, and whether its data is inside an envelope. */
function documentedOf(resource: ReadResource) {
  const path = resource.path.replaceAll(/\{\w*\}/g, '1');
  const answer = operationOf(resource.api, path)?.documented;
  const data = answer?.fields?.get('data');
  return { fields: [...((data ?? answer)?.fields?.keys() ?? [])], isEnveloped: data !== undefined };
}

/** A page of a listing that has this alone. It says nothing of other pages, so that the next one, which is the same, is the last. */
function pageWith(
  {
    kind,
    listing: {
      documented,
      fields: [identifier = ''],
    },
  }: ListedResource,
  fields: object,
) {
  const element = { [identifier]: '1', ...fields };
  if (documented.elements) return [element];
  const isList = ([, { elements }]: readonly [string, Documented]) => elements?.fields?.has(identifier);
  const [list] = [...(documented.fields ?? [])].find(isList) ?? [];
  if (list === undefined) throw new Error(`nothing that is documented of ${kind} is its list`);
  return { [list]: [element] };
}

/** The page of a target of this kind for an answer with these fields. */
async function read(resource: Resource, fields: object) {
  if (!isReadAlone(resource))
    return await exposeListing(resource, () => pageWith(resource, fields), { context });
  const answer = documentedOf(resource).isEnveloped ? { data: fields } : fields;
  return await expose(resource, answer, { ids: idsOf(resource), context });
}

/** The families among the rows that one of the fields alone gives, less counters: these show 0 as soon as anything is counted. */
function shownOf(rows: string, resource: Resource, names: readonly string[]): readonly string[] {
  const shown = new Set(rows.match(/^\w+/gm));
  return resource.families
    .filter(
      ({ fields: [field = '', ...others], type }) =>
        others.length === 0 && names.includes(field) && type === 'gauge',
    )
    .map(({ name }) => name)
    .filter((name) => shown.has(name));
}

describe.each([...readAlone, ...listed])('$kind', (resource) => {
  const fields = [...new Set(resource.families.flatMap((family) => family.fields))];
  /** By day all in one answer. */
  const answers = runs(
    [fields],
    fields.map((field) => [field]),
  );
  const readWith = async (names: readonly string[], value: unknown) =>
    await read(resource, Object.fromEntries(names.map((name) => [name, value])));

  it('leaves out each field that is null, and does not show it as 0', async () => {
    for (const names of answers) {
      const { rows, mismatched } = await readWith(names, null);
      expect(shownOf(rows, resource, names)).toEqual([]);
      expect(mismatched).toEqual([]);
    }
  });

  it('leaves out each field of the wrong type, and notes its name', async () => {
    for (const names of answers) {
      const noted = new Set<string>();
      // At least one of them is not of its type.
      for (const value of ['☃', true, -0.5, [7], { a: '☃' }]) {
        const { rows, mismatched } = await readWith(names, value);
        for (const name of mismatched) noted.add(name);
        if (typeof value !== 'object') expect(shownOf(rows, resource, mismatched)).toEqual([]);
      }
      expect(noted).toEqual(new Set(names));
    }
  });

  it('ignores fields that it does not know', async () => {
    const [field = ''] = fields;
    const unknown = { unheardOf: 1, ['__proto__']: { a: 1 }, toString: 1 };
    expect(await read(resource, { [field]: null, ...unknown })).toEqual(
      await read(resource, { [field]: null }),
    );
  });
});

describe.each(readAlone)('an answer of $kind', (resource) => {
  it('is a reading even if it has only documented fields that are not read', async () => {
    const unread = documentedOf(resource).fields.filter(
      (name) => !resource.fields.includes(name) && !/^error(Response)?$/.test(name),
    );
    for (const name of unread) await expect(read(resource, { [name]: null }), name).resolves.toBeDefined();
  });

  it.each(['{}', '[]', 'null', '7', '"active"', '{ "title": "Not Found", "detail": "gone" }'])(
    'is not a reading if it is %s',
    async (answer) => {
      await expect(expose(resource, answer, { ids: idsOf(resource), context })).rejects.toMatchObject({
        name: 'ReadingError',
        result: 'schema',
      });
    },
  );
});

const ofShield = readAlone.filter(({ api }) => api === 'shield');
const notInPlan = ofShield.flatMap((resource) =>
  ['invalid_plan_type.shieldzone', 'feature_not_available_on_plan'].map(
    (errorKey) => [resource.kind, errorKey, resource] as const,
  ),
);

it.each(notInPlan)('%s: a plan that lacks it is told from a failure by %s', async (_, errorKey, resource) => {
  const error = { success: false, message: 'no', errorKey };
  // Beside figures of 0, too.
  const { fields, isEnveloped } = documentedOf(resource);
  const name = fields.includes('errorResponse') ? 'errorResponse' : 'error';
  const answer = { [name]: error, ...(isEnveloped ? { data: null } : { [resource.fields[0] ?? '']: 0 }) };
  const rejected = { result: 'rejected', errorKey };
  await expect(expose(resource, answer, { ids: idsOf(resource), context })).rejects.toMatchObject(rejected);
  expect(isNotInPlan(resource, rejected)).toBe(true);
});
