/** Writes a history as OpenMetrics with timestamps: whole lines, as fast as they are read. */
import type { Writable } from 'node:stream';
import { type Header, renderEnd, renderHeader, renderLabels, renderNumber } from '../exposition/format.ts';
import type { Labels } from '../resources/resource.ts';

/** What goes out at once. */
const chunkLength = 64 * 1024;

/** Nobody reads any more. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

export class Output {
  readonly #stream: Writable;
  readonly #labels: Labels;
  readonly #signal: AbortSignal;
  #waiting = '';
  #isClosed = false;
  bytes = 0;
  samples = 0;
  series = 0;

  /** labels: those that each row has beside its own. */
  constructor(stream: Writable, labels: Labels, signal: AbortSignal) {
    this.#stream = stream;
    this.#labels = labels;
    this.#signal = signal;
    stream.on('error', () => {
      this.#isClosed = true;
    });
  }

  begin(family: Header): void {
    this.#waiting += renderHeader(family, 'openmetrics');
  }

  /** Writes one series. fill: calls back for each sample, in the order of time. Rejects if nobody reads or wants it any more. */
  async write(
    name: string,
    labels: Labels,
    fill: (emit: (atMs: number, value: number) => void) => void,
  ): Promise<void> {
    const row = `${name}{${renderLabels({ ...labels, ...this.#labels })}} `;
    const start = row === `${name}{} ` ? `${name} ` : row;
    this.series++;
    const chunks: string[] = [];
    fill((atMs, value) => {
      this.samples++;
      this.#waiting += `${start}${renderNumber(value)} ${atMs % 1000 === 0 ? atMs / 1000 : (atMs / 1000).toFixed(3)}\n`;
      if (this.#waiting.length < chunkLength) return;
      chunks.push(this.#waiting);
      this.#waiting = '';
    });
    for (const chunk of chunks) await this.#send(chunk);
  }

  /** Writes what is left, and the end mark. */
  async end(): Promise<void> {
    const rest = this.#waiting;
    this.#waiting = '';
    await this.#send(rest + Buffer.concat(renderEnd('openmetrics')).toString());
  }

  async #send(text: string): Promise<void> {
    this.#signal.throwIfAborted();
    if (this.#isClosed) throw new ClosedError('nobody reads the output any more');
    const bytes = Buffer.from(text);
    this.bytes += bytes.length;
    // What is on its way is written to its end, also when it is interrupted.
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error ? reject(new ClosedError(error.message)) : resolve()));
    });
  }
}
