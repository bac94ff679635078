/**
 * The JSON Schema of the configuration file for editors, generated from the loader's schema, with the types that YAML gives
 * unquoted values. It cannot check settings against each other.
 */
import * as z from 'zod';
import { frameSchema, sectionSchema } from '../../src/config/schema.ts';
import type { Resource } from '../../src/resources/resource.ts';

type JsonSchema = Record<string, unknown>;

/** Draft 7: the YAML language server of most editors handles it best. */
export function configJsonSchema(resources: readonly Resource[]): JsonSchema {
  const sections = resources.map((resource) => [resource.section, sectionSchema(resource).optional()]);
  const { $schema, ...schema } = z.toJSONSchema(frameSchema(resources).extend(Object.fromEntries(sections)), {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => nativeDefault(jsonSchema as JsonSchema),
  });
  return {
    $schema,
    title: 'Configuration of bunnynet-exporter',
    ...schema,
  };
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. Those in `unexpected` are in no schema of ours. */
const ofOne = ['additionalProperties', 'else', 'if', 'items', 'not', 'propertyNames', 'then'];
const ofMany = ['allOf', 'anyOf', 'oneOf'];
const byName = ['patternProperties', 'properties'];
const unexpected = ['$ref', 'additionalItems', 'contains', 'definitions', 'dependencies'];

/** In characters, of a schema with the name of its property: what is shorter is not shared. */
const leastShared = 100;

type Replace = (one: JsonSchema, name: string) => JsonSchema;

/** Replaces the schemas in a schema. name: that of the property that a schema is about. */
function mapSchemas(schema: JsonSchema, name: string, map: Replace): JsonSchema {
  const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;
  const one = (value: unknown, about: string) => (isSchema(value) ? map(value, about) : value);
  const mapped = ([keyword, value]: [string, unknown]): unknown => {
    if (unexpected.includes(keyword) || (keyword === 'items' && Array.isArray(value)))
      throw new Error(`a schema with ${keyword} is not understood: ${JSON.stringify(schema)}`);
    if (ofOne.includes(keyword)) return one(value, name);
    if (ofMany.includes(keyword)) return (value as unknown[]).map((each) => one(each, name));
    if (!byName.includes(keyword)) return value;
    return Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, one(each, key)]));
  };
  return Object.fromEntries(Object.entries(schema).map((entry) => [entry[0], mapped(entry)]));
}

/**
 * The same schema, in which what properties of one name have in several places is a definition: a third as long. Helm compiles the whole
 * of its schema each time that it renders a chart, which took half of its time.
 *
 * @param at where the schema is in its file
 */
export function withDefinitions(schema: JsonSchema, at = '#'): JsonSchema {
  const counts = new Map<string, number>();
  const keyOf = (one: JsonSchema, about: string) => `${about} ${JSON.stringify(one)}`;
  const visit: Replace = (one, about) => {
    const key = keyOf(one, about);
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    // What a repeated schema contains is counted once: it becomes part of that definition.
    return before > 0 ? one : mapSchemas(one, about, visit);
  };
  mapSchemas(schema, '', visit);
  const definitions: JsonSchema = {};
  const names = new Map<string, string>();
  const share: Replace = (one, about) => {
    const key = keyOf(one, about);
    if (key.length < leastShared || (counts.get(key) ?? 0) < 2) return mapSchemas(one, about, share);
    let name = names.get(key);
    if (name === undefined) {
      name = about;
      for (let number = 2; name in definitions; number++) name = `${about}_${number}`;
      names.set(key, name);
      definitions[name] = {};
      definitions[name] = mapSchemas(one, about, share);
    }
    return { $ref: `${at}/definitions/${name}` };
  };
  return { ...mapSchemas(schema, '', share), definitions };
}

/** The schema that `withDefinitions` was given. */
export function withoutDefinitions({ definitions, ...schema }: JsonSchema, at = '#'): JsonSchema {
  const known = definitions as Record<string, JsonSchema | undefined>;
  const inPlace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inPlace);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value) return inPlace(known[String(value.$ref).replace(`${at}/definitions/`, '')]);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inPlace(one)]));
  };
  return inPlace(schema) as JsonSchema;
}

/** Defaults are text in the loader's schema. Editors should insert numbers and booleans, and no empty mappings. */
function nativeDefault(schema: JsonSchema): void {
  const { default: preset, type } = schema;
  if (typeof preset === 'object') delete schema['default'];
  if (typeof preset !== 'string' || !Array.isArray(type)) return;
  if (type[0] === 'boolean') schema['default'] = preset === 'true';
  if (type[0] === 'integer' || type[0] === 'number') schema['default'] = Number(preset);
}
