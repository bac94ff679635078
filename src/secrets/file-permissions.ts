/** Who besides the exporter can read a file that holds a secret. */
import { constants } from 'node:fs';
import { realPathOf, statFile } from '../files.ts';

/**
 * Whether every user of the machine can read the file. Files that Kubernetes mounts are not reported: they
 * are readable only inside the container, and lie under a `..` directory.
 */
export async function isExposed(path: string): Promise<boolean> {
  const [{ mode }, real] = await Promise.all([statFile(path), realPathOf(path)]);
  return (mode & constants.S_IROTH) !== 0 && !/\/\.\.[^/]/.test(real);
}
