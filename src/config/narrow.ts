/** Narrows a configuration to some of its kinds. */
import type { Resource } from '../resources/resource.ts';
import { quote } from '../text.ts';
import type { Config } from './config.ts';

/** The configuration with only the sections of these kinds. Throws if one of them is off. */
export function narrow(config: Config, kinds: readonly string[], resources: readonly Resource[]): Config {
  for (const wanted of kinds) {
    if (config.sections.some(({ kind }) => kind === wanted)) continue;
    const section = resources.find(({ kind }) => kind === wanted)?.section;
    throw new Error(`the kind ${quote(wanted)} is off: add the section ${section} to the configuration`);
  }
  return { ...config, sections: config.sections.filter(({ kind }) => kinds.includes(kind)) };
}
