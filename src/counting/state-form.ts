/**
 * The state file as data: what the exporter has counted, so that it goes on after a restart. Pure; it knows neither polls nor files.
 *
 * Whoever has counted something can write a state: `targetLine` for each target between `firstLine` and `lastLine`, which
 * `writeState` of `state-file.ts` does. A target must say truly when it was last read: the exporter counts what the API's days have gained
 * since, from the figures in `days`, and in full each day that is newer than these.
 */
import * as z from 'zod';

/** Changes when an older exporter cannot read the file. */
export const stateVersion = 1;

/** Unix time in seconds, below 0 only where the clock was far behind; a day is the Unix time of its start. */
const seconds = z.number();
const counted = z.number().nonnegative();

const count = {
  value: counted,
  /** Earlier days never count. */
  from: seconds,
  /** The day on which it began. Of a day up to this one that is not in `days` the first figure is no gain. */
  begun: seconds.optional(),
  /**
   * The days that may still grow, the newest first: the last two, and what is later than the first of `pending`. The start of each, and
   * the highest figure of the API that is part of `value`, or came before the counter began. Any
   * other day that is not before `from` has 0.
   */
  days: z.array(z.tuple([seconds, counted])),
};

const countState = z.object(count);
export type CountState = z.output<typeof countState>;

/** A series: its labels beyond those of the target, as on the page. */
const seriesState = z.object({
  labels: z.record(z.string(), z.string()),
  ...count,
  /** Since when readings have been without it; undefined while it is there. */
  missing_since: seconds.optional(),
});
export type SeriesState = z.output<typeof seriesState>;

/** A counter with its series. rest: what counts all that have no series of their own, in a family with a bound. */
const familyState = z.object({ series: z.array(seriesState), rest: countState.optional() });
export type FamilyState = z.output<typeof familyState>;

const targetState = z.object({
  kind: z.string(),
  ids: z.record(z.string(), z.string()),
  /** Of its API. At another address it is another target. */
  base_url: z.string(),
  /** The name of the account, as configured. */
  account: z.string(),
  /** When the last good poll began: what came later is in none of its figures. */
  last_read: seconds,
  /** When its oldest counter began. */
  counting_since: seconds,
  /** Earlier days that are untold, and how often they were asked for: those that are lost, too. */
  pending: z.array(z.tuple([seconds, counted])).optional(),
  /** When it left; undefined while it is polled. */
  left: seconds.optional(),
  /** By the name of the family. */
  counters: z.record(z.string(), familyState),
});
export type TargetState = z.output<typeof targetState>;

const head = {
  version: z.literal(stateVersion),
  /** A random id of the process that wrote it. */
  writer: z.string(),
  written_by: z.enum(['exporter', 'backfill']),
  written_at: seconds,
};
const stateHead = z.object(head);
export type StateHead = z.output<typeof stateHead>;

const stateFile = z.object({ ...head, targets: z.array(targetState) });
export type StateFile = z.output<typeof stateFile>;

/** A JSON object with a line for each target, so that people can look at it and a start is enough to know its head. */
export function firstLine({ version, writer, written_by, written_at }: StateHead): string {
  const text = JSON.stringify({ version, writer, written_by, written_at });
  return `${text.slice(0, -1)},"targets":[\n`;
}

/** isFirst: whether no other target was written before. */
export function targetLine(target: TargetState, isFirst: boolean): string {
  return `${isFirst ? '' : ',\n'}${JSON.stringify(target)}`;
}

export const lastLine = '\n]}\n';

/** Whether a text begins as a state of any version does. Then it may be told what is wrong with it: it is no key. */
export function beginsLikeState(text: string): boolean {
  return /^\s*\{\s*"version"\s*:\s*\d/.test(text);
}

/** Whether a state has any counter. For a history one without is as none. */
export function hasCounted({ targets }: StateFile): boolean {
  return targets.some(({ counters }) =>
    Object.values(counters).some(({ series, rest }) => series.length > 0 || rest),
  );
}

/** The head that a file begins with; undefined if that is none of this version. */
export function headOf(start: string): StateHead | undefined {
  const [line = ''] = start.split('\n', 1);
  try {
    return stateHead.safeParse(JSON.parse(`${line}]}`)).data;
  } catch {
    return undefined;
  }
}

/** Throws an error that says what is wrong with a text that is no state. */
export function parseState(text: string): StateFile {
  return parseLines(text) ?? parseWhole(text);
}

/**
 * A state as it is written: one target after another, since all of it at once takes twice the memory. Undefined if the text has another
 * form, or something is wrong with it.
 */
function parseLines(text: string): StateFile | undefined {
  const head = headOf(text);
  if (!head || !text.endsWith(lastLine)) return undefined;
  const targets: TargetState[] = [];
  const endsAt = text.length - lastLine.length;
  for (let from = text.indexOf('\n') + 1; from < endsAt; ) {
    const newline = text.indexOf('\n', from);
    const isLast = newline === endsAt;
    try {
      // All but the last end with a comma.
      targets.push(targetState.parse(JSON.parse(text.slice(from, isLast ? newline : newline - 1))));
    } catch {
      return undefined;
    }
    from = newline + 1;
  }
  return { ...head, targets };
}

function parseWhole(text: string): StateFile {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw new Error('it is cut off, or no JSON');
  }
  const version = z.object({ version: z.number() }).safeParse(raw).data?.version;
  if (version !== undefined && version > stateVersion)
    throw new Error(
      `a newer version of the exporter wrote it (format ${version}, this one reads ${stateVersion})`,
    );
  const { data, error } = stateFile.safeParse(raw);
  if (data) return data;
  const [issue] = error.issues;
  throw new Error(`it is not a state: ${issue?.path.join('.') || 'the file'}: ${issue?.message}`);
}
