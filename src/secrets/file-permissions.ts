/** Who besides the exporter can read a file that holds a secret. */
import { constants, realpath, stat } from 'node:fs/promises';

/**
 * Whether every user of the machine can read the file. Files that Kubernetes mounts are not reported: they
 * are readable only inside the container, and lie under a `..` directory.
 */
export async function isExposed(path: string): Promise<boolean> {
  const [{ mode }, real] = await Promise.all([stat(path), realpath(path)]);
  return (mode & constants.S_IROTH) !== 0 && !/\/\.\.[^/]/.test(real);
}
