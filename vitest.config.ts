import { defineConfig } from 'vitest/config';

/** Tests that start the built program. */
const program = ['test/main.test.ts', 'test/security/{canary,keys,origin}.test.ts'];

export default defineConfig({
  test: {
    setupFiles: 'test/set-up.ts',
    testTimeout: process.env['NIGHTLY'] ? 600_000 : 20_000,
    // Tests wait for sockets and deadlines now and then: one worker more than the cores of the smallest machine.
    maxWorkers: 3,
    // Half of the time would go into importing the same modules anew for each file. So a file leaves no trace: it takes back
    // what it put in place of something else, and mocks no module; a helper registers hooks in a function that a file calls.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/stack/**', ...program] },
      },
      { extends: true, test: { name: 'program', include: program, globalSetup: 'test/build.ts' } },
    ],
  },
});
