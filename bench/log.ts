/** Progress on stderr, so that stdout has only the tables. */
import { loadAverage } from './report.ts';

const startedMs = performance.now();

export function log(text: string): void {
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.error(`${String(seconds).padStart(4)} s, load ${loadAverage().toFixed(1)}: ${text}`);
}
