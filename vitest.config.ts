import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { limitMs, runs } from './test/runs.ts';

/** Tests that start the built program. */
const program = ['test/main.test.ts', 'test/held/authorities.test.ts'];

/** Those that take the longest, and mostly wait: they begin first, so that the others run while they do. */
const slowest = ['main', 'api/pool'];

/**
 * Most code in a test runs only for a moment. Optimizing it takes a fifth of the processor time of all tests, so V8 waits fifteen times as
 * long before it does. Not by night, when loops are long. Only Node 20 has the option: later releases count calls instead.
 */
const optimizingLate = process.versions.node.startsWith('20.')
  ? runs(['--interrupt-budget=1000000'], [])
  : [];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = slowest.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return at < 0 ? slowest.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    setupFiles: 'test/set-up.ts',
    runner: 'test/held/read-between.ts',
    // Only what hangs meets these limits: a busy machine takes its time.
    testTimeout: limitMs,
    hookTimeout: limitMs,
    expect: { poll: { timeout: limitMs } },
    // Each imports the modules once: more workers than cores would take more CPU time.
    maxWorkers: '100%',
    // To collect garbage often, and on threads beside the tests, takes a quarter of the processor time.
    execArgv: [
      '--single-threaded-gc',
      '--min-semi-space-size=64',
      '--max-semi-space-size=64',
      ...optimizingLate,
    ],
    // Importing the same modules anew for each file takes a fifth of the processor time. CONTRIBUTING.md says what sharing asks
    // of a test.
    isolate: false,
    // What TypeScript becomes is kept on disk from one run to the next: another fifth.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{stack,cluster,pictures}/**', ...program],
        },
      },
      { extends: true, test: { name: 'program', include: program, globalSetup: 'test/build.ts' } },
    ],
  },
});
