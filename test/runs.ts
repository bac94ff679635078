/** How much is tried: by day enough to show it, and many times more in `npm run test:nightly`. */
export function runs<T>(byDay: T, byNight: T): T {
  return process.env['NIGHTLY'] ? byNight : byDay;
}

/** How long a test may take, or what it waits for. Only what hangs takes that long, also on a busy machine. */
export const limitMs = runs(120_000, 600_000);
