/** How the status page writes numbers, times and names. Times are Unix times in milliseconds. */

export { count as numberWords, plural } from '../text.ts';

/** The two greatest units: `12 s`, `3 m 12 s`, `2 h 5 m`, `4 d 3 h`. */
export function inWords(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

/** `184 ms`, `1.52 s` */
export function tookWords(seconds: number): string {
  return seconds < 0.9995 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}

/** With a capital: `Shield Zone`. */
export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `09:43:12 UTC`, with the day where it is another than today. */
export function clockWords(atMs: number, nowMs: number): string {
  const [day = '', time = ''] = new Date(atMs).toISOString().split('T');
  const clock = `${time.slice(0, 8)} UTC`;
  return new Date(nowMs).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
}
