/** How the API writes times, as seconds since 1970. A text that could be read in two ways is none. */

/** An ISO 8601 date-time, in UTC where it names no zone, as seconds since 1970; undefined for a text that is none. */
export function parseInstant(value: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/i.exec(value);
  if (!match) return undefined;
  const [, date, time, fraction = '', offset = 'Z'] = match;
  const zone = /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
  // Date.parse rolls 31 February over into March, as Date.UTC does.
  if (parseDay(date ?? '') === undefined) return undefined;
  // Date knows no leap second, which is the one before and one more; and milliseconds, where the API writes up to seven digits.
  const leap = time?.endsWith(':60') ? 1 : 0;
  const clock = leap ? time?.replace(/60$/, '59') : time;
  const seconds = Date.parse(`${date}T${clock}${zone}`) / 1000 + leap + Number(`0${fraction}`);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/**
 * The time of a chart's key, in seconds since 1970: an ISO 8601 date with or without a time, or Unix seconds. Undefined for
 * what could be read in two ways, such as `05/06/2026`.
 */
export function parseChartKey(key: string): number | undefined {
  if (/^\d{9,10}$/.test(key)) return Number(key);
  if (/^\d{4}-\d{2}-\d{2}$/.test(key)) return parseDay(key);
  return parseInstant(key.replace(/^([\d-]{10}[T ]\d{2}:\d{2})(?=Z|[+-]|$)/i, '$1:00'));
}

/** The start of a UTC day, in seconds since 1970, from `dd-MM-yyyy` or an ISO 8601 date with or without a time. */
export function parseDay(key: string): number | undefined {
  const dayFirst = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key);
  const yearFirst = /^(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?$/.exec(key);
  const [year, month, day] = dayFirst
    ? [dayFirst[3], dayFirst[2], dayFirst[1]]
    : [yearFirst?.[1], yearFirst?.[2], yearFirst?.[3]];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const date = new Date(time);
  // Date.UTC rolls 31 February over into March and reads the year 1 as 1901; a day that is none must not become another.
  const isThatDay = date.getUTCDate() === Number(day) && date.getUTCFullYear() === Number(year);
  return isThatDay ? time / 1000 : undefined;
}
