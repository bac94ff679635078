/** How often something is tried: by day enough to show it, and many more times in `npm run test:nightly`. */
export function runs(byDay: number, byNight: number): number {
  return process.env['NIGHTLY'] ? byNight : byDay;
}
