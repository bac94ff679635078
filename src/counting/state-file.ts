/**
 * Reads and writes the state file. A write replaces it as a whole: after a crash it is the one before, or the new one. Where the path is
 * a symbolic link, it is what that points to.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, readdir, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readStart } from '../files.ts';
import { Turns } from '../turns.ts';
import {
  beginsLikeState,
  firstLine,
  headOf,
  lastLine,
  parseState,
  type StateFile,
  type StateHead,
  type TargetState,
  targetLine,
} from './state-form.ts';

/** More than the line that a state begins with. */
const headBytes = 1000;

/** With its permission model, Node 26 has no fsync. Then each write waits for the disk. */
const { O_WRONLY, O_CREAT, O_EXCL, O_SYNC } = constants;
/** A draft is a new file: what is there, such as a link to another file, is not written. */
const asNew = O_WRONLY | O_CREAT | O_EXCL;

/** Written at once. */
const pieceLength = 64 * 1024;

/** What a state file has at the start: nothing, if there is none, if it is empty, or cannot be used. */
export interface ReadState {
  readonly state: StateFile | undefined;
  /** Why a file that cannot be used was set aside, and where it is kept: a sentence. */
  readonly problem?: string;
}

/**
 * Reads the state, and removes what writes that were cut off have left. Sets aside a state that cannot be used, as `FILE.bad-` and the
 * Unix time. nowMs: Unix time.
 *
 * @throws an error that says who owns it, if it may not or cannot be read; or that it is no state, and nothing of what it has
 */
export async function readState(path: string, nowMs: number): Promise<ReadState> {
  const file = await pointedTo(path).catch(() => path);
  let start: string;
  let text = '';
  // Whose it is has nothing to do with that.
  const kind = await otherKindOf(file);
  if (kind !== undefined)
    throw new Error(
      `the state file ${path} cannot be read: it is ${kind}. Name a file for the state, which need not be there yet`,
    );
  try {
    start = (await readStart(file, headBytes)).toString('utf8');
    if (beginsLikeState(start)) text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: undefined };
    throw new Error(
      `the state file ${path} cannot be read: ${messageOf(error)}. ${await ownersOf(file)} Correct that, or remove the file: then counters begin anew`,
    );
  }
  if (start !== '' && text === '') throw new Error(notState(path));
  await removeLeftovers(file).catch(() => undefined);
  // An empty file was made for the state.
  if (text === '') return { state: undefined };
  try {
    return { state: parseState(text) };
  } catch (error) {
    const aside = `${file}.bad-${Math.floor(nowMs / 1000)}`;
    const outcome = await rename(file, aside).then(
      () => `It is kept as ${aside}`,
      (failure: unknown) => `It could not be kept as ${aside}: ${messageOf(failure)}`,
    );
    const problem = `the state file ${path} cannot be used: ${messageOf(error)}. ${outcome}. Counters begin anew`;
    return { state: undefined, problem };
  }
}

/** What a write would replace: the line that it begins with; and its head, unless this version cannot read it. */
export interface Replaced {
  readonly line: string;
  readonly head: StateHead | undefined;
}

/**
 * What is there now; undefined if nothing is, or the file is empty.
 *
 * @throws an error that says that the file is no state, or Node's error
 */
export async function readReplaced(path: string): Promise<Replaced | undefined> {
  const start = await startOf(path);
  if (start === '') return undefined;
  if (!beginsLikeState(start)) throw new Error(notState(path));
  return { line: start.split('\n', 1)[0] ?? '', head: headOf(start) };
}

