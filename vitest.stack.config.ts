import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const inStack = (name: string) => `test/stack/${name}.test.ts`;

/** What is not in `npm run test:stack`: it keeps a core busy for minutes, and what it finds is rarely the work of one change. */
const atNight = ['backfill-panels', 'month-on-call', 'monitoring-scale', 'soak'].map(inStack);
const exclude = process.env['NIGHTLY'] ? [] : atNight;

/** What plays scenes in which each second counts, or keeps a core busy meanwhile: a worker is enough for each core. */
const heavy = ['accounts', 'canary', 'monitoring', 'monitoring-scale', 'security-bounds'].map(inStack);

/** What asks Prometheus or promtool: `npm run test:cluster` runs it a second time, with the newest ones. */
const withPrometheus = [
  'accounts',
  'backfill',
  'held-alerts',
  'hostnames',
  'manifests-examples',
  'monitoring',
  'monitoring-rules',
  'monitoring-scale',
  'outage',
  'poll-intervals',
  'querying',
  'scrape-intervals',
  'scraping',
  'state',
].map(inStack);

/** What takes minutes: it begins first, so that the others run meanwhile. */
const longest = [
  'memory',
  'packages',
  'monitoring-rules',
  'helm',
  'outage',
  'security',
  'backfill-panels',
  'soak',
  'monitoring',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      longest.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    return (await super.sort(files)).toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

const shared = {
  setupFiles: 'test/set-up.ts',
  // Only what hangs meets these limits: a busy machine takes its time.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 300_000 } },
  // Each promtool takes a core.
  maxConcurrency: 2,
  experimental: { fsModuleCache: true },
};

/** The checks with real tools: promtool, Prometheus, Chromium, … */
export default defineConfig({
  test: {
    globalSetup: 'test/build.ts',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'stack',
          include: ['test/stack/**/*.test.ts'],
          exclude: [...heavy, ...exclude],
          // Many of them wait: one for minutes.
          maxWorkers: 5,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'stack-heavy',
          include: heavy,
          exclude,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster-prometheus',
          include: ['test/cluster/prometheus/**/*.test.ts', ...withPrometheus],
          env: { PATH: `${import.meta.dirname}/.cache/tools/prometheus:${process.env['PATH']}` },
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster',
          include: ['test/cluster/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
