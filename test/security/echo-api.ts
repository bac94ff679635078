/** APIs that return the received key in every place and form of an answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Echo = (key: string, response: ServerResponse) => void;

const json = (response: ServerResponse, status: number, body: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const problem =
  (form: (key: string) => string): Echo =>
  (key, response) =>
    json(response, 500, { title: `refused ${form(key)}`, status: 500, detail: `the key is ${form(key)}` });
const raw =
  (bytes: (key: string) => string): Echo =>
  (key, { socket }) =>
    void socket?.end(bytes(key), 'latin1');
const withHeader =
  (name: string, status: number, value: (key: string) => string = (key) => key): Echo =>
  (key, response) =>
    void response.writeHead(status, { [name]: value(key) }).end('{}');
const escaped = (key: string) =>
  Array.from(key)
    .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** By the id of the requested application. */
export const applicationEchoes: Readonly<Record<string, Echo>> = {
  plain: problem((key) => key),
  'upper-case': problem((key) => key.toUpperCase()),
  base64: problem(base64),
  'base64-for-urls': problem((key) => Buffer.from(key).toString('base64url')),
  hexadecimal: problem((key) => Buffer.from(key).toString('hex')),
  'percent-encoded': problem((key) => `?key=${encodeURIComponent(`${key}&x`)}`),
  'after-300-characters': problem((key) => `${'x'.repeat(270)} ${key}`),
  'on-two-lines': problem((key) => `${key}\n${key}`),
  escaped: (key, response) =>
    void response.writeHead(500).end(`{"title": "refused ${escaped(key)}", "detail": "${escaped(key)}"}`),
  'escaped-error-key': (key, response) =>
    void response
      .writeHead(500)
      .end(
        `{"error": {"errorKey": "refused.${escaped(key)}", "message": "${escaped(key)}", "success": false}}`,
      ),
  html: (key, response) => void response.writeHead(502).end(`<h1>${key}</h1>`),
  'no-json': (key, response) => void response.end(`{"title": ${key}`),
  'a-json-string': (key, response) => json(response, 200, key),
  'request-id': withHeader('cdn-requestid', 500),
  'request-id-as-base64': withHeader('cdn-requestid', 403, base64),
  coding: withHeader('content-encoding', 200),
  'coding-in-capitals': withHeader('content-encoding', 200, (key) => key.toUpperCase()),
  'retry-after': withHeader('retry-after', 503),
  cookie: withHeader('set-cookie', 401, (key) => `session=${key}; Path=/`),
  challenge: withHeader('www-authenticate', 401, (key) => `Bearer realm="${key}"`),
  redirect: withHeader('location', 302, (key) => `/apps/${key}/summary?key=${key}`),
  'content-type': withHeader('content-type', 200),
  reason: raw((key) => `HTTP/1.1 500 ${key}\r\nContent-Length: 0\r\n\r\n`),
  'no-http': raw((key) => `${key} is what you sent\r\n\r\n`),
  'bad-header': raw((key) => `HTTP/1.1 200 OK\r\n${key} : x\r\n\r\n`),
  'bad-length': raw((key) => `HTTP/1.1 200 OK\r\nContent-Length: ${key}\r\n\r\n`),
  'bad-chunk': raw((key) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${key}\r\n`),
  'cut-short': raw((key) => `HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${key}`),
  values: (key, response) =>
    json(response, 200, {
      status: key,
      latencyChart: { [key]: 1, [`2026-01-01 ${key}`]: 2 },
      averageLatency: key,
    }),
  'escaped-values': (key, response) =>
    void response.end(
      `{"status": "${escaped(key)}", "latencyChart": {"${escaped(key)}": 1}, "averageLatency": 1}`,
    ),
};

const envelope = (error: unknown, status = 200): Echo => {
  return (key, response) => {
    const text = JSON.stringify({ error, data: null }).replaceAll('KEY', key);
    response
      .writeHead(status)
      .end(text.replaceAll('ESCAPED', escaped(key)).replaceAll('BASE64', base64(key)));
  };
};

/** By the endpoint, from 1. */
const guardianEchoes: readonly Echo[] = [
  envelope({ success: false, message: 'no KEY', errorKey: 'refused.KEY' }),
  envelope({ success: false, message: 'no ESCAPED', errorKey: 'refused.ESCAPED' }, 202),
  envelope({ success: false, message: 'no BASE64', errorKey: 'refused.BASE64' }),
  envelope({ success: false, message: 'KEY', errorKey: 'not_found.KEY' }),
];
export const guardianTargets = guardianEchoes.map((_, index) => `501/${index + 1}`);

/** Renditions named like the key, which become labels. */
const videoEcho: Echo = (key, response) =>
  void response.end(
    `{"success": true, "data": {"encoded": {"${key}": {"codec": "${escaped(key)}", "resolution": "${key}", "size": 1}}, "originals": 1}}`,
  );

export interface EchoApi {
  readonly origin: string;
  /** The number of requests with a key. */
  readonly asked: () => number;
}

/** The application whose failure repeats a key that its request did not have. */
export const repeating = 'another-key';

/** another: what the failure of `repeating` says. */
export async function serveEchoes(another = ''): Promise<EchoApi> {
  let asked = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const key = String(request.headers['accesskey'] ?? '');
    if (key !== '') asked += 1;
    const path = request.url ?? '';
    const application = /^\/apps\/([\w-]+)\/summary$/.exec(path)?.[1] ?? '';
    const endpoint = Number(/\/api-guardian\/endpoint\/(\d+)$/.exec(path)?.[1] ?? 0);
    const echo =
      (application === repeating ? problem(() => another) : applicationEchoes[application]) ??
      guardianEchoes[endpoint - 1] ??
      videoEcho;
    echo(key, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}
