/**
 * The load generator for scrapes. It requests pages on kept connections, reads them into one buffer and drops them, so
 * that only the server is measured.
 */
import { connect, type Socket } from 'node:net';
import { serveCommands } from '../processes.ts';

export interface Scrapes {
  /** From the request to the last byte, in milliseconds. */
  readonly latenciesMs: number[];
}

const endOfChunks = Buffer.from('\r\n0\r\n\r\n');
const deadlineMs = 60_000;

/** One scraper's connection. */
class Scraper {
  readonly #request: string;
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  #expected: number | 'chunked' | undefined;
  #received = 0;
  #tail: Buffer = Buffer.alloc(0);
  #done: ((error?: Error) => void) | undefined;

  constructor(port: number, gzip: boolean) {
    const coding = gzip ? 'Accept-Encoding: gzip\r\n' : '';
    this.#request = `GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${coding}\r\n`;
    const onread = {
      buffer: Buffer.alloc(256 * 1024),
      callback: (length: number, buffer: Uint8Array) => {
        this.#take(buffer.subarray(0, length));
        return true;
      },
    };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    this.#socket.on('error', (error) => this.#done?.(error));
    this.#socket.on('close', () => this.#done?.(new Error('the server closed the connection')));
  }

  /** From the request to the last byte, in milliseconds. */
  async scrape(): Promise<number> {
    this.#head = Buffer.alloc(0);
    this.#expected = undefined;
    this.#received = 0;
    this.#tail = Buffer.alloc(0);
    const startedMs = performance.now();
    const deadline = setTimeout(() => this.#done?.(new Error('no page came')), deadlineMs);
    await new Promise<void>((resolve, reject) => {
      this.#done = (error) => (error ? reject(error) : resolve());
      this.#socket.write(this.#request);
    }).finally(() => clearTimeout(deadline));
    this.#done = undefined;
    return performance.now() - startedMs;
  }

  #take(bytes: Uint8Array): void {
    let body = bytes;
    if (this.#expected === undefined) {
      this.#head = Buffer.concat([this.#head, bytes]);
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#head.toString('latin1', 0, end);
      if (!head.startsWith('HTTP/1.1 200')) {
        this.#done?.(new Error(head));
        return;
      }
      const length = /^content-length: *(\d+)/im.exec(head)?.[1];
      this.#expected = length === undefined ? 'chunked' : Number(length);
      body = this.#head.subarray(end + 4);
    }
    this.#received += body.length;
    if (this.#expected !== 'chunked') {
      if (this.#received === this.#expected) this.#done?.();
      return;
    }
    this.#tail = Buffer.concat([this.#tail, body.subarray(-endOfChunks.length)]).subarray(
      -endOfChunks.length,
    );
    if (this.#tail.equals(endOfChunks)) this.#done?.();
  }
}

const scrapers = new Map<string, Scraper>();

function scraperOf(port: number, gzip: boolean): Scraper {
  const key = `${port} ${gzip}`;
  const scraper = scrapers.get(key) ?? new Scraper(port, gzip);
  scrapers.set(key, scraper);
  return scraper;
}

const commands = {
  /** Scrapes `count` times without a pause, or as often as `maxMs` allows, but at least once. */
  async scrape(asked: { port: number; gzip: boolean; count: number; maxMs: number }): Promise<Scrapes> {
    const { port, gzip, count, maxMs } = asked;
    const scraper = scraperOf(port, gzip);
    const latenciesMs: number[] = [];
    const startedMs = performance.now();
    for (let n = 0; n < count && (n === 0 || performance.now() - startedMs < maxMs); n++) {
      latenciesMs.push(await scraper.scrape());
    }
    return { latenciesMs };
  },
};
export type LoadCommands = typeof commands;

serveCommands(commands);
