/** Installed and shipped packages: pinned, without scripts, with a stated purpose, under licences that allow shipping. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { licenceOfNode } from '../../scripts/licence-of-node.mjs';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly link?: true;
  readonly hasInstallScript?: true;
  readonly os?: readonly string[];
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const read = (file: string) => readFileSync(file, 'utf8');
const manifest = JSON.parse(read('package.json')) as Required<
  Pick<Locked, 'dependencies' | 'devDependencies'>
> & {
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly engines: { readonly node: string };
  readonly devEngines: { readonly runtime: { readonly version: string } };
};
const lock = JSON.parse(read('package-lock.json')) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked>>;
};
const { '': root = {}, ...packages } = lock.packages;
const locked = Object.entries(packages);
const production = locked.filter(([, { dev }]) => !dev);
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('the lockfile', () => {
  it('has one exact version of everything, and so has package.json', () => {
    const asked = [...Object.entries(manifest.dependencies), ...Object.entries(manifest.devDependencies)];
    for (const [name, version] of asked) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.-]+)?$/);
      expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
    expect(root.dependencies).toEqual(manifest.dependencies);
    expect(root.devDependencies).toEqual(manifest.devDependencies);
    expect(lock.lockfileVersion).toBe(3);
    for (const [path, { version }] of locked) expect(version, path).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('takes everything from the registry', () => {
    for (const [path, { resolved, link }] of locked) {
      expect(link, path).toBeUndefined();
      expect(resolved ?? 'https://', path).toMatch(/^https:\/\//);
    }
  });

  it('has the hash of everything except tools for platforms that were unavailable when it was written', () => {
    for (const [path, { integrity, dev, optional, os }] of locked) {
      if (integrity === undefined) expect([dev, optional, os?.length], path).toEqual([true, true, 1]);
      else expect(integrity, path).toMatch(/^sha512-/);
    }
  });
});

const workflowFiles = readdirSync('.github/workflows').map((name) => `.github/workflows/${name}`);

describe('npm ci', () => {
  it("runs no script of any package but esbuild's, and none at all in the workflows and the image", () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
    // The script of esbuild only replaces a file with the program from an optional package; it works without.
    expect(scripted.map(([path, { dev }]) => [nameOf(path), dev])).toEqual([['esbuild', true]]);
    // npm 11 runs only scripts that are allowed here.
    expect(manifest.allowScripts).toEqual({ esbuild: false });
    for (const file of ['Dockerfile', ...workflowFiles]) {
      const installs = read(file).match(/\bnpm ci\b.*/g) ?? [];
      for (const install of installs) expect(install, file).toContain('npm ci --ignore-scripts');
    }
    expect(workflowFiles.length).toBeGreaterThan(2);
  });
});

describe('the packages in production', () => {
  it('are few, and each direct one is in CONTRIBUTING.md with its purpose', () => {
    const table = read('CONTRIBUTING.md').split('## Dependencies in production')[1]?.split('\n## ')[0] ?? '';
    const rows = [...table.matchAll(/^\| ([\w, -]+?) +\| (.+?) +\|$/gm)].slice(1);
    const named = rows.flatMap(([, names = '', purpose = '']) =>
      names.startsWith('--') ? [] : names.split(', ').map((name) => [name, purpose] as const),
    );
    expect(named.map(([name]) => name).sort()).toEqual(Object.keys(manifest.dependencies).sort());
    for (const [name, purpose] of named) expect(purpose.length, name).toBeGreaterThan(3);
    expect(named.length).toBeLessThanOrEqual(10);
  });
});

type Version = readonly [major: number, minor: number, patch: number];

const compare = (a: Version, b: Version) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Of a range such as `^20.18.1 || >=22.3`: the first version of each part, and the one after its last. */
function partsOf(range: string): readonly { readonly first: Version; readonly after: Version }[] {
  return range.split('||').map((part) => {
    const [, operator, major, minor, patch] =
      /^\s*(\^|>=)\s*(\d+)(?:\.(\d+|x))?(?:\.(\d+|x))?\s*$/.exec(part) ?? [];
    if (operator === undefined) throw new Error(`this test does not know how to read the range ${range}`);
    const first: Version = [Number(major), Number(minor) || 0, Number(patch) || 0];
    return { first, after: operator === '^' ? [first[0] + 1, 0, 0] : [Number.POSITIVE_INFINITY, 0, 0] };
  });
}

/** Whether every version of one range is in the other: if not, the first that is missing begins a part of ours or follows one of theirs. */
function covers(theirs: string, ours: string): boolean {
  const has = (range: string, version: Version) =>
    partsOf(range).some(({ first, after }) => compare(first, version) <= 0 && compare(version, after) < 0);
  const candidates = [
    ...partsOf(ours).map(({ first }) => first),
    ...partsOf(theirs).map(({ after }) => after),
  ];
  return candidates.every((version) => !has(ours, version) || has(theirs, version));
}

