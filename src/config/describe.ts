/** The configuration in force as plain data. A configuration holds no key, so nothing here can show one. */
import { apiNames, type Resource } from '../resources/resource.ts';
import { formatDuration } from '../text.ts';
import type { Config, SectionConfig } from './config.ts';
import type { Plain } from './document.ts';
import { formatBytes, isPlainRemote } from './values.ts';

/** The configuration in force as the file would say it, every default filled in: names of variables and files, no key. */
export function describeConfig(
  config: Config,
  resources: readonly Resource[],
): { readonly [key: string]: Plain } {
  const apis = apiNames.map((api) => {
    const { baseUrl, timeoutMs, maxConcurrency, requestsPerSecond, maxRetries, maxResponseBytes, caFile } =
      config.apis[api];
    const settings = {
      base_url: baseUrl,
      timeout: formatDuration(timeoutMs),
      max_concurrency: maxConcurrency,
      requests_per_second: requestsPerSecond,
      max_retries: maxRetries,
      max_response_bytes: formatBytes(maxResponseBytes),
      ...(caFile === undefined ? {} : { ca_file: caFile }),
      ...(isPlainRemote(baseUrl) ? { allow_insecure_http: true } : {}),
    };
    return [api, settings] as const;
  });
  const sections = config.sections.flatMap((section) => {
    const resource = resources.find(({ kind }) => kind === section.kind);
    return resource === undefined ? [] : [[resource.section, describeSection(section, resource)] as const];
  });
  return {
    credentials: Object.fromEntries(
      Object.entries(config.credentials).map(([name, source]) => [name, { ...source }]),
    ),
    apis: Object.fromEntries(apis),
    ...Object.fromEntries(sections),
    limits: { max_series: config.limits.maxSeries },
  };
}

function describeSection(section: SectionConfig, resource: Resource): Plain {
  const targets =
    section.targets === 'all'
      ? section.targets
      : section.targets.map(({ ids, name, credential, intervalMs, staleAfterMs }) => ({
          ...Object.fromEntries(resource.ids.map(({ label, setting }) => [setting, ids[label] ?? ''])),
          ...(name === undefined ? {} : { name }),
          credential,
          interval: formatDuration(intervalMs),
          stale_after: formatDuration(staleAfterMs),
        }));
  return {
    // Empty where every target names its own.
    ...(section.credential === '' ? {} : { credential: section.credential }),
    interval: formatDuration(section.intervalMs),
    stale_after: formatDuration(section.staleAfterMs),
    ...(section.settings as Readonly<Record<string, Plain>>),
    targets,
  };
}
