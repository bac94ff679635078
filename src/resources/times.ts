/** Reads times as the API writes them, as seconds since 1970. An ambiguous text is no time. */

export const hourSeconds = 3600;
export const daySeconds = 86_400;
export const hourMs = hourSeconds * 1000;
export const dayMs = daySeconds * 1000;

/** The time from one instant up to another, which is no part of it. Unix time. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

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

/** The time of a point of a chart. */
export interface ChartTime {
  /** The time itself, in seconds since 1970. */
  readonly atSeconds: number;
  /** The start of its UTC day, in seconds since 1970; of its hour where that is wanted, see `RequestedRange`. */
  readonly startSeconds: number;
  /** Whether the key is a date without a time: then it stands for the whole day. */
  readonly isDay: boolean;
  /** Whether `startSeconds` is that of the hour. */
  readonly isHour?: true;
}

/**
 * The time of a chart's key: an ISO 8601 date with or without a time, `dd-MM-yyyy`, or Unix seconds. Undefined for any other, such
 * as `05/06/2026`.
 */
export function parseChartKey(key: string): ChartTime | undefined {
  if (/^\d{9,10}$/.test(key)) {
    const atSeconds = Number(key);
    return { atSeconds, startSeconds: startOfDay(atSeconds), isDay: false };
  }
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(key) ?? [];
  const [, lastDay, lastMonth, lastYear] = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key) ?? [];
  if (year !== undefined || lastYear !== undefined) {
    const startSeconds = dayOf(year ?? lastYear, month ?? lastMonth, day ?? lastDay);
    return startSeconds === undefined ? undefined : { atSeconds: startSeconds, startSeconds, isDay: true };
  }
  const atSeconds = parseInstant(key);
  if (atSeconds === undefined) return undefined;
  // A double rounds seven digits before midnight up to the next day.
  const second = key.includes('.') ? (parseInstant(key.replace(/\.\d+/, '')) ?? atSeconds) : atSeconds;
  return { atSeconds, startSeconds: startOfDay(second), isDay: false };
}

/** The start of a day in seconds since 1970. Undefined for a day that is none, such as 31 February: Date.UTC would make it another, and read the year 1 as 1901. */
function dayOf(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
): number | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const isThatDay = date.getUTCDate() === Number(day) && date.getUTCFullYear() === Number(year);
  return isThatDay ? date.getTime() / 1000 : undefined;
}
