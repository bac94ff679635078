/** What docs/alerts.md says of the month: who is told what, after how long. */
import type { Happening } from './happenings.ts';
import { fixedDays } from './month.ts';

const timeOf = (minutes: number) => (minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 6) / 10} h`);

const onceEach = (happenings: readonly Happening[]) =>
  happenings.filter(({ name }, at) => happenings.findIndex((one) => one.name === name) === at);

const all = onceEach(fixedDays.flatMap(({ happenings }) => happenings));

/** Alerts of both accounts are one line. */
function rowsOf({ name, lasts, tells = [] }: Happening): readonly string[] {
  const lines = tells.map(
    ({ alert, to, within }) => `| ${name} | ${timeOf(lasts)} | \`${alert}\` | ${to} | ${timeOf(within)} |`,
  );
  return lines.filter((line, at) => lines.indexOf(line) === at);
}

/** The rows of the table, and the list below it. */
export function monthTable(): string {
  const benign = all.filter(({ tells = [] }) => tells.length === 0);
  return [
    '| what happens | for | alert | told to | at the latest after |',
    '| --- | --- | --- | --- | --- |',
    ...all.flatMap(rowsOf),
    '',
    `Nobody is told of: ${benign.map(({ name }) => name).join(' · ')}.`,
    '',
  ].join('\n');
}
