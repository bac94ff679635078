/** Writes output to stdout; logs, problems and the progress line to stderr. */
import pino, { type Logger } from 'pino';
import { plural } from '../text.ts';
import type { Flags } from './flags.ts';
import { LogStream } from './log-stream.ts';
import { prettyLine } from './pretty-log.ts';
import { type Environment, ProgressLine, styleFor } from './terminal.ts';

/** On a terminal, log lines go through it, so that they do not break the progress line. */
export const progress = new ProgressLine(process.stderr);

/** Whether stderr is a terminal that can redraw a line. */
export function isInteractive(env: Environment): boolean {
  return process.stderr.isTTY && env['TERM'] !== 'dumb';
}

function onOutputError({ code }: NodeJS.ErrnoException): void {
  // A reader such as `head` may close early.
  if (code !== 'EPIPE') throw new Error(`stdout cannot be written: ${code}`);
}

/** Resolves when the text has been written. */
export function print(text: string): Promise<void> {
  const { stdout } = process;
  if (!stdout.listeners('error').includes(onOutputError)) stdout.on('error', onOutputError);
  return new Promise((resolve) => {
    stdout.write(text, () => resolve());
  });
}

/** The log on stderr, and how many lines could not be written. */
export interface Log {
  readonly log: Logger;
  readonly droppedLines: () => number;
}

export function createLog({ logLevel, logFormat }: Flags, env: Environment): Log {
  const style = styleFor(process.stderr, env);
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const stream = new LogStream();
  const isPretty = (logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json')) === 'pretty';
  const log = pino(options, {
    write(record: string) {
      const line = isPretty ? prettyLine(record, style) : record;
      if (process.stderr.isTTY) progress.write(line);
      else stream.write(line);
    },
  });
  stream.onRecovery = (dropped) =>
    log.warn({ dropped }, `the log takes lines again; ${plural(dropped, 'line')} could not be written`);
  return { log, droppedLines: () => stream.dropped };
}
