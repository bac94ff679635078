/** The builds of the exporter that are measured: where each is, and how it is started. */
import { readFileSync } from 'node:fs';

export interface Build {
  readonly name: string;
  readonly bundle: string;
  /** Options of Node, as `npm start` and the image have them. */
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The sections of its configuration that are measured. */
  readonly sections: readonly string[];
}

/** folder: a clone with `dist` built. */
export function buildIn(folder: string, name: string): Build {
  const { scripts } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
    scripts: { start: string };
  };
  const schema = JSON.parse(readFileSync(`${folder}/config/bunnynet-exporter.schema.json`, 'utf8')) as {
    properties: object;
  };
  const [, variables, options] = /&& (\S+=\S+) exec node (.+) dist\//.exec(scripts.start) ?? [];
  if (variables === undefined || options === undefined)
    throw new Error(`${name}: npm start is not understood`);
  return {
    name,
    bundle: `${folder}/dist/bunnynet-exporter.js`,
    options: options.split(' '),
    environment: Object.fromEntries([variables.split('=') as [string, string]]),
    sections: Object.keys(schema.properties),
  };
}

/** Builds that read the same: the sections that each of them knows. */
export function alike(builds: readonly Build[]): readonly Build[] {
  return builds.map((build) => ({
    ...build,
    sections: build.sections.filter((name) => builds.every(({ sections }) => sections.includes(name))),
  }));
}

/** A sidecar has so little to do that the smallest semi-space is enough. */
export function asSidecar(build: Build): Build {
  const options = build.options.filter((option) => !option.startsWith('--max-semi-space-size='));
  return { ...build, options: [...options, '--max-semi-space-size=1'] };
}

/** The present one. The folder is that of the benchmark. */
export const present = buildIn('.', 'this build');
