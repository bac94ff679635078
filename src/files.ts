/** Reads files, within a bound, and says who else can. */
import { constants, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';

const chunkBytes = 64 * 1024;

/** The first bytes of a file, at most so many. Rejects with Node's error. */
export async function readStart(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length < maxBytes; ) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, maxBytes - length));
      const { bytesRead } = await file.read(chunk);
      if (bytesRead === 0) break;
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
    }
    const content = Buffer.concat(chunks);
    // It may hold a key: the caller has the only copy and can clear it.
    for (const chunk of chunks) chunk.fill(0);
    return content;
  } finally {
    await file.close();
  }
}

/**
 * Whether every user of the machine can read the file. Files that Kubernetes mounts are not reported: they are readable only
 * inside the container, and lie under a `..` directory.
 */
export function isExposed(path: string): boolean {
  try {
    const { mode } = statSync(path);
    return (mode & constants.S_IROTH) !== 0 && !/\/\.\.[^/]/.test(realpathSync.native(path));
  } catch {
    return false;
  }
}
