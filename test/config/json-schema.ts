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

/** Defaults are text in the loader's schema. Editors should insert numbers and booleans, and no empty mappings. */
function nativeDefault(schema: JsonSchema): void {
  const { default: preset, type } = schema;
  if (typeof preset === 'object') delete schema['default'];
  if (typeof preset !== 'string' || !Array.isArray(type)) return;
  if (type[0] === 'boolean') schema['default'] = preset === 'true';
  if (type[0] === 'integer' || type[0] === 'number') schema['default'] = Number(preset);
}
