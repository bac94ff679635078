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

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ofOne = ['additionalProperties', 'else', 'if', 'items', 'not', 'propertyNames', 'then'];
const ofMany = ['allOf', 'anyOf', 'oneOf'];
const byName = ['patternProperties', 'properties'];

/** A shorter schema stays where it is, in characters. */
const leastShared = 100;

/** Replaces the schemas in a schema. name: that of the property that a schema is about. */
function mapSchemas(schema: JsonSchema, name: string, map: (one: JsonSchema, name: string) => JsonSchema) {
  const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;
  const one = (value: unknown, about: string) => (isSchema(value) ? map(value, about) : value);
  const mapped = ([keyword, value]: [string, unknown]): unknown => {
    if (ofOne.includes(keyword)) return one(value, name);
    if (ofMany.includes(keyword)) return (value as unknown[]).map((each) => one(each, name));
    if (!byName.includes(keyword)) return value;
    return Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, one(each, key)]));
  };
  return Object.fromEntries(Object.entries(schema).map((entry) => [entry[0], mapped(entry)]));
}

/**
 * The same schema, in which what stands in several places is a definition: a fifth as long, and read as much faster. Helm compiles the
 * whole of its schema each time that it renders a chart. at: where the schema is in the file.
 */
export function withDefinitions(schema: JsonSchema, at = '#'): JsonSchema {
  const counts = new Map<string, number>();
  const visit = (one: JsonSchema): JsonSchema => {
    const text = JSON.stringify(one);
    const before = counts.get(text) ?? 0;
    counts.set(text, before + 1);
    // What stands in a definition alone is no other one.
    return before > 0 ? one : mapSchemas(one, '', visit);
  };
  mapSchemas(schema, '', visit);
  const definitions: JsonSchema = {};
  const names = new Map<string, string>();
  const share = (one: JsonSchema, about: string): JsonSchema => {
    const text = JSON.stringify(one);
    if (text.length < leastShared || (counts.get(text) ?? 0) < 2) return mapSchemas(one, about, share);
    let name = names.get(text);
    if (name === undefined) {
      name = about;
      for (let number = 2; name in definitions; number++) name = `${about}_${number}`;
      names.set(text, name);
      definitions[name] = {};
      definitions[name] = mapSchemas(one, about, share);
    }
    return { $ref: `${at}/definitions/${name}` };
  };
  return { ...mapSchemas(schema, '', share), definitions };
}

/** Defaults are text in the loader's schema. Editors should insert numbers and booleans, and no empty mappings. */
function nativeDefault(schema: JsonSchema): void {
  const { default: preset, type } = schema;
  if (typeof preset === 'object') delete schema['default'];
  if (typeof preset !== 'string' || !Array.isArray(type)) return;
  if (type[0] === 'boolean') schema['default'] = preset === 'true';
  if (type[0] === 'integer' || type[0] === 'number') schema['default'] = Number(preset);
}
