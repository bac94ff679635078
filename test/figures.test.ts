/**
 * Figures in texts come from one place: memory from bench/results.md, requests from the plan of an account, kinds from their list.
 * `npm run generate` renews them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { resources } from '../src/resources/kinds/index.ts';
import { compared, large, neededIn, small } from './polling/accounts.ts';

const results = readFileSync('bench/results.md', 'utf8');
const [, imageNode] = /^ARG BASE_IMAGE=\S+nodejs(\d+)-/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];

/** A figure of a sidecar of two applications with the Node of the image, in MB, by the head of its column. */
function megabytes(column: string): string {
  const cellsOf = (line: RegExp) => (line.exec(results)?.[0] ?? '').split('|').map((cell) => cell.trim());
  const at = cellsOf(/^\| +\| peak memory .*$/m).indexOf(column);
  return (
    /^(\d+) MB$/.exec(cellsOf(new RegExp(`^\\| Node ${imageNode}[.\\d]+ .*$`, 'm'))[at] ?? '')?.[1] ?? '?'
  );
}
const [peak, rest] = [megabytes('peak memory'), megabytes('at rest')];
const anHour = (perSecond: number) => (Math.round(perSecond * 36) * 100).toLocaleString('en');
const [ofSmall, ofLarge, ofCompared] = await Promise.all([small, large, compared].map(neededIn));

/** The texts that repeat a figure. */
const places: readonly (readonly [file: string, where: RegExp, figure: string])[] = [
  ['docs/compared-with.md', /(?<=Node; )\S+(?= MB for two applications)/, rest],
  ['docs/compared-with.md', /(?<=each 15 s\) \| )\S+(?=, for \d+ kinds)/, anHour(ofCompared ?? 0)],
  [
    'docs/compared-with.md',
    /(?<=, for )\d+(?= kinds)/,
    String(resources.filter(({ isCostly }) => !isCostly).length),
  ],
  ['README.md', /(?<=and a library takes\n)\S+(?= requests a second)/, (ofSmall ?? 0).toFixed(1)],
  ['README.md', /(?<=and 50 Shield Zones )\S+(?=, with the default)/, (ofLarge ?? 0).toFixed(1)],
  ['docs/compared-with.md', /(?<=If )\S+(?= MB is too much)/, rest],
  ['docs/kubernetes.md', /(?<=two applications take )\S+(?= MB with the image's Node)/, rest],
  ['helm/bunnynet-exporter/values.yaml', /(?<=two applications take )\S+(?= MB with the image's Node)/, rest],
];

describe('figures', () => {
  it('of memory are measured with the Node of the image', () => {
    expect([peak, rest]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
  });

  it.each([...new Set(places.map(([file]) => file))])(
    'in %s are those that were measured or counted last',
    async (file) => {
      let text = readFileSync(file, 'utf8');
      for (const [of, where, figure] of places) {
        if (of !== file) continue;
        expect(text).toMatch(where);
        text = text.replace(where, figure);
      }
      await expect(text).toMatchFileSnapshot(`../${file}`);
    },
  );

  it('are nowhere else, where nothing would renew them', () => {
    const written = ['docs/performance.md', 'docs/licences.md'];
    const files = [
      'README.md',
      'helm/bunnynet-exporter/values.yaml',
      ...readdirSync('docs')
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ];
    for (const file of files.filter((name) => !written.includes(name))) {
      const known = places.reduce((text, [, where]) => text.replace(where, '…'), readFileSync(file, 'utf8'));
      // How much something takes, holds or needs; not the size of a page or a limit.
      expect(
        known.match(/\b(takes?|needs?|uses?) (about )?\d+ MB\b|\d+ MB (for|with|of memory)\b.*/g) ?? [],
        file,
      ).toEqual([]);
    }
  });

  it('fit into what the chart gives a sidecar', () => {
    const { sidecar } = parse(readFileSync('helm/bunnynet-exporter/values.yaml', 'utf8')) as {
      sidecar: { resources: { requests: { memory: string }; limits: { memory: string } } };
    };
    const megabytes = (quantity: string) => (Number(/^(\d+)Mi$/.exec(quantity)?.[1]) * 2 ** 20) / 1e6;
    expect(megabytes(sidecar.resources.requests.memory)).toBeGreaterThanOrEqual(Number(rest));
    expect(megabytes(sidecar.resources.limits.memory)).toBeGreaterThanOrEqual(1.3 * Number(peak));
  });
});