describe('the supported versions of Node', () => {
  const { engines, devEngines } = manifest;
  // They run on Node 20 with what test/set-up.ts adds, and `npm ci` warns of them there.
  const demandMore = ['node_modules/nock', 'node_modules/@mswjs/interceptors'];

  it('are supported by every package in production, and for development by every package', () => {
    for (const [path, { dev, engines: { node = '>=0' } = {} }] of locked) {
      const ours = dev ? devEngines.runtime.version : engines.node;
      expect(covers(node.replace('*', '>=0'), ours), `${path} needs Node ${node}; we support ${ours}`).toBe(
        !demandMore.includes(path),
      );
    }
    expect(covers(engines.node, devEngines.runtime.version)).toBe(true);
  });

  it.each([
    '16.20.2',
    '18.20.8',
    '20.17.9',
    '20.18.0',
    '20.18.1',
    '20.19.0',
    '21.7.3',
    '22.2.9',
    '22.3.0',
    '23.0.0',
    '26.1.0',
  ])('are those with which the command starts: %s', (node) => {
    const [major = 0, minor = 0, patch = 0] = node.split('.').map(Number);
    const isSupported = partsOf(engines.node).some(
      ({ first, after }) =>
        compare(first, [major, minor, patch]) <= 0 && compare([major, minor, patch], after) < 0,
    );
    const said: string[] = [];
    const loaded: string[] = [];
    const process = {
      versions: { node },
      stderr: { write: (text: string) => void said.push(text) },
      exitCode: 0,
    };
    const script = read('src/bunnynet-exporter.cjs').replace(/^#!.*/, '');
    runInNewContext(script, { process, require: (path: string) => void loaded.push(path) });
    expect(loaded).toEqual(isSupported ? ['./main.js'] : []);
    expect(said.join('')).toMatch(isSupported ? /^$/ : /^bunnynet-exporter needs Node 20 .*\n$/);
    expect(process.exitCode).toBe(isSupported ? 0 : 1);
  });
});

/** Licences that only require keeping the notice. Packages under others may only be tools. */
const permissive = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  'PSF-2.0',
];
const forTools = [...permissive, 'MPL-2.0'];

function licenceTextOf(path: string): string {
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${path} comes without its licence`);
  return read(`${path}/${file}`)
    .replaceAll('\r\n', '\n')
    .replaceAll(/[ \t]+$/gm, '')
    .trim();
}

function licenceList(): string {
  const entries = production
    .map(([path, { version = '', license = '' }]) => ({ path, name: nameOf(path), version, license }))
    .sort((a, b) => (a.name === b.name ? a.version.localeCompare(b.version) : a.name < b.name ? -1 : 1));
  // Identical texts are included once; most differ only in the copyright line.
  const texts = groupByText(entries);
  return [
    '# Licences',
    '',
    'Generated from what is installed by `npm run generate`; the tests fail when it is out of date. The exporter itself is under',
    'the [Apache License 2.0](../LICENSE). `npm ci --omit=dev` installs these packages; the parts that are used are in the',
    'bundle. Tools for building and testing are not shipped; they are under one of these licences or MPL-2.0.',
    '',
    '| package | version | licence |',
    '| --- | --- | --- |',
    ...entries.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`),
    '',
    ...[...texts].flatMap(([text, of]) => [
      `## ${of.map(({ name, version }) => `${name} ${version}`).join(', ')}`,
      '',
      '```text',
      text,
      '```',
      '',
    ]),
  ].join('\n');
}

function groupByText<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const text = licenceTextOf(entry.path);
    groups.set(text, [...(groups.get(text) ?? []), entry]);
  }
  return groups;
}

describe('licences', () => {
  it('allow shipping what is shipped, and using what is used', () => {
    for (const [path, { license, dev }] of locked) {
      // The licence is in the package if it is installed, else in the lockfile.
      const own = existsSync(`${path}/package.json`)
        ? (JSON.parse(read(`${path}/package.json`)) as { license?: string }).license
        : license;
      expect(dev ? forTools : permissive, path).toContain(own);
    }
  });

  it('of everything that is shipped are in docs/licences.md, with their texts', async () => {
    await expect(licenceList()).toMatchFileSnapshot('../../docs/licences.md');
  });
});

describe('the executable', () => {
  it.each([
    ['an archive of nodejs.org', 'LICENSE'],
    ["NodeSource's package", 'share/doc/nodejs/LICENSE'],
    ["Debian's package", 'share/doc/nodejs/copyright'],
    ["Fedora's package", 'share/licenses/nodejs/LICENSE'],
  ])('comes with the licence of a Node from %s', (_, place) => {
    const folder = mkdtempSync(join(tmpdir(), 'node-'));
    try {
      const node = join(folder, 'bin/node');
      expect(() => licenceOfNode(node)).toThrow(`the licence of ${node} is not in ${folder}`);
      const licence = join(folder, place);
      mkdirSync(dirname(licence), { recursive: true });
      writeFileSync(licence, 'the licence');
      expect(licenceOfNode(node)).toBe(licence);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
