/** The state file as a history sees it: it may replace what a history wrote, and nothing else. */
import { randomUUID } from 'node:crypto';
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readHead, writeState } from '../state/file.ts';
import { stateVersion, type TargetState } from '../state/form.ts';

/** @throws an error that says why a history cannot write its state there */
export async function checkStateFile(path: string): Promise<void> {
  const head = await readHead(path);
  if (head?.written_by === 'exporter')
    throw new Error(
      `the state file ${path} has what an exporter has counted: a history cannot come before that. To begin anew with the history, stop the exporter and remove the file. To write a history of the time before without its state, use a configuration without state.file`,
    );
  if (head === undefined && (await exists(path)))
    throw new Error(
      `the state file ${path} is none of this version, so what it has is not known: move it away, or name another file`,
    );
  const folder = dirname(path);
  await access(folder, constants.W_OK).catch((error: Error) => {
    throw new Error(
      `the state file ${path} cannot be written: ${error.message}. Run this as the user of the exporter`,
    );
  });
}

/** Replaces the state. nowMs: Unix time. Throws as `checkStateFile`: an exporter may have been started meanwhile. */
export async function writeHistoryState(
  path: string,
  targets: readonly TargetState[],
  nowMs: number,
): Promise<void> {
  await checkStateFile(path);
  const head = {
    version: stateVersion,
    writer: randomUUID(),
    written_by: 'backfill',
    written_at: nowMs / 1000,
  } as const;
  await writeState(path, head, targets);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
