/** What the release workflow does with a tag, tested with its own shell scripts. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { root, run, succeed } from './tools.ts';
import { type Step, workflows } from './workflows.ts';

const folder = mkdtempSync(join(tmpdir(), 'workflows-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a step of a workflow like its runner, in `cwd` and with the programs in its `bin`. */
function runStep({ run: script = '' }: Step, cwd: string, env: Readonly<Record<string, string>>) {
  const GITHUB_OUTPUT = join(cwd, 'github-output');
  writeFileSync(GITHUB_OUTPUT, '');
  const PATH = `${cwd}/bin:${process.env['PATH']}`;
  // With `env`, because tools.ts puts its own programs first.
  const words = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  const outcome = run('env', [`PATH=${PATH}`, ...words], { cwd, env: { ...env, GITHUB_OUTPUT } });
  const outputs = readFileSync(GITHUB_OUTPUT, 'utf8').split('\n').filter(Boolean);
  return {
    ...outcome,
    outputs: Object.fromEntries(outputs.map((line) => line.split(/=(.*)/).slice(0, 2) as [string, string])),
  };
}

/** Creates a program from a script. */
function fake(cwd: string, name: string, script: string): void {
  mkdirSync(join(cwd, 'bin'), { recursive: true });
  writeFileSync(join(cwd, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(cwd, 'bin', name), 0o755);
}

describe('a release', () => {
  const { text, workflow } = workflows.find(
    ({ name }) => name === 'release.yml',
  ) as (typeof workflows)[number];
  const { jobs } = workflow;
  const stepsOf = (job: string) => jobs[job]?.steps ?? [];
  const stepWith = (job: string, id: string) => stepsOf(job).find((step) => step.id === id) ?? {};
  const attested = (job: string) =>
    stepsOf(job).find(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'))?.with;

  /** The value of an expression for version 1.2.3. */
  function evaluated(value: string, more: Readonly<Record<string, string>> = {}): string {
    const values: Readonly<Record<string, string>> = {
      ...Object.fromEntries(Object.entries(workflow.env ?? {}).map(([name, each]) => [`env.${name}`, each])),
      'needs.version.outputs.version': '1.2.3',
      'needs.version.outputs.minor': '1.2',
      'needs.version.outputs.major': '1',
      ...more,
    };
    return value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, name: string) => values[name] ?? `unknown: ${name}`);
  }

  test('waits in each job for the check of the tag', () => {
    const waitsFor = (name: string): readonly string[] =>
      [jobs[name]?.needs ?? []].flat().flatMap((needed) => [needed, ...waitsFor(needed)]);
    for (const name of Object.keys(jobs))
      if (name !== 'version') expect(waitsFor(name), name).toContain('version');
    expect(jobs['version']?.needs).toBeUndefined();
    const publishing = ['npm', 'executable', 'image', 'chart', 'page'];
    expect(Object.keys(jobs).sort()).toEqual(['checks', ...publishing, 'version'].sort());
    for (const name of publishing) expect(waitsFor(name), name).toContain('checks');
    expect(new Set(waitsFor('page'))).toEqual(new Set(Object.keys(jobs).filter((name) => name !== 'page')));
    expect(text).not.toMatch(/^\s+if:|continue-on-error/m);
  });

  describe('checks the tag', () => {
    const names = [
      'package.json',
      'package-lock.json',
      'CHANGELOG.md',
      'Dockerfile',
      'helm/bunnynet-exporter/Chart.yaml',
      'deploy/compose/compose.yaml',
      'deploy/kustomize/sidecar/sidecar.yaml',
    ];
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
    const git = (cwd: string, ...args: readonly string[]) =>
      succeed('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'tag.gpgSign=false', ...args], {
        cwd,
      });

    /** A repository that is ready for v1.2.3, except for this change. */
    function prepared(change: (files: Map<string, string>) => void = () => undefined): string {
      const files = new Map(names.map((name) => [name, readFileSync(`${root}${name}`, 'utf8')]));
      const edit = (name: string, by: (before: string) => string) =>
        files.set(name, by(files.get(name) ?? ''));
      for (const name of names) {
        // In the lock file, packages of others may have the same version.
        const before = name === 'package-lock.json' ? '"bunnynet-exporter",\\s+"version": "' : '["\\s:]';
        const own = new RegExp(`(?<=${before})${version}(?=["\\s])`, 'g');
        edit(name, (each) => each.replaceAll(own, '1.2.3'));
      }
      edit('CHANGELOG.md', (each) =>
        each.replace('## 0.1.0', '## 1.2.3 (2026-11-21)').concat('\n## 1.2.2\n\n- [BUGFIX] Old.\n'),
      );
      edit('Dockerfile', (each) =>
        each.replaceAll(/^(ARG \w+_IMAGE=[^@\n]+)$/gm, `$1@sha256:${'0'.repeat(64)}`),
      );
      change(files);
      const cwd = mkdtempSync(join(folder, 'repository-'));
      for (const [name, content] of files) {
        mkdirSync(join(cwd, name, '..'), { recursive: true });
        writeFileSync(join(cwd, name), content);
      }
      cpSync(`${root}scripts/release.mjs`, join(cwd, 'scripts/release.mjs'));
      git(cwd, 'init', '--quiet', '--initial-branch=main');
      git(cwd, 'add', '.');
      git(cwd, 'commit', '--quiet', '--message=release');
      git(cwd, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
      return cwd;
    }
    const look = (cwd: string, tag = 'v1.2.3') =>
      runStep(stepWith('version', 'tag'), cwd, { GITHUB_REF_NAME: tag });

    test('and accepts one that everything agrees with', () => {
      const cwd = prepared();
      git(cwd, 'tag', 'v1.2.2');
      git(cwd, 'tag', 'v1.2.3');
      const { code, stderr, outputs } = look(cwd);
      expect(code, stderr).toBe(0);
      expect(outputs).toEqual({ version: '1.2.3', minor: '1.2', major: '1' });
    });

    test('and publishes only its section of the changelog', () => {
      const cwd = prepared((files) =>
        files.set(
          'CHANGELOG.md',
          '# Changelog\n\n## 11.2.3\n\n- [BUGFIX] Other.\n\n## 1.2.3\n\n- [BUGFIX] This.\n\n## 1.2.2\n\n- [BUGFIX] Old.\n',
        ),
      );
      mkdirSync(join(cwd, 'release'));
      for (const file of ['one', 'two']) writeFileSync(join(cwd, 'release', file), '');
      fake(cwd, 'gh', 'echo "$@" >> said');
      const publish = stepsOf('page').find(({ run }) => run?.includes('gh release create')) ?? {};
      expect(runStep(publish, cwd, { GITHUB_REF_NAME: 'v1.2.3' })).toMatchObject({ code: 0 });
      expect(readFileSync(join(cwd, 'notes.md'), 'utf8')).toBe('- [BUGFIX] This.\n');
      const created = 'release create v1.2.3 --verify-tag --notes-file notes.md release/one release/two\n';
      expect(readFileSync(join(cwd, 'said'), 'utf8')).toBe(created);
    });

    const edited = (name: string, from: string | RegExp, to: string) => (files: Map<string, string>) => {
      const before = files.get(name) ?? '';
      expect(before).toMatch(from);
      files.set(name, before.replace(from, to));
    };
    test.each([
      [
        'package.json',
        edited('package.json', '"version": "1.2.3"', '"version": "1.2.4"'),
        'package.json says 1.2.4',
      ],
      [
        'the application in the chart',
        edited('helm/bunnynet-exporter/Chart.yaml', /^appVersion: .*/m, 'appVersion: 1.2.0'),
        'Chart.yaml, appVersion says 1.2.0',
      ],
      [
        'the changelog',
        edited('CHANGELOG.md', '## 1.2.3', '## Unreleased'),
        'no section "## 1.2.3" with changes',
      ],
      [
        'changes',
        (files: Map<string, string>) =>
          files.set('CHANGELOG.md', '## 1.2.3\n\n## 1.2.2\n\n- [BUGFIX] Old.\n'),
        'no section "## 1.2.3" with changes',
      ],
      ['a base image', edited('Dockerfile', /@sha256:0+/, ''), 'has no digest'],
    ])('and refuses one that %s does not agree with', (_, change, message) => {
      const { code, stderr, outputs } = look(prepared(change));
      expect(code).toBe(1);
      expect(stderr).toContain(message);
      expect(stderr.match(/^- /gm)).toHaveLength(1);
      expect(outputs).toEqual({});
    });

    test('and refuses one on another branch or older than another tag', () => {
      const cwd = prepared();
      git(cwd, 'commit', '--quiet', '--allow-empty', '--message=elsewhere');
      git(cwd, 'tag', 'v1.10.0');
      const { code, stderr } = look(cwd);
      expect(code).toBe(1);
      expect(stderr).toContain('not on the branch main');
      expect(stderr).toContain('newer tag: v1.10.0');
    });

    test.each(['1.2.3', 'v1.2', 'v1.2.3-rc.1', 'v01.2.3', 'v1.2.3\nversion=9', ''])(
      'and refuses %j',
      (tag) => {
        const { code, outputs } = look(prepared(), tag);
        expect(code).toBe(2);
        expect(outputs).toEqual({});
      },
    );
  });

  test('tags the image with the version, its prefixes and latest', () => {
    const { tags = '' } = stepWith('image', 'push').with ?? {};
    expect(evaluated(String(tags)).trim().split('\n')).toEqual(
      ['1.2.3', '1.2', '1', 'latest'].map((tag) => `ghcr.io/bunnynet-exporter/bunnynet-exporter:${tag}`),
    );
  });

  test('attests the chart and the image by the digest that was pushed to the registry', () => {
    const [image, chart] = [attested('image'), attested('chart')];
    expect(chart).toEqual({ ...image, 'subject-name': '${' + '{ env.CHART }}' });
    expect(image).toMatchObject({
      'subject-digest': '${' + '{ steps.push.outputs.digest }}',
      'push-to-registry': true,
    });
    expect(jobs['chart']?.permissions).toEqual(jobs['image']?.permissions);

    const cwd = mkdtempSync(join(folder, 'chart-'));
    const digest = `sha256:${'1'.repeat(64)}`;
    const { CHART = '' } = workflow.env ?? {};
    // The output of Helm: version 3 on stderr, version 4 on stdout.
    const pushed = `Pushed: ${CHART}:1.2.3\nDigest: ${digest}`;
    fake(cwd, 'helm', `echo "$@" >> said; if [ "$1" = push ]; then echo '${pushed}' >&2; fi`);
    const push = stepWith('chart', 'push');
    expect(runStep(push, cwd, { VERSION: '1.2.3', CHART })).toMatchObject({ code: 0, outputs: { digest } });
    expect(readFileSync(join(cwd, 'said'), 'utf8')).toContain(
      `push bunnynet-exporter-1.2.3.tgz oci://${CHART.replace(/\/bunnynet-exporter$/, '')}\n`,
    );
    fake(cwd, 'helm', '[ "$1" != push ]');
    expect(runStep(push, cwd, { VERSION: '1.2.3', CHART })).not.toMatchObject({ code: 0 });
  });

  test('uses the versions of Helm and nfpm that chart and packages are tested with', () => {
    const tools = readFileSync(`${root}test/stack/tools.sh`, 'utf8');
    const versionOf = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(tools)?.[1] ?? '?';
    const setUp = stepsOf('chart').find(({ uses }) => uses?.startsWith('azure/setup-helm@'));
    expect(setUp?.with).toEqual({ version: versionOf('helm4') });
    const pack = stepsOf('executable').find(({ run }) => run?.includes('build:packages'));
    expect(pack?.run).toContain(`/nfpm@${versionOf('nfpm')}\n`);
  });

  test('can be verified with the commands in SECURITY.md, each artifact by its name and signer', () => {
    const { repository } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      repository: { url: string };
    };
    const [, owner = ''] = /github\.com\/(.*)\.git$/.exec(repository.url) ?? [];
    const page = readFileSync(`${root}SECURITY.md`, 'utf8').split('## Verify what you install')[1] ?? '';
    const [, recipe = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
    const cwd = mkdtempSync(join(folder, 'recipe-'));
    for (const name of ['gh', 'npm']) fake(cwd, name, `echo ${name} "$@" >> said`);
    expect(runStep({ run: recipe }, cwd, {})).toMatchObject({ code: 0, stderr: '' });
    const said = readFileSync(join(cwd, 'said'), 'utf8').trim().split('\n');
    const verified = said.flatMap(
      (line) => /^gh attestation verify (\S+) (.*)$/.exec(line)?.slice(1, 3) ?? [],
    );
    const identity = `https://github.com/${owner}/.github/workflows/release.yml@refs/tags/v1.2.3`;
    const signer = `--repo ${owner} --cert-oidc-issuer https://token.actions.githubusercontent.com --cert-identity ${identity}`;
    expect(new Set(verified.filter((_, at) => at % 2 === 1))).toEqual(new Set([signer]));
    expect(workflow.on.push?.tags).toEqual(['v[0-9]+.[0-9]+.[0-9]+']);

    const architectures =
      jobs['executable']?.strategy?.matrix?.include?.map(({ architecture = '' }) => architecture) ?? [];
    const packagesFor = (architecture: string) =>
      ['tar.gz', 'deb', 'rpm'].map((format) => `bunnynet-exporter-linux-${architecture}.${format}`);
    const subjects = ['image', 'chart', 'npm'].map((job) => {
      const { 'subject-name': name, 'subject-path': path } = attested(job) ?? {};
      return name === undefined
        ? basename(evaluated(String(path)))
        : `oci://${evaluated(String(name))}:1.2.3`;
    });
    expect(architectures).toEqual(['amd64', 'arm64']);
    expect(attested('executable')?.['subject-path']).toBe('dist/bunnynet-exporter-linux-*');
    expect(text).toContain(`ARCHIVE: ${packagesFor('${' + '{ matrix.architecture }}')[0]}\n`);
    expect(verified.filter((_, at) => at % 2 === 0)).toEqual([
      ...subjects,
      ...architectures.flatMap(packagesFor),
    ]);
    for (const job of ['image', 'chart', 'npm', 'executable'])
      expect(jobs[job]?.permissions, job).toMatchObject({ 'id-token': 'write', attestations: 'write' });

    // The verified files are the published ones: the attested file, and the one that npm serves.
    expect(said).toContain('npm pack bunnynet-exporter@1.2.3');
    expect(stepsOf('npm').map(({ run }) => run)).toContain('npm pack');
    expect(stepsOf('npm').map(({ run }) => run)).toContain(
      'npm publish "./bunnynet-exporter-$VERSION.tgz" --provenance --access public',
    );
  });

  test("has the dashboards on its page in the form for Grafana's catalogue", () => {
    const cwd = mkdtempSync(join(folder, 'dashboards-'));
    for (const part of ['scripts', 'monitoring/dashboards'])
      cpSync(`${root}${part}`, join(cwd, part), { recursive: true });
    const [made = -1, published = -1] = ['catalogue.mjs', 'gh release create'].map((word) =>
      stepsOf('page').findIndex(({ run }) => run?.includes(word)),
    );
    expect(made).toBeLessThan(published);
    expect(runStep(stepsOf('page')[made] ?? {}, cwd, {})).toMatchObject({ code: 0 });
    const written = readdirSync(join(cwd, 'release'));
    expect(written).toEqual(readdirSync(`${root}monitoring/dashboards`));
    for (const file of written)
      expect(readFileSync(join(cwd, 'release', file), 'utf8')).toContain('__inputs');
  });

  test('has all artifacts of its jobs on its page', () => {
    const handed = Object.values(jobs).flatMap(({ steps = [] }) =>
      steps.flatMap(({ uses, with: given }) =>
        uses?.startsWith('actions/upload-artifact@') ? [given?.['name']] : [],
      ),
    );
    expect(handed.length).toBeGreaterThan(1);
    for (const name of handed) expect(name).toMatch(/^release-/);
    const taken = stepsOf('page').find(({ uses }) => uses?.startsWith('actions/download-artifact@'));
    expect(taken?.with).toEqual({ pattern: 'release-*', 'merge-multiple': true, path: 'release' });
  });
});