/** Empty where there is no file. */
async function startOf(path: string): Promise<string> {
  try {
    return (await readStart(path, headBytes)).toString('utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/** What it has is not said: it may be a key. */
function notState(path: string): string {
  return `the file ${path} is no state: ${unlikeState}. Name another file for the state, which need not be there yet`;
}

const unlikeState = 'it does not begin like one, and is left as it is';

/** Why no state can be kept there, as far as its place and a file that is there say; undefined if nothing does. */
export async function stateProblem(path: string): Promise<string | undefined> {
  const file = await pointedTo(path).catch(() => path);
  const kind = await otherKindOf(file);
  if (kind !== undefined) return `${file} is ${kind}`;
  const start = await startOf(path).catch((error: unknown) => error);
  if (typeof start !== 'string' && codeOf(start) !== 'ENOTDIR')
    return `${messageOf(start)}. ${await ownersOf(path)}`.trim();
  const folder = dirname(file);
  if ((await otherKindOf(folder)) !== 'a directory') return `its folder ${folder} is not there: make it`;
  const refusal = await folderRefusal(path);
  if (refusal) return `${messageOf(refusal)}. ${await ownersOf(folder)}`.trim();
  return start === '' || beginsLikeState(String(start)) ? undefined : `${path} is no state: ${unlikeState}`;
}

/** Why the folder that a path leads to cannot have the draft of a write; undefined if it can. */
export async function folderRefusal(path: string): Promise<Error | undefined> {
  const folder = dirname(await pointedTo(path).catch(() => path));
  return await access(folder, constants.W_OK).then(
    () => undefined,
    (error: Error) => error,
  );
}

/** What is there in place of a file; undefined if nothing is. */
async function otherKindOf(path: string): Promise<'a directory' | 'no regular file' | undefined> {
  const there = await stat(path).catch(() => undefined);
  if (!there || there.isFile()) return undefined;
  return there.isDirectory() ? 'a directory' : 'no regular file';
}

/** Where a path leads, also if nothing is there yet. */
async function pointedTo(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const link = await readlink(path).catch(() => undefined);
    // A link is seen from the folder that it is in, which may be behind another link.
    return link === undefined ? path : await pointedTo(resolve(await realpath(dirname(path)), link));
  }
}

/**
 * Writes a state in pieces, a few milliseconds at a time. Each target is taken when its turn comes, as a whole. The file is readable
 * by its owner alone. Resolves with its length in bytes.
 *
 * @throws an error that says what is missing
 */
export async function writeState(
  path: string,
  head: StateHead,
  targets: Iterable<TargetState>,
): Promise<number> {
  let file = path;
  let draft: string | undefined;
  try {
    file = await pointedTo(path);
    draft = `${draftsOf(file)}${randomUUID()}`;
    const bytes = await writeDraft(draft, head, targets);
    await rename(draft, file);
    await syncFolder(dirname(file));
    return bytes;
  } catch (error) {
    if (draft !== undefined) await rm(draft, { force: true }).catch(() => undefined);
    throw new Error(`the state file ${path} cannot be written: ${await whyNotWritten(file, error)}`);
  }
}

async function writeDraft(draft: string, head: StateHead, targets: Iterable<TargetState>): Promise<number> {
  const syncs = process.permission === undefined;
  const file = await open(draft, syncs ? asNew : asNew | O_SYNC, 0o600);
  let bytes = 0;
  const append = async (piece: string) => {
    bytes += Buffer.byteLength(piece);
    await file.appendFile(piece);
  };
  try {
    const turns = new Turns();
    let piece = firstLine(head);
    let isFirst = true;
    for (const target of targets) {
      piece += targetLine(target, isFirst);
      isFirst = false;
      if (piece.length >= pieceLength) {
        await append(piece);
        piece = '';
        turns.begin();
      } else if (turns.isOver) await turns.next();
    }
    await append(piece + lastLine);
    if (syncs) await file.sync();
    return bytes;
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
  if (code === 'EBUSY' || (await isMount(path)))
    return `${messageOf(error)}. It is mounted as a single file, which cannot be replaced: mount its folder`;
  // At its start each exporter removes the drafts that it finds.
  if (code === 'ENOENT' && (await otherKindOf(folder)) === 'a directory')
    return 'its draft is gone: something removed it, perhaps another exporter that was started with this file. Each needs a file of its own';
  if (code === 'ENOENT') return `the folder ${folder} does not exist: create it for the user of the exporter`;
  const isOfOwner = code === 'EACCES' || code === 'EPERM';
  return isOfOwner ? `${messageOf(error)}. ${await ownersOf(folder)}` : messageOf(error);
}

/** Whether a file is on another device than its folder: then it is a mount. */
async function isMount(path: string): Promise<boolean> {
  const [file, folder] = await Promise.all(
    [path, dirname(path)].map((one) => stat(one).catch(() => undefined)),
  );
  return file !== undefined && folder !== undefined && file.dev !== folder.dev;
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
