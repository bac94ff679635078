/** What is different where systemd runs the program: it hands over keys as files. */
import type { Environment } from '../env.ts';

/** Whether systemd has started the program. */
export function isService(env: Environment): boolean {
  return (env['INVOCATION_ID'] ?? '') !== '';
}

/** The line of a unit that hands over a key. file: where the key is. */
export function loadCredential(name: string, file: string): string {
  return `LoadCredential=${name}:${file}`;
}

/** What to do about a key file that a service cannot read, as the end of a message; empty where nothing is known. code: Node's. */
export function howHandedOver(file: string, code: string | undefined, env: Environment): string {
  if (!isService(env)) return '';
  const inUnit = /^\/run\/credentials\/[^/]+\/(?<name>[^/]+)$/.exec(file)?.groups?.['name'];
  if (inUnit !== undefined)
    return code === 'ENOENT'
      ? `: a drop-in of the unit hands it over, ${loadCredential(inUnit, 'FILE')}`
      : '';
  // The user of the service may read little.
  return code === 'EACCES'
    ? `: a drop-in of the unit hands it over, ${loadCredential('NAME', file)}, as /run/credentials/UNIT.service/NAME`
    : '';
}
