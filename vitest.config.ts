import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/stack/**'],
    globalSetup: 'test/build.ts',
    setupFiles: 'test/set-up.ts',
    testTimeout: 20_000,
  },
});
