/** Files that sites and tools read from the repository: their links lead somewhere, and they agree with package.json. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const repository = 'https://github.com/bunnynet-exporter/bunnynet-exporter';

/** Paths of this repository that a text links to. */
const linked = (text: string) =>
  [...text.matchAll(/bunnynet-exporter\/bunnynet-exporter\/(?:blob\/)?main\/([\w./-]+)/g)].map(
    ([, path = '']) => path,
  );

it('says in SECURITY-INSIGHTS.yml what is so', () => {
  const text = readFileSync('SECURITY-INSIGHTS.yml', 'utf8');
  const { license } = JSON.parse(readFileSync('package.json', 'utf8')) as { license: string };
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string;
  expect(parse(text)).toMatchObject({
    header: { 'schema-version': '2.0.0', 'last-updated': day, 'last-reviewed': day },
    project: { repositories: [{ url: repository }] },
    repository: { url: repository, license: { expression: license } },
  });
  const paths = linked(text);
  expect(paths).toContain('SECURITY-INSIGHTS.yml');
  for (const path of paths) expect(existsSync(path), path).toBe(true);
  const headings = readFileSync('SECURITY.md', 'utf8').match(/^## .*$/gm) ?? [];
  const anchors = headings.map((heading) => heading.slice(3).toLowerCase().replaceAll(' ', '-'));
  for (const [, anchor] of text.matchAll(/SECURITY\.md#([\w-]+)/g)) expect(anchors).toContain(anchor);
});

it('has straight quotation marks on every page, dashboard and rule', () => {
  const ofPages = ['.', 'docs', 'docs/runbooks', 'helm/bunnynet-exporter'];
  const ofMonitoring = ['dashboards', 'rules', 'src', 'src/kinds'].map((name) => `monitoring/${name}`);
  const pages = [...ofPages, ...ofMonitoring].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(md|ts|json|yml)$/.test(name) && name !== 'licences.md')
      .map((name) => `${folder}/${name}`),
  );
  expect(pages.length).toBeGreaterThan(150);
  for (const page of pages) expect(readFileSync(page, 'utf8').match(/[“”„‘’‚«»].*/), page).toBeNull();
});

it('has a unit for every systemd that the packages and README.md promise', () => {
  const unit = readFileSync('deploy/systemd/bunnynet-exporter.service', 'utf8').replaceAll(/^#.*$/gm, '');
  // Those that a systemd does not know, such as %d before 251, make it drop the line.
  expect(unit.match(/^[^#\n].*%[^iNS].*$/gm)).toBeNull();
  // Before 247 there are no credentials, and a missing file would keep the unit from starting.
  expect(unit).not.toMatch(/^LoadCredential/m);
  const { overrides } = parse(readFileSync('deploy/packages/nfpm.yaml', 'utf8')) as {
    overrides: Record<'deb' | 'rpm', { depends: readonly string[] }>;
  };
  expect(overrides.deb.depends).toContain('systemd (>= 247)');
  expect(overrides.rpm.depends).toContain('systemd >= 247');
  expect(readFileSync('README.md', 'utf8')).toContain('The packages need systemd 247 ');
});

it('starts Node with the same options wherever it is started', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<'start' | 'demo', string>;
  };
  const [how = '', variable = '', options = ''] = /(\S+) exec node (.+) dist\//.exec(scripts.start) ?? [];
  expect(scripts.demo).toContain(how);
  const sorted = (words: string) => words.split(' ').sort();
  const image = readFileSync('Dockerfile', 'utf8');
  const [, inEntry = ''] = /^ENTRYPOINT \["node", (.+), "--max-old/m.exec(image) ?? [];
  const [, inImage = ''] = /NODE_OPTIONS=(.+) \\$/m.exec(image) ?? [];
  expect(sorted(`${inEntry.replaceAll(/[",]/g, '')} ${inImage}`)).toEqual(sorted(options));
  expect(image).toContain(` ${variable} `);
  const unit = readFileSync('deploy/systemd/bunnynet-exporter.service', 'utf8');
  expect(unit).toContain(`\nEnvironment=${variable}\n`);
  // Node takes only some of its options from a variable. The executable holds all of them.
  const [, inVariable = ''] = /\nEnvironment="NODE_OPTIONS=(.+)"\n/.exec(unit) ?? [];
  const [, inCommand = ''] = /ExecStart=\/usr\/bin\/env node (.+) \//.exec(unit) ?? [];
  expect(sorted(`${inVariable} ${inCommand}`)).toEqual(sorted(options));
});

it('has no source file that nothing imports', () => {
  const folders = ['src', 'simulator', 'bench', 'monitoring/src', 'test', 'scripts'];
  const below = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  const sources = [...readdirSync('.'), ...below].filter((file) => /\.(ts|mjs|cjs)$/.test(file));
  const texts = sources.map((file) => readFileSync(file, 'utf8')).join('\n');
  const named = new Set(Array.from(texts.matchAll(/\/([\w-]+)\.(?:ts|mjs)\b/g), ([, name]) => name));
  const unused = below.filter((file) => {
    const [, name = ''] = /([\w-]+)\.ts$/.exec(file) ?? [];
    // Declarations, and what is found by its folder.
    const isFound = /\.(?:d|test)\.ts$|^bench\/children\//.test(file);
    return name !== '' && !isFound && !named.has(name);
  });
  expect(unused).toEqual([]);
});
