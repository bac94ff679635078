/** The operations that the exporter asks for, each with the fields that the API documents of its answer. Only `--report` needs them. */
import { resources } from '../resources/index.ts';
import { type ApiName, operationsOf } from '../resources/resource.ts';

/** A path as it is compared: without the query, and with `{}` for each id. */
export function plainPath(path: string): string {
  return (path.split('?', 1)[0] ?? '').replaceAll(/\{\w*\}/g, '{}');
}

/** Of two that ask for the same, the later kind reads more of the answer. */
const plain = resources.flatMap(operationsOf).map(({ api, path, documented }) => ({
  api,
  path: plainPath(path),
  documented,
}));

export const operations = [...new Map(plain.map((one) => [`${one.api} ${one.path}`, one])).values()];

/** The operation that a request asked for; undefined for one that is not known. path: may have a query. */
export function operationOf(api: ApiName, path: string) {
  const asked = path.split('?', 1)[0]?.split('/') ?? [];
  const fits = (parts: readonly string[]) =>
    parts.length === asked.length && parts.every((part, i) => part === '{}' || part === asked[i]);
  return operations.find((operation) => operation.api === api && fits(operation.path.split('/')));
}
