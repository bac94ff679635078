/** Runs in the exporter before it starts, and tells the benchmark how long the event loop stalled. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Of each sample; part of what it measures. */
const resolutionMs = 10;

const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
// Any message asks for the longest stall since the last one, in milliseconds.
process.on('message', () => {
  process.send?.(delay.max / 1e6 - resolutionMs);
  delay.reset();
});
