/** The configuration in force as plain data. A configuration holds no key, so nothing here can show one. */
import type { Selection } from '../discovery/selector.ts';
import { apiNames, type Resource } from '../resources/resource.ts';
import { formatDuration } from '../text.ts';
import type { Config, OverrideConfig, SectionConfig, TargetConfig } from './config.ts';
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
    discovery: { interval: formatDuration(config.discovery.intervalMs) },
    ...Object.fromEntries(sections),
    limits: { max_series: config.limits.maxSeries },
  };
}

function describeSection(section: SectionConfig, resource: Resource): Plain {
  const { credential, isCredentialNamed, overrides, parents, selection, targets } = section;
  return {
    // Left out if every target names its own, or if the library's own key is used.
    ...(credential === '' || isCredentialNamed === false ? {} : { credential }),
    interval: formatDuration(section.intervalMs),
    stale_after: formatDuration(section.staleAfterMs),
    ...(section.settings as Readonly<Record<string, Plain>>),
    targets: targets === 'all' ? targets : targets.map((target) => describeTarget(target, resource)),
    ...describeSelection(selection),
    ...(parents ? { parents: describeSelection(parents) } : {}),
    ...(overrides ? { overrides: describeOverrides(overrides, resource) } : {}),
  };
}

function describeTarget(target: TargetConfig, resource: Resource): Plain {
  return {
    ...describeIds(Object.values(target.ids), resource),
    ...describeOptions(target),
    credential: target.credential,
  };
}

function describeOverrides(overrides: ReadonlyMap<string, OverrideConfig>, resource: Resource): Plain {
  return [...overrides].map(([ids, override]) => ({
    ...describeIds(ids.split('/'), resource),
    ...describeOptions(override),
  }));
}

function describeIds(ids: readonly string[], resource: Resource): Readonly<Record<string, Plain>> {
  return Object.fromEntries(resource.ids.map(({ setting }, i) => [setting, ids[i] ?? '']));
}

function describeOptions({
  name,
  intervalMs,
  staleAfterMs,
}: OverrideConfig): Readonly<Record<string, Plain>> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(intervalMs === undefined ? {} : { interval: formatDuration(intervalMs) }),
    ...(staleAfterMs === undefined ? {} : { stale_after: formatDuration(staleAfterMs) }),
  };
}

function describeSelection(selection: Selection | undefined): Readonly<Record<string, Plain>> {
  const { include = [], exclude = [] } = selection ?? {};
  return { ...(include.length > 0 ? { include } : {}), ...(exclude.length > 0 ? { exclude } : {}) };
}
