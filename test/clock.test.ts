import { expect, it, onTestFinished, vi } from 'vitest';
import { uptimeClock } from '../src/clock.ts';

it("the machine's uptime goes on evenly though it is told in steps of 10 ms, also after the machine slept", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let sleptMs = 0;
  const uptimeMs = uptimeClock(() => Math.floor((performance.now() + sleptMs) / 10) / 100);
  const stepMs = 501;
  let before = uptimeMs();
  let shortestMs = Number.POSITIVE_INFINITY;
  const pass = () => {
    for (let step = 0; step < 50; step++) {
      vi.advanceTimersByTime(stepMs);
      const after = uptimeMs();
      shortestMs = Math.min(shortestMs, after - before);
      before = after;
    }
  };
  pass();
  sleptMs = 3_600_000;
  pass();
  expect(shortestMs).toBeGreaterThan(stepMs - 0.001);
  expect(performance.now() + sleptMs - before).toBeGreaterThanOrEqual(0);
  expect(performance.now() + sleptMs - before).toBeLessThan(10);
});
