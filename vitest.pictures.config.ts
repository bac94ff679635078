import { defineConfig } from 'vitest/config';

/** The dashboards, drawn with Grafana's own panels, and the status page: `npm run pictures`. They are downloads of their own, and not in .ci/run. */
export default defineConfig({
  test: {
    include: ['test/pictures/**/*.test.ts'],
    globalSetup: 'test/build.ts',
    setupFiles: 'test/set-up.ts',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 400_000,
  },
});
