/** A host with two addresses: one that answers only after a while, and one that is dead. */
import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** Serves an application and tunnels to loopback; but accepts nothing before it is told to, and the queue of the kernel is short. */
const program = `
const { createServer } = require('node:http');
const { connect } = require('node:net');
const { readSync, writeSync } = require('node:fs');
const server = createServer((request, response) => response.end('{"monthlyCost":1}'));
server.on('connect', (request, socket) => {
  const target = connect(Number(request.url.split(':')[1]), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
    socket.pipe(target).pipe(socket);
  });
  for (const end of [socket, target]) end.on('error', () => socket.destroy());
});
server.listen({ host: '127.0.0.2', port: 0, backlog: 1 }, () => {
  writeSync(1, String(server.address().port));
  readSync(0, Buffer.alloc(1));
});`;

/** Returns its port. Its name is resolved in this process until the test ends. */
export async function startDistantHost(name: string): Promise<number> {
  const distant = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void distant.kill());
  const port = await new Promise<number>((resolve) => {
    distant.stdout.once('data', (text: Buffer) => resolve(Number(text.toString())));
  });
  // These fill the queue, so that the kernel lets the next one wait.
  const waiting = [1, 2].map(() => connect(port, '127.0.0.2').on('error', () => undefined));
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
  });
  const { lookup } = dns;
  const addresses = [
    { address: '127.0.0.2', family: 4 },
    // Nothing listens there.
    { address: '127.0.0.3', family: 4 },
  ];
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(((...asked: Parameters<typeof lookup>) => {
    const [host, , found] = asked as unknown as [string, unknown, (error: null, list: unknown) => void];
    if (host !== name) return lookup(...asked);
    found(null, addresses);
    // Later than Node's 250 ms, and before the kernel asks for the second time.
    setTimeout(() => distant.stdin.write('.'), 600);
  }) as unknown as typeof lookup);
  onTestFinished(() => {
    spy.mockRestore();
  });
  return port;
}
