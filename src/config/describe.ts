/** What `/config` shows. A configuration holds no key, so nothing here can show one. */

import { apiNames, type Resource } from '../resources/resource.ts';
import { formatDuration } from '../text.ts';
import type { ApiConfig, Config, OverrideConfig, SectionConfig } from './config.ts';
import type { Plain } from './document.ts';
import type { Selection } from './selector.ts';
import { formatBytes, isPlainRemote } from './values.ts';

/** The configuration in the form of the file, with every default. Keys appear as names of variables and files. */
export function describeConfig(
  config: Config,
  resources: readonly Resource[],
): { readonly [key: string]: Plain } {
  const sections = resources.flatMap((resource) => {
    const section = config.sections.find(({ kind }) => kind === resource.kind);
    return section === undefined
      ? []
      : [[resource.section, describeSection(section, resource, config.accounts)] as const];
  });
  const described = {
    credentials: config.credentials,
    accounts: config.accounts,
    apis: Object.fromEntries(apiNames.map((api) => [api, describeApi(config.apis[api])])),
    discovery: { interval: formatDuration(config.discovery.intervalMs) },
    ...Object.fromEntries(sections),
  };
  // Leaves out what is undefined.
  return JSON.parse(JSON.stringify(described)) as { readonly [key: string]: Plain };
}

function describeApi(api: ApiConfig) {
  return {
    base_url: api.baseUrl,
    timeout: formatDuration(api.timeoutMs),
    max_concurrency: api.maxConcurrency,
    requests_per_second: api.requestsPerSecond,
    max_retries: api.maxRetries,
    max_response_bytes: formatBytes(api.maxResponseBytes),
    ca_file: api.caFile,
    allow_insecure_http: isPlainRemote(api.baseUrl) || undefined,
  };
}

function describeSection(section: SectionConfig, { ids }: Resource, all: readonly string[]) {
  const { accounts, libraryCredential, overrides, targets } = section;
  const idsOf = (values: readonly string[]) =>
    Object.fromEntries(ids.map(({ setting }, i) => [setting, values[i]]));
  return {
    // Undefined if it is that of every account. Named targets have their own.
    credential:
      libraryCredential ?? (targets === 'all' && accounts.join() !== all.join() ? accounts : undefined),
    ...describeOptions(section),
    ...(section.settings as object),
    targets:
      targets === 'all'
        ? targets
        : targets.map((target) => ({
            ...idsOf(Object.values(target.ids)),
            ...describeOptions(target),
            credential: target.credential,
          })),
    ...describeSelection(section.selection),
    parents: section.parents && describeSelection(section.parents),
    overrides:
      overrides &&
      [...overrides].map(([key, override]) => ({ ...idsOf(key.split('/')), ...describeOptions(override) })),
  };
}

function describeOptions({ name, intervalMs, staleAfterMs }: OverrideConfig) {
  return {
    name,
    interval: intervalMs && formatDuration(intervalMs),
    stale_after: staleAfterMs && formatDuration(staleAfterMs),
  };
}

function describeSelection({ include, exclude }: Partial<Selection> = {}) {
  return {
    include: include?.length ? include : undefined,
    exclude: exclude?.length ? exclude : undefined,
  };
}
