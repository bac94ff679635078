/** The benchmark's command line options. */
import { parseArgs } from 'node:util';
import { scales } from '../src/simulator/dataset.ts';
import type { Scale } from '../src/simulator/kind.ts';

export const parts = ['footprint', 'scrape', 'polls', 'discovery'] as const;
export type PartName = (typeof parts)[number];

export interface Options {
  readonly parts: readonly PartName[];
  readonly sizes: readonly Scale[];
  /** Fewer and shorter rounds: for a quick look, not for published figures. */
  readonly quick: boolean;
  /** Node binaries to measure the sidecar with, besides the one that runs this. */
  readonly nodes: readonly string[];
  /** Write docs/performance.md and bench/results.md. */
  readonly write: boolean;
}

export const usage = `npm run bench -- [--only PART,PART] [--sizes SIZE,SIZE] [--node PATH] [--quick] [--write]
  --only    ${parts.join(', ')}; default: all
  --sizes   small (600 series), medium (60,000), full (600,000); default: all
  --node    another program of Node to measure the sidecar with; may be given several times
  --quick   fewer and shorter rounds
  --write   write docs/performance.md and bench/results.md; needs every part at every size
`;

export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string' },
      sizes: { type: 'string' },
      node: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const options = {
    parts: chosen(values.only, parts),
    sizes: chosen(values.sizes, Object.keys(scales) as Scale[]),
    quick: values.quick,
    nodes: values.node,
    write: values.write,
  };
  const isWhole = options.parts.length === parts.length && options.sizes.length === 3 && !options.quick;
  if (options.write && !isWhole)
    throw new Error('--write goes with a whole run: without --only, --sizes and --quick');
  return options;
}

function chosen<Name extends string>(list: string | undefined, names: readonly Name[]): readonly Name[] {
  if (list === undefined) return names;
  const wanted = list.split(',');
  const unknown = wanted.filter((name) => !(names as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}; known: ${names.join(', ')}`);
  return names.filter((name) => wanted.includes(name));
}
