/** Families whose fields are named in their HELP alone. Kinds that are declared by fields do not need it. */
import type { CounterBound, CounterSample, Family, TargetContext } from './resource.ts';

type Named = Pick<Family, 'name' | 'help' | 'type' | 'unit' | 'fields'>;

function named(name: string, help: string, type: Family['type']): Named {
  const unit = /_(seconds|bytes)(_total)?$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined;
  const fields = /API fields? (\w+(?:, \w+)*)/.exec(help)?.[1]?.split(', ') ?? [];
  return { name, help, type, unit, fields };
}

/** Declares families of one prefix: the unit follows from the name. */
export function familiesOf<Reading>(prefix: string) {
  function gauge(
    name: string,
    help: string,
    samples: (reading: Reading, target: TargetContext) => number | undefined | ReturnType<Family['samples']>,
    labels: readonly string[] = [],
  ): Family<Reading> {
    return {
      ...named(`${prefix}_${name}`, help, 'gauge'),
      labels,
      samples(reading, target) {
        const given = samples(reading, target);
        return typeof given === 'number' ? [{ value: given }] : (given ?? []);
      },
    };
  }
  /** Text about the target in labels. Without a single text there is no series. */
  function info(
    help: string,
    labels: readonly string[],
    texts: (reading: Reading, target: TargetContext) => Readonly<Record<string, string | undefined>>,
  ): Family<Reading> {
    return {
      ...named(`${prefix}_info`, help, 'info'),
      labels,
      samples(reading, target) {
        const given = texts(reading, target);
        if (!labels.some((label) => given[label])) return [];
        return [{ labels: Object.fromEntries(labels.map((label) => [label, given[label] ?? ''])), value: 1 }];
      },
    };
  }
  /** What the API counts by days: its name ends in `_total`. */
  function counter(
    name: string,
    help: string,
    days: (reading: Reading, target: TargetContext) => readonly CounterSample[] | undefined,
    labels: readonly string[] = [],
    bound?: CounterBound,
  ): Family<Reading> {
    return {
      ...named(`${prefix}_${name}`, help, 'counter'),
      labels,
      bound,
      samples: () => [],
      days: (reading, target) => days(reading, target) ?? [],
    };
  }
  return { gauge, info, counter };
}
