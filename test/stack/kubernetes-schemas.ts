/**
 * Checks manifests against the schemas of a Kubernetes and of the Prometheus Operator, as an API server does that allows no unknown
 * field, and names, labels and the keys of lists, which these schemas only describe. What else a server checks, such as the rules in CEL,
 * is for test/cluster, which has one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { RE2JS } from 're2js';
import { parse as parseYaml } from 'yaml';
import { type Manifest, parse } from './chart.ts';
import { tools } from './tools.ts';

interface Schema {
  readonly [keyword: string]: unknown;
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const openKeywords = ['additionalProperties', 'x-kubernetes-preserve-unknown-fields'];

/** The schema, with no other fields in an object than those that it names. */
function closed<Of>(schema: Of): Of {
  if (Array.isArray(schema)) return schema.map(closed) as Of;
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, closed(value)]),
  );
  // A field may be called `properties`, too: that is a schema, and no list of them.
  const { properties, type } = inner as Schema;
  const isOpen = type !== 'object' || properties === undefined || openKeywords.some((one) => one in inner);
  return (isOpen ? inner : { ...inner, additionalProperties: false }) as Of;
}

/** Patterns are those of Go. Ajv tells one from another by its text. */
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: 'RE2JS' },
);

/** A name of a thing, and a label with its value. */
const nameForm = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const labelForm =
  /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?=([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/;

function wrongNames({ name, labels = {} }: Manifest['metadata']): readonly string[] {
  const texts = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return [...(nameForm.test(name) ? [] : [name]), ...texts.filter((text) => !labelForm.test(text))];
}

function nameOf({ group, version, kind }: Kind): string {
  return `${group === '' ? version : `${group}/${version}`} ${kind}`;
}

/** version: which of the Kubernetes that tools.sh installs. Returns what is wrong in manifests: for each mistake its kind, where, and what. */
export function checkerOf(version: 'oldest' | 'newest'): (manifests: string) => readonly string[] {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, code: { regExp } });
  ajv.addKeyword({
    keyword: 'x-kubernetes-list-map-keys',
    validate: (keys: readonly string[], list: readonly Schema[]) =>
      new Set(list.map((one) => JSON.stringify(keys.map((key) => one[key])))).size === list.length,
  });
  const refs = new Map<string, string>();
  const folder = `${tools}/${version}-kubernetes`;
  for (const file of readdirSync(folder)) {
    const document = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as {
      components: { schemas: Readonly<Record<string, Schema>> };
    };
    const { schemas } = document.components;
    ajv.addSchema({ components: { schemas: closed(schemas) } }, file);
    for (const [name, schema] of Object.entries(schemas)) {
      const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly Kind[];
      // Options of a request have many.
      const [kind, ...others] = kinds;
      if (kind && others.length === 0) refs.set(nameOf(kind), `${file}#/components/schemas/${name}`);
    }
  }
  for (const file of readdirSync(`${tools}/crds`)) {
    const { spec } = parseYaml(readFileSync(`${tools}/crds/${file}`, 'utf8')) as {
      spec: {
        group: string;
        names: { kind: string };
        versions: readonly { name: string; schema: { openAPIV3Schema: Schema } }[];
      };
    };
    for (const { name, schema } of spec.versions) {
      const id = `${file}-${name}`;
      const metadata = {
        $ref: 'api__v1_openapi.json#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
      };
      const { properties } = schema.openAPIV3Schema as { properties: object };
      ajv.addSchema(closed({ ...schema.openAPIV3Schema, properties: { ...properties, metadata } }), id);
      refs.set(nameOf({ group: spec.group, version: name, kind: spec.names.kind }), id);
    }
  }
  return (manifests) =>
    parse(manifests).flatMap((manifest) => {
      const kind = `${String(manifest['apiVersion'])} ${manifest.kind}`;
      const validate = ajv.getSchema(refs.get(kind) ?? '');
      if (!validate) return [`${kind}: there is no such kind`];
      const wrong = wrongNames(manifest.metadata).map(
        (text) => `${kind} /metadata: ${text} is no name or label`,
      );
      if (validate(manifest)) return wrong;
      const errors = (validate.errors ?? []).map(({ instancePath, message, params }) =>
        [kind, `${instancePath || '/'}:`, message, params['additionalProperty']].filter(Boolean).join(' '),
      );
      return [...errors, ...wrong];
    });
}
