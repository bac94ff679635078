/** Writes a history as OpenMetrics with timestamps: whole lines, as fast as they are read. */
import type { Writable } from 'node:stream';
import { type Header, renderEnd, renderHeader, renderLabels, renderNumber } from '../exposition/format.ts';
import type { Labels } from '../resources/resource.ts';
import type { Fill } from './rows.ts';

/** What goes out at once. */
const chunkBytes = 64 * 1024;
const lineBreak = 10;
/** Of a number and a time, with what is around them. */
const longestEnd = 64;

/** Nobody reads any more. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
  override readonly message = 'nobody reads the output any more: the history is not complete';
}

function errorOf({ code, message }: NodeJS.ErrnoException): Error {
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new ClosedError();
  return new Error(`the output cannot be written: ${code ?? message}; the history is not complete`);
}

/** What each row of a series begins with. */
export function rowStart(name: string, labels: Labels): Buffer {
  const text = renderLabels(labels);
  return Buffer.from(text === '' ? `${name} ` : `${name}{${text}} `);
}

export class Output {
  readonly #stream: Writable;
  readonly #labels: Labels;
  readonly #signal: AbortSignal;
  /** What is written next. Used again and again: strings of all samples would be garbage several times over. */
  #buffer = Buffer.allocUnsafeSlow(chunkBytes);
  #filled = 0;
  #failure: Error | undefined;
  /** Of the family that has no sample yet. */
  #header = '';
  bytes = 0;
  samples = 0;
  series = 0;

  /** labels: those that each row has beside its own. */
  constructor(stream: Writable, labels: Labels, signal: AbortSignal) {
    this.#stream = stream;
    this.#labels = labels;
    this.#signal = signal;
    stream.on('error', (error) => {
      this.#failure ??= errorOf(error);
    });
  }

  /** Begins a family, which has a header once it has a sample. */
  begin(family: Header): void {
    this.#header = renderHeader(family, 'openmetrics');
  }

  /** Writes one series. fill: calls back for each sample, in the order of time. Rejects if nobody reads or wants it any more. */
  async write(name: string, labels: Labels, fill: Fill): Promise<void> {
    const start = rowStart(name, { ...labels, ...this.#labels });
    const before = this.samples;
    fill((atMs, value) => {
      if (this.#header !== '') this.#add(this.#header);
      this.#header = '';
      this.samples++;
      this.#makeRoom(start.length + longestEnd);
      this.#filled += start.copy(this.#buffer, this.#filled);
      const time = atMs % 1000 === 0 ? atMs / 1000 : (atMs / 1000).toFixed(3);
      this.#filled += this.#buffer.write(`${renderNumber(value)} ${time}\n`, this.#filled, 'latin1');
    });
    if (this.samples > before) this.series++;
    if (this.#filled >= chunkBytes) await this.#send();
  }

  /** Writes what is left, and the end mark. */
  async end(): Promise<void> {
    this.#add(Buffer.concat(renderEnd('openmetrics')).toString());
    await this.#send();
  }

  #add(text: string): void {
    this.#makeRoom(Buffer.byteLength(text));
    this.#filled += this.#buffer.write(text, this.#filled);
  }

  #makeRoom(bytes: number): void {
    if (this.#buffer.length - this.#filled >= bytes) return;
    const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length + bytes);
    this.#buffer.copy(larger, 0, 0, this.#filled);
    this.#buffer = larger;
  }

  /** Ends after a whole line. What is on its way is written to its end, also when it is interrupted. */
  async #send(): Promise<void> {
    const filled = this.#filled;
    this.#filled = 0;
    for (let from = 0; from < filled; ) {
      this.#signal.throwIfAborted();
      if (this.#failure) throw this.#failure;
      const end = this.#buffer.lastIndexOf(lineBreak, Math.min(from + chunkBytes, filled) - 1) + 1;
      const until = end > from ? end : filled;
      const chunk = this.#buffer.subarray(from, until);
      this.bytes += chunk.length;
      from = until;
      await new Promise<void>((resolve, reject) => {
        this.#stream.write(chunk, (error) => (error ? reject(this.#failure ?? errorOf(error)) : resolve()));
      });
    }
  }
}
