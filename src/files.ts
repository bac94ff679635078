/** Reads files up to a maximum size, and checks whether every user can read them. */
import { constants, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';

const chunkBytes = 64 * 1024;

/** At most the first `maxBytes` of a file. Rejects with Node's error. */
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
    // The file may hold a key: leave the only copy to the caller, who can clear it.
    for (const chunk of chunks) chunk.fill(0);
    return content;
  } finally {
    await file.close();
  }
}

/**
 * Whether every user of the machine can read the file. False for files that Kubernetes mounts (in a `..` directory): only the
 * container can read them.
 */
export function isExposed(path: string): boolean {
  try {
    const { mode } = statSync(path);
    return (mode & constants.S_IROTH) !== 0 && !/\/\.\.[^/]/.test(realpathSync.native(path));
  } catch {
    return false;
  }
}
