/** What the exporter tells of its process and of Node: a few figures by default, all that prom-client has where asked for. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { Format } from './exposition/format.ts';
import { OwnFamily } from './exposition/own-family.ts';

export type ProcessMetricsChoice = 'basic' | 'full';

/** Renders the figures as they are now. */
export type ProcessMetrics = (format: Format) => Promise<string>;

export async function createProcessMetrics(choice: ProcessMetricsChoice): Promise<ProcessMetrics> {
  if (choice === 'basic') return basicMetrics();
  // The default export: of a CommonJS package the bundle has no other.
  const { collectDefaultMetrics, Registry } = (await import('prom-client')).default;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // `promtool check metrics` rejects these.
  for (const name of ['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources'])
    for (const suffix of ['', '_total']) registry.removeSingleMetric(`${name}${suffix}`);
  return async (format) => {
    // prom-client parts families by an empty line, which OpenMetrics does not know.
    const text = (await registry.metrics()).replaceAll(/\n{2,}/g, '\n');
    return format === 'openmetrics' ? toOpenMetrics(text) : text;
  };
}

/** A figure as prom-client names it; undefined where the system does not tell. */
type Figure = readonly [
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  read: () => number | undefined,
];

function basicMetrics(): ProcessMetrics {
  const startedSeconds = Math.floor(Date.now() / 1000 - process.uptime());
  const maxFiles = maxOpenFiles();
  let memory = process.memoryUsage();
  let cpu = process.cpuUsage();
  const figures: readonly Figure[] = [
    ['process_cpu_user_seconds_total', 'counter', 'CPU time in user mode, in seconds.', () => cpu.user / 1e6],
    [
      'process_cpu_system_seconds_total',
      'counter',
      'CPU time in the system, in seconds.',
      () => cpu.system / 1e6,
    ],
    ['process_cpu_seconds_total', 'counter', 'CPU time, in seconds.', () => (cpu.user + cpu.system) / 1e6],
    ['process_start_time_seconds', 'gauge', 'When the process started, as Unix time.', () => startedSeconds],
    ['process_resident_memory_bytes', 'gauge', 'Resident memory.', () => memory.rss],
    ['process_open_fds', 'gauge', 'Open files, sockets included.', openFiles],
    ['process_max_fds', 'gauge', 'How many files may be open.', () => maxFiles],
    ['nodejs_heap_size_total_bytes', 'gauge', "Node's heap.", () => memory.heapTotal],
    ['nodejs_heap_size_used_bytes', 'gauge', "What is used of Node's heap.", () => memory.heapUsed],
    [
      'nodejs_external_memory_bytes',
      'gauge',
      "Memory that Node holds outside its heap, pages' bytes among it.",
      () => memory.external,
    ],
  ];
  const families = figures.map(([name, type, help, read]) => ({
    family: new OwnFamily({ name, type, help }),
    read,
  }));
  return (format) => {
    memory = process.memoryUsage();
    cpu = process.cpuUsage();
    let text = '';
    for (const { family, read } of families) {
      const value = read();
      if (value === undefined) continue;
      family.set({}, value);
      text += family.render(format);
    }
    return Promise.resolve(text);
  };
}

/** Linux alone tells. */
function openFiles(): number | undefined {
  try {
    // Since Linux 6.2 the folder's size is their number; before, it is 0. Of those that are listed, one is the folder itself.
    return statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

function maxOpenFiles(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/**
 * prom-client's text as OpenMetrics: a family is named less its `_total` or `_info`, and has its unit. prom-client's own
 * OpenMetrics mode renames its counters for good, which would spoil the next text page.
 */
function toOpenMetrics(text: string): string {
  const counters = new Set([...text.matchAll(/^# TYPE (\w+)_total counter$/gm)].map(([, name]) => name));
  return text
    .replaceAll(/^# (HELP|TYPE) (\w+)_total /gm, (line, keyword: string, name: string) =>
      counters.has(name) ? `# ${keyword} ${name} ` : line,
    )
    .replaceAll(/^# (HELP|TYPE) (\w+)_info /gm, '# $1 $2 ')
    .replaceAll(/^# TYPE nodejs_version gauge$/gm, '# TYPE nodejs_version info')
    .replaceAll(/^(# TYPE (\w+_(seconds|bytes)) \w+)$/gm, '$1\n# UNIT $2 $3');
}
