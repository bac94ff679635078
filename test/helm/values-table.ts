/** The chart's values: the path of each key of values.yaml that has a comment (`# -- …`), its default and that comment. */
import { Document, parse } from 'yaml';

interface Value {
  readonly path: string;
  readonly preset: unknown;
  readonly description: string;
}

/** Throws if neither a value nor its children have a comment. */
export function describedValues(yaml: string): readonly Value[] {
  const descriptions = descriptionsOf(yaml);
  const values: Value[] = [];
  const visit = (value: unknown, path: string): void => {
    const description = descriptions.get(path);
    if (description !== undefined) {
      values.push({ path, preset: value, description });
    } else if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
    } else {
      throw new Error(`values.yaml does not say what ${path} is`);
    }
  };
  visit(parse(yaml), '');
  return values;
}

/** The comment above each key, by the key's path. */
function descriptionsOf(yaml: string): ReadonlyMap<string, string> {
  const descriptions = new Map<string, string>();
  const open: { readonly indent: number; readonly key: string }[] = [];
  let description: string | undefined;
  for (const line of yaml.split('\n')) {
    const comment = /^ *# -- (.*)$/.exec(line)?.[1];
    const [, spaces, key] = /^( *)([A-Za-z]\w*):/.exec(line) ?? [];
    if (comment !== undefined) description = comment;
    if (spaces === undefined || key === undefined) continue;
    while ((open.at(-1)?.indent ?? -1) >= spaces.length) open.pop();
    open.push({ indent: spaces.length, key });
    if (description !== undefined) descriptions.set(open.map((step) => step.key).join('.'), description);
    description = undefined;
  }
  return descriptions;
}

/** In Markdown, with no alignment: the table is too wide for it. */
export function valuesTable(yaml: string): string {
  const rows = describedValues(yaml).map(
    ({ path, preset, description }) =>
      `| \`${path}\` | \`${JSON.stringify(preset)}\` | ${description.replaceAll('|', '\\|')} |`,
  );
  return ['| value | default | |', '|---|---|---|', ...rows].join('\n');
}

/**
 * What a value that is set to nothing counts as: its default. Only what Kubernetes reads, such as a probe or a security context,
 * is then left out.
 */
export function defaultsFile(yaml: string): string {
  const file = new Document({});
  file.commentBefore = ' What a value that is set to nothing counts as. Generated from values.yaml.';
  for (const { path, preset } of describedValues(yaml)) {
    const isOfKubernetes = typeof preset === 'object' && !Array.isArray(preset);
    file.setIn(path.split('.'), isOfKubernetes ? {} : preset);
  }
  return file.toString();
}
