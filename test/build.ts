import { execFileSync } from 'node:child_process';

/**
 * Builds the bundle once before the tests: tests of the whole program run what users run. Tests that run tests set BUNDLE_IS_BUILT: others
 * may be running the bundle.
 */
export function setup(): void {
  if (process.env['BUNDLE_IS_BUILT']) return;
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
