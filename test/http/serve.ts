import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Route, WebLog } from '../../src/http/route.ts';
import { WebServer, type WebServerOptions } from '../../src/http/server.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly object: object;
  readonly message: string;
}

export function recordLog(): WebLog & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: LogLine['level']) => (object: object, message: string) => {
    lines.push({ level, object, message });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const metrics: Route = {
  path: '/metrics',
  methods: ['GET'],
  handle(_request, response) {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.end('up 1\n');
  },
};

/** Starts a server on a free port of loopback; it is stopped at the end of the test. */
export async function serve(options: Partial<WebServerOptions> = {}): Promise<{
  server: WebServer;
  urls: readonly string[];
  url: string;
  port: number;
  log: ReturnType<typeof recordLog>;
}> {
  const log = recordLog();
  const server = new WebServer({
    addresses: [{ host: '127.0.0.1', port: 0 }],
    routes: [metrics],
    log,
    ...options,
  });
  const urls = await server.start();
  onTestFinished(() => server.stop(0));
  const [url = ''] = urls;
  return { server, urls, url, port: Number(new URL(url).port), log };
}

/** A raw TCP client: what it has received, and when the other side closed. */
export interface RawClient {
  readonly socket: Socket;
  received(): string;
  readonly closed: Promise<string>;
  /** Resolves when the received data contains the text; rejects if the connection closes first. */
  until(text: string): Promise<string>;
}

export function rawClient(port: number, send = ''): RawClient {
  const socket = connect({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  socket.write(send);
  return {
    socket,
    received: () => text,
    closed,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!text.includes(wanted)) return;
          socket.off('data', look);
          resolve(text);
        };
        socket.on('data', look);
        look();
        void closed.then((all) => {
          if (!all.includes(wanted)) reject(new Error(`closed after ${JSON.stringify(all)}`));
        });
      }),
  };
}

/** Scrapes until the promise settles, each time on a new connection; resolves with the statuses. */
export async function scrapeDuring(port: number, until: Promise<unknown>): Promise<ReadonlySet<string>> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  void until.then(end, end);
  const seen = new Set<string>();
  do {
    const text = await rawClient(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      .closed;
    seen.add(text.endsWith('up 1\n') ? (text.split('\r\n')[0] ?? '') : text);
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (!ended);
  return seen;
}
