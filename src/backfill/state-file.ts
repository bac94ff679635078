/**
 * The state file as a history sees it: it takes the place of one in which nothing was counted, goes together with what an earlier
 * history wrote, and touches no other.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { folderRefusal, writeState } from '../counting/state-file.ts';
import {
  hasCounted,
  parseState,
  type StateFile,
  stateVersion,
  type TargetState,
} from '../counting/state-form.ts';

/** What a history has counted of a target. */
export interface CountedTarget {
  readonly state: TargetState;
  /** Whether everything of it was read that was asked for. */
  readonly isWhole: boolean;
}

/** What became of the state. */
export interface StateOutcome {
  /** The targets whose counters are of this history; none: then the file is as it was. */
  readonly written: readonly TargetState[];
  /** Those whose counters are still of an earlier history. */
  readonly kept: readonly TargetState[];
}

/** @throws an error that says why a history cannot write its state there */
export async function checkStateFile(path: string): Promise<void> {
  await readEarlier(path);
  const refusal = await folderRefusal(path);
  if (refusal)
    throw new Error(
      `the state file ${path} cannot be written: ${refusal.message}. Run this as the user of the exporter`,
    );
}

/**
 * Writes the state. It keeps what an earlier history has counted and this one has not, or less of where something failed: the exporter
 * would begin lower than the history that is loaded ends. nowMs: Unix time. Throws as `checkStateFile`: an exporter may have been
 * started meanwhile.
 */
export async function writeHistoryState(
  path: string,
  counted: readonly CountedTarget[],
  nowMs: number,
): Promise<StateOutcome> {
  const earlier = new Map((await readEarlier(path)).map((state) => [keyOf(state), state]));
  const written: TargetState[] = [];
  for (const { state, isWhole } of counted) {
    const before = earlier.get(keyOf(state));
    if (before && !isWhole && sumOf(state) < sumOf(before)) continue;
    written.push(state);
    earlier.delete(keyOf(state));
  }
  const kept = [...earlier.values()];
  if (written.length === 0) return { written, kept };
  const head = {
    version: stateVersion,
    writer: randomUUID(),
    written_by: 'backfill',
    written_at: nowMs / 1000,
  } as const;
  await writeState(path, head, [...written, ...kept]);
  return { written, kept };
}

/** What an earlier history has counted. */
async function readEarlier(path: string): Promise<readonly TargetState[]> {
  const state = await read(path);
  if (!state || !hasCounted(state)) return [];
  if (state.written_by === 'exporter')
    throw new Error(
      `the state file ${path} has what an exporter has counted: a history cannot come before that. To begin anew with the history, stop the exporter and remove the file, or give both another state.file. To write a history of the time before without its state, use a configuration without state.file`,
    );
  return state.targets;
}

async function read(path: string): Promise<StateFile | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new Error(
      `the state file ${path} cannot be read: ${error.message}. Run this as the user of the exporter`,
    );
  });
  if (text === '') return undefined;
  try {
    return parseState(text);
  } catch {
    throw new Error(
      `the state file ${path} is none of this version, so what it has is not known: move it away, or name another file`,
    );
  }
}

/** All that was counted of a target. */
function sumOf({ counters }: TargetState): number {
  return Object.values(counters)
    .flatMap(({ series, rest }) => (rest ? [...series, rest] : series))
    .reduce((sum, { value }) => sum + value, 0);
}

/** At another address of the API it is another target. */
function keyOf({ kind, ids, base_url }: TargetState): string {
  return JSON.stringify([kind, ids, base_url]);
}
