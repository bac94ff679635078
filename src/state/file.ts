/** Reads and writes the state file. A write replaces it as a whole: after a crash it is the one before, or the new one. */
import { constants } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readStart } from '../files.ts';
import { Turns } from '../turns.ts';
import {
  firstLine,
  headOf,
  lastLine,
  parseState,
  type StateFile,
  type StateHead,
  type TargetState,
  targetLine,
} from './form.ts';

/** More than the line that a state begins with. */
const headBytes = 1000;

/** With its permission model, Node 26 has no fsync. Then each write waits for the disk. */
const { O_WRONLY, O_CREAT, O_TRUNC, O_SYNC } = constants;
const eachWriteSynced = O_WRONLY | O_CREAT | O_TRUNC | O_SYNC;

/** Written at once. */
const pieceLength = 64 * 1024;

/** What a state file has at the start: nothing, if there is none, or it is none. */
export interface ReadState {
  readonly state: StateFile | undefined;
  /** Why a file that is no state was set aside, and where it is kept: a sentence. */
  readonly problem?: string;
}

/**
 * Reads the state, and removes what writes that were cut off have left. Sets aside a file that is no state, as `FILE.bad-` and the
 * Unix time. nowMs: Unix time.
 *
 * @throws an error that says who owns it, if it may not or cannot be read
 */
export async function readState(path: string, nowMs: number): Promise<ReadState> {
  let text: string;
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is no regular file');
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: undefined };
    throw new Error(
      `the state file ${path} cannot be read: ${messageOf(error)}. ${await ownersOf(path)} Correct that, or remove the file: then counters begin anew`,
    );
  }
  await removeLeftovers(path).catch(() => undefined);
  try {
    return { state: parseState(text) };
  } catch (error) {
    const aside = `${path}.bad-${Math.floor(nowMs / 1000)}`;
    const outcome = await rename(path, aside).then(
      () => `It is kept as ${aside}`,
      (failure: unknown) => `It could not be kept as ${aside}: ${messageOf(failure)}`,
    );
    const problem = `the state file ${path} cannot be used: ${messageOf(error)}. ${outcome}. Counters begin anew`;
    return { state: undefined, problem };
  }
}

/** The head of the state that is there now; undefined if there is none. Rejects with Node's error. */
export async function readHead(path: string): Promise<StateHead | undefined> {
  try {
    return headOf((await readStart(path, headBytes)).toString('utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes a state in pieces, a few milliseconds at a time. Each target is taken when its turn comes, as a whole. The file is readable
 * by its owner alone.
 *
 * @throws an error that says what is missing
 */
export async function writeState(
  path: string,
  head: StateHead,
  targets: Iterable<TargetState>,
): Promise<void> {
  const draft = `${draftsOf(path)}${head.writer}`;
  try {
    await writeDraft(draft, head, targets);
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new Error(`the state file ${path} cannot be written: ${await whyNotWritten(path, error)}`);
  }
}

async function writeDraft(draft: string, head: StateHead, targets: Iterable<TargetState>): Promise<void> {
  const syncs = process.permission === undefined;
  const file = await open(draft, syncs ? 'w' : eachWriteSynced, 0o600);
  try {
    const turns = new Turns();
    let piece = firstLine(head);
    let isFirst = true;
    for (const target of targets) {
      piece += targetLine(target, isFirst);
      isFirst = false;
      if (piece.length >= pieceLength) {
        await file.appendFile(piece);
        piece = '';
        turns.begin();
      } else if (turns.isOver) await turns.next();
    }
    await file.appendFile(piece + lastLine);
    if (syncs) await file.sync();
  } finally {
    await file.close();
  }
}

/** So that the new name outlives a power cut. Not every file system can do that. */
async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r').catch(() => undefined);
  await opened?.sync().catch(() => undefined);
  await opened?.close();
}

function draftsOf(path: string): string {
  return `${path}.tmp-`;
}

/** A process that was killed while it wrote has left its draft. */
async function removeLeftovers(path: string): Promise<void> {
  const drafts = basename(draftsOf(path));
  const left = (await readdir(dirname(path))).filter((name) => name.startsWith(drafts));
  await Promise.all(left.map((name) => rm(join(dirname(path), name), { force: true })));
}

async function whyNotWritten(path: string, error: unknown): Promise<string> {
  const code = codeOf(error);
  const folder = dirname(path);
  if (code === 'ERR_ACCESS_DENIED')
    return `Node's permission model denies it: start Node with --allow-fs-write=${folder}`;
  if (code === 'ENOENT') return `the folder ${folder} does not exist: create it for the user of the exporter`;
  const isOfOwner = code === 'EACCES' || code === 'EPERM';
  return isOfOwner ? `${messageOf(error)}. ${await ownersOf(folder)}` : messageOf(error);
}

/** Who owns a file or a folder, and as whom this process runs: a sentence; empty if that cannot be told. */
async function ownersOf(path: string): Promise<string> {
  const own = process.getuid?.();
  try {
    const { uid, gid, mode } = await stat(path);
    const owner = `${path} belongs to user ${uid} and group ${gid} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`;
    return `${owner}; the exporter runs as user ${own} and group ${process.getgid?.()}.`;
  } catch {
    const folder = dirname(path);
    if (folder !== path) return await ownersOf(folder);
    return own === undefined ? '' : `The exporter runs as user ${own}.`;
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
