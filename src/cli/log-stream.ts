/** Writes log lines to stderr. Lines that cannot be written are dropped and counted: logging must never block or end the process. */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** For a slow reader of a pipe. */
const maxWaitingBytes = 256 * 1024;

export class LogStream {
  /** Called when lines can be written again, with how many were dropped. */
  onRecovery: (dropped: number) => void = () => undefined;
  #dropped = 0;
  /** How many of them were passed to `onRecovery`. */
  #told = 0;
  #isTorn = false;

  constructor() {
    // Failures are handled at each write. Without a listener the first one would end the process.
    process.stderr.on('error', () => undefined);
  }

  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    // Node writes to files synchronously, to pipes asynchronously.
    if (process.stderr instanceof Socket) this.#send(line);
    else this.#append(line);
  }

  #send(line: string): void {
    const { stderr } = process;
    if (stderr.writableLength > maxWaitingBytes) this.#dropped++;
    else
      stderr.write(line, (error) => {
        if (error) this.#dropped++;
        else if (stderr.writableLength === 0) this.#recover();
      });
  }

  #append(line: string): void {
    // If a full disk took only part of a line, start a new line.
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(process.stderr.fd, bytes, written);
      this.#isTorn = false;
      this.#recover();
    } catch {
      this.#isTorn ||= written > 0;
      this.#dropped++;
    }
  }

  #recover(): void {
    const dropped = this.#dropped - this.#told;
    this.#told = this.#dropped;
    if (dropped > 0) this.onRecovery(dropped);
  }
}
