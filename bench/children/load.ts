/**
 * The load generator of the scrapes: it asks for pages on connections that it keeps, reads them into one buffer and forgets
 * them, so that what is measured is the server.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveCommands } from '../processes.ts';

export interface Scrapes {
  /** From the request to the last byte, in milliseconds. */
  readonly latenciesMs: number[];
  /** Of the last page, on the wire. */
  readonly bytes: number;
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

  constructor(port: number, path: string, gzip: boolean) {
    const coding = gzip ? 'Accept-Encoding: gzip\r\n' : '';
    this.#request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${coding}\r\n`;
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

  async scrape(): Promise<{ latencyMs: number; bytes: number }> {
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
    return { latencyMs: performance.now() - startedMs, bytes: this.#received };
  }

  close(): void {
    this.#done = undefined;
    this.#socket.destroy();
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
const stalled: Socket[] = [];

function scraperOf(port: number, path: string, gzip: boolean, place: number): Scraper {
  const key = `${port} ${path} ${gzip} ${place}`;
  const scraper = scrapers.get(key) ?? new Scraper(port, path, gzip);
  scrapers.set(key, scraper);
  return scraper;
}

interface Target {
  readonly port: number;
  readonly path: string;
  readonly gzip: boolean;
}

const commands = {
  /** Every scraper scrapes without a pause, `count` times, or as often as `maxMs` allows, once at least. */
  async scrape(asked: Target & { scrapers: number; count: number; maxMs: number }): Promise<Scrapes> {
    const { port, path, gzip, count, maxMs } = asked;
    const latenciesMs: number[] = [];
    let bytes = 0;
    const startedMs = performance.now();
    const one = async (place: number) => {
      const scraper = scraperOf(port, path, gzip, place);
      for (let n = 0; n < count && (n === 0 || performance.now() - startedMs < maxMs); n++) {
        const scrape = await scraper.scrape();
        latenciesMs.push(scrape.latencyMs);
        bytes = scrape.bytes;
      }
    };
    await Promise.all(Array.from({ length: asked.scrapers }, (_, place) => one(place)));
    return { latenciesMs, bytes };
  },
  /** One scrape at each tick; one that is still under way lets the next wait, and the wait counts. */
  async pace(asked: Target & { perSecond: number; seconds: number }): Promise<Scrapes> {
    const { port, path, gzip, perSecond, seconds } = asked;
    const scraper = scraperOf(port, path, gzip, 0);
    const latenciesMs: number[] = [];
    let bytes = 0;
    const startedMs = performance.now();
    for (let n = 0; n < perSecond * seconds; n++) {
      const dueMs = startedMs + (n * 1000) / perSecond;
      const earlyMs = dueMs - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      const beganMs = earlyMs > 0 ? performance.now() : dueMs;
      ({ bytes } = await scraper.scrape());
      latenciesMs.push(performance.now() - beganMs);
    }
    return { latenciesMs, bytes };
  },
  /** A reader that asks for the page and reads nothing. */
  async stall({ port, path, gzip }: Target): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.pause();
    stalled.push(socket);
    const coding = gzip ? 'Accept-Encoding: gzip\r\n' : '';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${coding}\r\n`);
    await sleep(100);
  },
  release() {
    for (const socket of stalled.splice(0)) socket.destroy();
  },
  /** Gives up the connections to servers that are about to end. */
  forget() {
    for (const scraper of scrapers.values()) scraper.close();
    scrapers.clear();
  },
};
export type LoadCommands = typeof commands;

serveCommands(commands);
