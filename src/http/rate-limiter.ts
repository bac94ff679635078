/** A bucket of tokens, one for each request, as Go's rate.Limiter keeps it. */
import type { RateLimit } from './web-config.ts';

export interface RateLimiter {
  allow(nowMs: number): boolean;
}

export function createRateLimiter({ intervalMs, burst }: RateLimit): RateLimiter {
  let tokens = burst;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    allow(nowMs) {
      tokens = Math.min(burst, tokens + (nowMs - lastMs) / intervalMs);
      lastMs = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
