/** Writes output to stdout; logs, problems and the progress line to stderr. */
import pino, { type Logger } from 'pino';
import type { Environment } from '../env.ts';
import type { Redactor } from '../secrets/redactor.ts';
import { plural } from '../text.ts';
import type { Flags } from './flags.ts';
import { prettyLine } from './pretty-log.ts';
import { ProgressLine, styleFor } from './terminal.ts';

/** The progress line of stderr. On a terminal, log lines are written through it, above the line. */
export const progress = new ProgressLine(process.stderr);

/** Whether stderr is a terminal that can redraw a line. */
export function isInteractive(env: Environment): boolean {
  return process.stderr.isTTY && env['TERM'] !== 'dumb';
}

function onOutputError({ code }: NodeJS.ErrnoException): void {
  // A reader such as `head` may close early.
  if (code === 'EPIPE') return;
  process.stderr.write(`stdout cannot be written: ${code}\n`);
  process.exit(1);
}

/** Resolves when the text has been written. */
export function print(text: string): Promise<void> {
  const { stdout } = process;
  if (!stdout.listeners('error').includes(onOutputError)) stdout.on('error', onOutputError);
  return new Promise((resolve) => {
    stdout.write(text, () => resolve());
  });
}

/** The log on stderr, and how many lines were dropped because they could not be written. */
export interface Log {
  readonly log: Logger;
  readonly droppedLines: () => number;
}

/** How much is buffered while a pipe is not read or a disk is full. Further lines are dropped. */
const maxWaitingBytes = 64 * 1024;
const retryIntervalMs = 1000;

/** Never waits for the log and never ends the process because of it. Each line is without the keys that the redactor knows. */
export function createLog({ logLevel, logFormat }: Flags, env: Environment, redactor: Redactor): Log {
  const { stderr } = process;
  const style = styleFor(stderr, env);
  const isPretty = (logFormat ?? (stderr.isTTY ? 'pretty' : 'json')) === 'pretty';
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Reading `process.stderr` made a pipe non-blocking, so a write that would have to wait fails and is retried later.
  const destination = pino.destination({
    dest: stderr.fd,
    sync: true,
    retryEAGAIN: () => false,
    maxLength: maxWaitingBytes,
    // Retries need a length above 0.
    minLength: 1,
  });
  const log = pino(options, {
    write(record: string) {
      const safe = redactor.redact(record);
      const line = isPretty ? prettyLine(safe, style) : safe;
      if (stderr.isTTY) progress.write(line);
      else destination.write(line);
    },
  });
  let dropped = 0;
  let reported = 0;
  stderr.on('error', () => undefined);
  let isRetrying = false;
  const retryLater = () => {
    if (isRetrying) return;
    isRetrying = true;
    setTimeout(() => {
      isRetrying = false;
      destination.flush();
    }, retryIntervalMs).unref();
  };
  // Replaces pino's listener, which after a broken pipe discards lines without counting them as dropped.
  destination.removeAllListeners('error').on('error', retryLater);
  destination.on('drop', () => void dropped++);
  destination.on('drain', () => {
    const lines = dropped - reported;
    reported = dropped;
    if (lines > 0) log.warn({ dropped: lines }, `log writable again: ${plural(lines, 'line')} dropped`);
  });
  return { log, droppedLines: () => dropped };
}
