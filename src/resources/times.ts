/** Reads times as the API writes them, as seconds since 1970. An ambiguous text is no time. */

export const hourSeconds = 3600;
export const daySeconds = 86_400;

/** The start of the UTC day of a time in seconds since 1970. */
export function startOfDay(seconds: number): number {
  return Math.floor(seconds / daySeconds) * daySeconds;
}

const instant =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2}(?:\.\d+)?))?\s*(?:Z|([+-]\d{2}):?(\d{2}))?$/i;

/** An ISO 8601 date-time, in UTC where it names no zone, as seconds since 1970; undefined for a text that is none. */
export function parseInstant(value: string): number | undefined {
  const [, date = '', minute = '', second = '0', zoneHours = '+00', zoneMinutes = '00'] =
    instant.exec(value) ?? [];
  const minuteMs = Date.parse(`${date}T${minute}${zoneHours}:${zoneMinutes}`);
  // Date.parse makes 31 February a day of March. Second 60 is a leap second.
  const day = dayOf(date.slice(0, 4), date.slice(5, 7), date.slice(8));
  const isTime = day !== undefined && !Number.isNaN(minuteMs) && Number(second) < 61;
  return isTime ? minuteMs / 1000 + Number(second) : undefined;
}

/** The time of a chart's key: an ISO 8601 date with or without a time, or Unix seconds. Undefined for `05/06/2026`. */
export function parseChartKey(key: string): number | undefined {
  if (/^\d{9,10}$/.test(key)) return Number(key);
  return /^\d{4}-\d{2}-\d{2}$/.test(key) ? parseDay(key) : parseInstant(key);
}

/** The start of the UTC day of `dd-MM-yyyy`, or of an ISO 8601 date with or without a time. */
export function parseDay(key: string): number | undefined {
  const dayFirst = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key);
  if (dayFirst) return dayOf(dayFirst[3], dayFirst[2], dayFirst[1]);
  const yearFirst = /^(\d{4})-(\d{2})-(\d{2})$/.exec(key);
  if (yearFirst) return dayOf(yearFirst[1], yearFirst[2], yearFirst[3]);
  // A double would round seven digits before midnight up to the next day.
  const atSeconds = parseInstant(key.replace(/\.\d+/, ''));
  return atSeconds === undefined ? undefined : startOfDay(atSeconds);
}

/** Undefined for a day that is none, such as 31 February: Date.UTC would make it another, and read the year 1 as 1901. */
function dayOf(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
): number | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const isThatDay = date.getUTCDate() === Number(day) && date.getUTCFullYear() === Number(year);
  return isThatDay ? date.getTime() / 1000 : undefined;
}
