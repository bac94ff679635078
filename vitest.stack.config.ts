import { defineConfig } from 'vitest/config';

/** The checks with real tools (promtool, Prometheus, …): run in turn, for they share two cores and ports. */
export default defineConfig({
  test: {
    dir: 'test/stack', // `npm run test:cluster` says another
    include: ['**/*.test.ts'],
    globalSetup: 'test/build.ts',
    setupFiles: 'test/set-up.ts',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
