// Finds the licence of a Node, which goes with every copy of it.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Below the folder of `bin`: in the archives of nodejs.org, and in packages of NodeSource, Debian, Fedora and Arch. */
const places = [
  'LICENSE',
  'share/doc/nodejs/LICENSE',
  'share/doc/nodejs/copyright',
  'share/licenses/nodejs/LICENSE',
];

/**
 * The path of the licence. Throws if it is in none of the usual places.
 *
 * @param {string} executable the path of a Node
 */
export function licenceOfNode(executable) {
  const folder = dirname(dirname(executable));
  const licence = places.map((place) => join(folder, place)).find((path) => existsSync(path));
  if (licence !== undefined) return licence;
  throw new Error(
    `the licence of ${executable} is not in ${folder} (${places.join(', ')}): use a Node from nodejs.org`,
  );
}
