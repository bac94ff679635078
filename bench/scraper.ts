/** A scraper's connection: reads pages into one buffer and drops them, so that mostly the server is measured. */
import { connect, type Socket } from 'node:net';

const deadlineMs = 60_000;

export class Scraper {
  readonly #port: number;
  readonly #request: string;
  #socket: Socket | undefined;
  #head: Buffer = Buffer.alloc(0);
  /** The length of the body, once the head is complete. */
  #expected: number | undefined;
  #received = 0;
  #done: ((error?: Error) => void) | undefined;

  constructor(port: number, gzip: boolean) {
    const coding = gzip ? 'Accept-Encoding: gzip\r\n' : '';
    this.#request = `GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${coding}\r\n`;
    this.#port = port;
  }

  /** Milliseconds from the request to the last byte. */
  async scrape(): Promise<number> {
    this.#head = Buffer.alloc(0);
    this.#expected = undefined;
    this.#received = 0;
    // Only now: servers close a connection on which no request comes.
    this.#socket ??= this.#connect();
    const socket = this.#socket;
    const startedMs = performance.now();
    const deadline = setTimeout(() => this.#done?.(new Error('no page came')), deadlineMs);
    await new Promise<void>((resolve, reject) => {
      this.#done = (error) => (error ? reject(error) : resolve());
      socket.write(this.#request);
    }).finally(() => clearTimeout(deadline));
    this.#done = undefined;
    return performance.now() - startedMs;
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const onread = {
      buffer: Buffer.alloc(256 * 1024),
      callback: (length: number, buffer: Uint8Array) => {
        this.#take(buffer.subarray(0, length));
        return true;
      },
    };
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread });
    socket.on('error', (error) => this.#done?.(error));
    return socket.on('close', () => this.#done?.(new Error('the server closed the connection')));
  }

  #take(bytes: Uint8Array): void {
    if (this.#expected === undefined) {
      this.#head = Buffer.concat([this.#head, bytes]);
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#head.toString('latin1', 0, end);
      const length = /^content-length: *(\d+)/im.exec(head)?.[1];
      if (!head.startsWith('HTTP/1.1 200') || length === undefined) {
        this.#done?.(new Error(head));
        return;
      }
      this.#expected = Number(length);
      this.#received = this.#head.length - end - 4;
    } else {
      this.#received += bytes.length;
    }
    if (this.#received === this.#expected) this.#done?.();
  }
}
