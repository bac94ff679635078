/** Ports for programs that cannot report their own port. */
import { type AddressInfo, createServer } from 'node:net';

/** A port on loopback that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
