/** Statistics. */
import type { IntervalHistogram } from 'node:perf_hooks';

/** The nearest-rank percentile, or NaN without values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The longest stall of the event loop in milliseconds, sampled every millisecond. */
export function stallMs(delays: IntervalHistogram): number {
  return Math.max(0, delays.max / 1e6 - 1);
}
