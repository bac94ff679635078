/** Counts by a name, of the day that was requested. The API invents the names, so only the largest have a series of their own. */
import { newestAndTotal, sumByDay } from './charts.ts';
import { shown } from './families.ts';
import { entriesOf, type FieldType, mapped, number } from './fields.ts';
import type { CounterSample, DayFigure, Labels, ToldBy } from './resource.ts';

/** One series for each set of labels, with the sum of its days. */
function byLabels(all: readonly CounterSample[]): readonly CounterSample[] {
  const days = new Map<string, DayFigure[]>();
  for (const { labels, days: more } of all) {
    const key = JSON.stringify(labels);
    const held = days.get(key);
    if (held) held.push(...more);
    else days.set(key, [...more]);
  }
  return Array.from(days, ([key, all]) => ({ labels: JSON.parse(key) as Labels, days: sumByDay(all) }));
}

/** One series for each set of labels. The rest is always one, so that what begins later is counted in it at first. */
export function withRest(rest: Labels, all: readonly CounterSample[]): readonly CounterSample[] {
  return byLabels([{ labels: rest, days: [] }, ...all]);
}

/** How often each of these labels came on a day. */
export function tallyOf(all: readonly Labels[], startSeconds: number): readonly CounterSample[] {
  const samples: CounterSample[] = [];
  for (const labels of all) samples.push({ labels, days: [{ startSeconds, value: 1 }] });
  return byLabels(samples);
}

/** How many series of one target have a label of their own: the largest. The others are summed up. */
const maxKeys = 50;
/** The label of the series that has the sum of the others. What the API itself calls so is added to it. */
const other = 'other';

export interface TallyEntry extends DayFigure {
  readonly key: string;
}

/** Counts by name, on the day that was requested. An empty map says nothing. */
const tallyEntries: FieldType<readonly TallyEntry[]> = mapped(entriesOf(number), (entries, { requested }) =>
  entries.length === 0
    ? undefined
    : entries.flatMap(([key, value]) =>
        value === undefined ? [] : [{ key, startSeconds: requested?.startSeconds ?? 0, value }],
      ),
);

/** Counts by name. `toldBy.sum` is the chart that has the sum of its day. */
export interface TallyType extends FieldType<readonly TallyEntry[]> {
  readonly isTally: true;
  readonly toldBy: ToldBy & { readonly sum: string };
}

/**
 * Counts by names that the API invents, of a day that the API does not name.
 *
 * @param partOf the chart that has the sum of each day
 * @param labels each label with its value for a name; names with the same labels are one series
 */
export function dailyTally(
  name: string,
  words: string,
  partOf: string,
  labels: Readonly<Record<string, (key: string) => string>>,
): TallyType {
  const rest = Object.fromEntries(Object.keys(labels).map((label) => [label, other]));
  const labelsOf = (key: string) =>
    key.toLowerCase() === other
      ? rest
      : Object.fromEntries(Object.entries(labels).map(([label, textOf]) => [label, textOf(key)]));
  const series = (all: readonly TallyEntry[]) =>
    withRest(
      rest,
      all.map((one) => ({ labels: labelsOf(one.key), days: [one] })),
    );
  const family = { labels: Object.keys(labels), series };
  const toldBy = { sum: partOf };
  const [newest, total] = newestAndTotal(name, words, family, toldBy);
  const type = shown(
    tallyEntries,
    {
      ...newest,
      words: `${newest.words}. At most ${maxKeys} label values, the largest; the rest is \`${other}\``,
      bound: { most: maxKeys, rest },
      series(all) {
        const [others, ...named] = series(all);
        return [...named.toSorted(inOrderOfLabels), ...(others ? [others] : [])];
      },
    },
    {
      ...total,
      words: `${total.words}. At most ${maxKeys} label values; the gains of all others count as \`${other}\``,
      bound: { most: maxKeys, rest },
    },
  );
  return { ...type, isTally: true, toldBy };
}

function inOrderOfLabels(a: CounterSample, b: CounterSample): number {
  return textOf(a) < textOf(b) ? -1 : 1;
}

function textOf({ labels = {} }: CounterSample): string {
  return Object.values(labels).join();
}
