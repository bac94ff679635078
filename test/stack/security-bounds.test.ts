/** An API that sends too much, in every possible way, only fails its own polls: the exporter uses little memory and serves. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, createBrotliCompress, createGzip, gzipSync } from 'node:zlib';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { temporary } from '../http/temporary.ts';
import { originOf, page, run } from '../security/canary.ts';

const MiB = 2 ** 20;
const maxBytes = 8 * MiB;

/** A huge run of spaces, compressed as much as possible. */
async function compress(stream: ReturnType<typeof createGzip>, size: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (let written = 0; written < size; written += MiB) {
    if (!stream.write(Buffer.alloc(MiB, ' '))) await new Promise((resolve) => stream.once('drain', resolve));
  }
  stream.end();
  await new Promise((resolve) => stream.once('end', resolve));
  return Buffer.concat(chunks);
}

let gzipBomb: Buffer;
let brotliBomb: Buffer;
beforeAll(async () => {
  gzipBomb = await compress(createGzip({ level: 1 }), 256 * MiB);
  brotliBomb = await compress(
    createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) as unknown as ReturnType<
      typeof createGzip
    >,
    256 * MiB,
  );
});

type Answer = (response: ServerResponse) => void;

const send =
  (body: () => string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(200, headers).end(body());
/** Writes until the other side hangs up. */
const pour =
  (head: string, piece: string): Answer =>
  ({ socket }) => {
    const pump = () => {
      while (socket && !socket.destroyed && socket.write(piece));
    };
    socket?.on('drain', pump);
    socket?.write(head, 'latin1');
    pump();
  };
const filled = (start: string, piece: string, end: string) => () =>
  `${start}${piece.repeat(Math.floor((maxBytes - start.length - end.length) / piece.length))}${end}`;
const ok = 'HTTP/1.1 200 OK\r\n';

const answers: Readonly<Record<string, readonly [answer: Answer, result: string]>> = {
  'gzip-bomb': [send(() => gzipBomb, { 'content-encoding': 'gzip' }), 'schema'],
  'brotli-bomb': [send(() => brotliBomb, { 'content-encoding': 'br' }), 'schema'],
  'bomb-in-a-failure': [
    (response) => void response.writeHead(500, { 'content-encoding': 'gzip' }).end(gzipBomb),
    'server_error',
  ],
  'gzip-in-gzip': [send(() => gzipSync(gzipBomb), { 'content-encoding': 'gzip, gzip' }), 'schema'],
  'endless-body': [
    pour(`${ok}Transfer-Encoding: chunked\r\n\r\n`, `10000\r\n${'x'.repeat(65_536)}\r\n`),
    'schema',
  ],
  'endless-body-of-a-failure': [pour('HTTP/1.1 500 No\r\n\r\n', 'x'.repeat(65_536)), 'server_error'],
  'endless-header': [pour(`${ok}X: `, 'x'.repeat(65_536)), 'network'],
  'endless-headers': [pour(ok, 'X: y\r\n'.repeat(10_000)), 'network'],
  'endless-trailers': [
    pour(`${ok}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`, 'X: y\r\n'.repeat(10_000)),
    'network',
  ],
  'endless-chunk-extension': [
    pour(`${ok}Transfer-Encoding: chunked\r\n\r\n2;`, 'x'.repeat(65_536)),
    'timeout',
  ],
  'endless-early-hints': [pour('', 'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n'.repeat(100)), 'timeout'],
  'announced-too-long': [pour(`${ok}Content-Length: 9999999999999\r\n\r\n`, 'x'.repeat(65_536)), 'schema'],
  'deep-lists': [send(filled('', '[', '')), 'schema'],
  'deep-objects': [send(filled('', '{"a":', '')), 'schema'],
  'many-numbers': [send(filled('[', '0,', '0]')), 'schema'],
  'many-lists': [send(filled('[', '[],', '0]')), 'schema'],
  'many-objects': [send(filled('{"latencyChart": [', '{},', '0]}')), 'schema'],
  'many-keys': [
    send(() => `{"latencyChart": {${Array.from({ length: 500_000 }, (_, i) => `"k${i}":1`).join()}}}`),
    'schema',
  ],
  'many-escapes': [send(filled('{"status":"', '\\u0041', '"}')), 'success'],
  'many-capitals': [send(filled('{"status":"', 'Aa', '"}')), 'success'],
  'as-many-keys-as-allowed': [
    send(() => `{"latencyChart": {${Array.from({ length: 493_000 }, (_, i) => `"k${i}":1`).join()}}}`),
    'success',
  ],
  'long-number': [send(filled('{"monthlyCost":', '9', '}')), 'success'],
  'long-text': [send(filled('{"status":"', 'x', '"}')), 'success'],
};

test('with a heap of 160 MiB', async () => {
  const asked = new Map<string, number>();
  const api = createServer((request, response) => {
    const id = /^\/apps\/([\w-]+)\//.exec(request.url ?? '')?.[1] ?? '';
    asked.set(id, (asked.get(id) ?? 0) + 1);
    response.on('error', () => undefined);
    response.socket?.on('error', () => undefined);
    answers[id]?.[0](response);
  });
  // While the exporter reads megabytes, this would close idle connections that it is about to use again.
  api.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    api.close();
    api.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const directory = temporary({
    'config.yml': `credentials: { account: { env: KEY } }
apis: { application: { base_url: "${url}", timeout: 30s, max_retries: 0 } }
applications: { latency_chart: points, targets: ${JSON.stringify(Object.keys(answers))} }
`,
  });
  const running = run(['--web.listen-address=127.0.0.1:0', `--config.file=${directory}/config.yml`], {
    env: { KEY: 'k-4f1d9e27' },
    node: ['--max-old-space-size=160'],
  });
  const origin = await originOf(running);
  // Others are served meanwhile.
  const statuses = new Set<number>();
  let peakBytes = 0;
  await expect
    .poll(async () => {
      const { status, body } = await page(`${origin}/metrics`);
      statuses.add(status);
      peakBytes = Math.max(peakBytes, Number(/^process_resident_memory_bytes (\S+)$/m.exec(body)?.[1]));
      return (await page(`${origin}/-/ready`)).status;
    })
    .toBe(200);
  expect(statuses).toEqual(new Set([200]));
  expect(peakBytes).toBeGreaterThan(0);
  expect(peakBytes).toBeLessThan(512 * MiB);
  const { targets } = JSON.parse((await page(`${origin}/api/v1/targets`)).body) as {
    targets: { ids: { app_id: string }; last_failure: { result: string } | null }[];
  };
  const results = targets.map(({ ids, last_failure }) => [ids.app_id, last_failure?.result ?? 'success']);
  expect(Object.fromEntries(results)).toEqual(
    Object.fromEntries(Object.entries(answers).map(([id, [, result]]) => [id, result])),
  );
});
