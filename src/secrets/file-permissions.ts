/** Who beside the exporter can read a file that holds a secret. */
import { constants, realpath, stat } from 'node:fs/promises';

/**
 * Whether every user of the machine can read the file. Those that Kubernetes mounts are readable by all within the container
 * alone; they lie under a `..` directory of their own.
 */
export async function isExposed(path: string): Promise<boolean> {
  const [{ mode }, real] = await Promise.all([stat(path), realpath(path)]);
  return (mode & constants.S_IROTH) !== 0 && !/\/\.\.[^/]/.test(real);
}
