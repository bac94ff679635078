import { defineConfig } from 'vitest/config';

/** Tests that start the built program. */
const program = ['test/main.test.ts', 'test/security/{canary,keys,origin}.test.ts'];

export default defineConfig({
  test: {
    setupFiles: 'test/set-up.ts',
    testTimeout: process.env['NIGHTLY'] ? 600_000 : 20_000,
    // Some tests wait for sockets and deadlines: one worker more than the cores of a small machine.
    maxWorkers: 3,
    // Importing the same modules anew for each file takes a fifth of the processor time. CONTRIBUTING.md says what sharing asks
    // of a test.
    isolate: false,
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
