/** Writes log lines to stderr. Lines that cannot be written are dropped and counted: the log may stop, the process may not. */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** How much may wait for a slow reader of a pipe. */
const maxWaitingBytes = 256 * 1024;

export class LogStream {
  /** Told how many lines were dropped once lines are taken again. */
  onRecovery: (dropped: number) => void = () => undefined;
  #dropped = 0;
  #unsaid = 0;
  #isTorn = false;

  constructor() {
    // Each write learns of its own failure. Without this listener the first one would end the process.
    process.stderr.on('error', () => undefined);
  }

  /** Lines since the start that were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    // Node writes to a file at once, and to a pipe when there is room in it.
    if (process.stderr instanceof Socket) this.#send(line);
    else this.#append(line);
  }

  #send(line: string): void {
    const { stderr } = process;
    if (stderr.writableLength > maxWaitingBytes) this.#drop();
    else
      stderr.write(line, (error) => {
        if (error) this.#drop();
        else if (stderr.writableLength === 0) this.#recover();
      });
  }

  #append(line: string): void {
    // Part of a line may have filled the disk: what comes next must not continue it.
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(process.stderr.fd, bytes, written);
      this.#isTorn = false;
      this.#recover();
    } catch {
      this.#isTorn ||= written > 0;
      this.#drop();
    }
  }

  #drop(): void {
    this.#dropped++;
    this.#unsaid++;
  }

  #recover(): void {
    const dropped = this.#unsaid;
    this.#unsaid = 0;
    if (dropped > 0) this.onRecovery(dropped);
  }
}
