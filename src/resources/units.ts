/** From the API's units to Prometheus' base units. */

/** 12.3 divided by 100 is 0.123, not 0.12300000000000001. Nothing where there is no number. */
export function scaled(value: number | null | undefined, divisor: number): number | undefined {
  return typeof value === 'number' ? Number((value / divisor).toPrecision(15)) : undefined;
}
