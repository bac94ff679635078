import { execFileSync } from 'node:child_process';

/** Builds the bundle once before the tests: tests of the whole program run what users run. */
export function setup(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
