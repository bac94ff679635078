/** The operations that the exporter calls, each with the fields of its answer that the API documents. Only `--report` needs them. */
import { resources } from '../resources/kinds/index.ts';
import { type ApiName, operationsOf } from '../resources/resource.ts';

/** A path as it is compared: without the query, and with `{}` for each id. */
export function plainPath(path: string): string {
  return (path.split('?', 1)[0] ?? '').replaceAll(/\{\w*\}/g, '{}');
}

/** The kinds that call an operation. */
export function kindsThatCall(api: ApiName, path: string): readonly string[] {
  return resources
    .filter((resource) =>
      operationsOf(resource).some((one) => one.api === api && plainPath(one.path) === path),
    )
    .map(({ kind }) => kind);
}

/** Where two kinds call the same operation, the later one reads more of its answer, and counts. */
const plain = resources.flatMap(operationsOf).map(({ api, path, documented }) => ({
  api,
  path: plainPath(path),
  documented,
}));

export const operations = [...new Map(plain.map((one) => [`${one.api} ${one.path}`, one])).values()];

/** The operation of a request; undefined if it is not known. path: may have a query. */
export function operationOf(api: ApiName, path: string) {
  const steps = path.split('?', 1)[0]?.split('/') ?? [];
  const fits = (parts: readonly string[]) =>
    parts.length === steps.length && parts.every((part, i) => part === '{}' || part === steps[i]);
  return operations.find((operation) => operation.api === api && fits(operation.path.split('/')));
}
