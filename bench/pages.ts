/** Fetches and compares whole pages, so that nothing is measured unless all contenders have the same data. */
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until an exporter has polled every target once. */
export async function untilReady(port: number): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  while (!(await fetchPage(port, '/-/ready')).toString().startsWith('ready')) {
    if (performance.now() > deadlineMs) throw new Error('the exporter did not poll every target in time');
    await sleep(200);
  }
}

export function fetchPage(port: number, path = '/metrics'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', reject);
    }).on('error', reject);
  });
}

const labelPair = /(\w+)="(?:[^"\\]|\\.)*"/g;

/** The rows of the targets, without the labels of the pushgateway and without the contenders' own metrics. */
function rowsOf(page: Buffer): string[] {
  return page
    .toString()
    .split('\n')
    .filter((row) => row.startsWith('bunnynet_') && !row.startsWith('bunnynet_exporter_'))
    .map((row) => {
      const at = row.lastIndexOf(' ');
      const labels = [...row.slice(0, at).matchAll(labelPair)]
        .filter(([, name]) => name !== 'job' && name !== 'instance')
        .map(([pair]) => pair)
        .toSorted();
      return `${row.split('{', 1)[0]} ${labels.join()} ${Number(row.slice(at))}`;
    })
    .toSorted();
}

/** @throws {Error} if the rows differ; their order does not matter */
export function checkSamePage(name: string, page: Buffer, other: Buffer): void {
  const rows = rowsOf(page);
  const others = rowsOf(other);
  const at = rows.findIndex((row, index) => row !== others[index]);
  if (at < 0 && rows.length === others.length) return;
  throw new Error(
    `${name} holds ${others.length} rows, not ${rows.length}; first: ${rows[at]} | ${others[at]}`,
  );
}
