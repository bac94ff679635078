import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { root, run, succeed } from './tools.ts';
import { workflows } from './workflows.ts';

describe('the workflows', () => {
  test('are valid, including their shell scripts', () => {
    const { code, stdout, stderr } = run('actionlint', ['-no-color', '-shellcheck', 'shellcheck']);
    expect(code, `${stdout}${stderr}`).toBe(0);
  });

  test('fail the check if an expression or a script is wrong', () => {
    const { code, stdout } = run('actionlint', ['-no-color', '-shellcheck', 'shellcheck', '-'], {
      input:
        'on: push\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo $' +
        '{{ github.nothing }} $x\n',
    });
    expect(code).toBe(1);
    expect(stdout).toContain('github.nothing');
    expect(stdout).toContain('SC2086');
  });

  test.each(workflows)(
    '$name has read permissions by default, and a timeout for each job',
    ({ workflow }) => {
      expect(workflow.permissions).toEqual({ contents: 'read' });
      for (const [name, job] of Object.entries(workflow.jobs)) {
        if (job.uses === undefined) expect(job['timeout-minutes'], name).toBeGreaterThan(0);
      }
    },
  );

  test('keep no token in the working copy', () => {
    for (const { name, text } of workflows) {
      const checkouts = text.match(/uses: actions\/checkout@/g) ?? [];
      expect(checkouts.length, name).toBeGreaterThan(0);
      expect(text.match(/persist-credentials: false/g), name).toHaveLength(checkouts.length);
      expect(text, name).not.toMatch(/secrets\./);
    }
  });

  test('pin every action to the same commit hash everywhere, with its version in a comment', () => {
    const uses = workflows.flatMap(({ text }) =>
      [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action),
    );
    const pinned = new Set(uses.filter((action) => !action.startsWith('./.github/')));
    const names = [...pinned].map(
      (action) => /^([\w-]+\/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.exec(action)?.[1],
    );
    expect(names, [...pinned].join('\n')).not.toContain(undefined);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(5);
  });

  test('run the commands of package.json on every supported Node', () => {
    const checks = workflows.find(({ name }) => name === 'checks.yml')?.workflow.jobs ?? {};
    expect(checks['test']?.strategy?.matrix).toEqual({ node: [20, 22, 24, 26] });
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      scripts: Record<string, string>;
    };
    const commands = workflows.flatMap(({ text }) => [
      ...text.matchAll(/npm run (?:--silent )?([\w:]+)|npm (test)\b/g),
    ]);
    expect(commands.map(([, script, short]) => script ?? short)).toEqual(
      expect.arrayContaining(['test', 'test:nightly', 'build:executable']),
    );
    for (const [, script, short] of commands) expect(scripts).toHaveProperty([script ?? short ?? '']);
    expect(checks['stack']?.steps?.map(({ run }) => run)).toContain('.ci/run');
  });
});

describe('the shell scripts', () => {
  const scripts = succeed('git', ['ls-files', '--cached', '--others', '--exclude-standard'])
    .split('\n')
    .filter((file) => /\.sh$|^\.ci\/run$|bash-completion/.test(file));

  test('pass shellcheck', () => {
    expect(scripts).toContain('test/stack/tools.sh');
    expect(scripts).toContain('share/bash-completion/completions/bunnynet-exporter');
    const { code, stdout } = run('shellcheck', scripts);
    expect(code, stdout).toBe(0);
  });
});

describe('the Renovate configuration', () => {
  const { customManagers } = JSON.parse(readFileSync(`${root}renovate.json`, 'utf8')) as {
    customManagers: readonly {
      readonly managerFilePatterns: readonly string[];
      readonly matchStrings: readonly string[];
    }[];
  };
  const found = (file: string) => {
    const text = readFileSync(`${root}${file}`, 'utf8');
    return customManagers
      .filter(({ managerFilePatterns }) =>
        managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(file)),
      )
      .flatMap(({ matchStrings }) => matchStrings)
      .flatMap((expression) => [...text.matchAll(new RegExp(expression, 'g'))])
      .map(({ groups }) => `${groups?.['depName']} ${groups?.['currentValue']}`);
  };

  test('covers every version that tools.sh pins', () => {
    const pinned = readFileSync(`${root}test/stack/tools.sh`, 'utf8').match(/^\w+=v?\d+\.\d+\.\d+$/gm) ?? [];
    expect(pinned.length).toBeGreaterThan(5);
    expect(found('test/stack/tools.sh')).toHaveLength(pinned.length);
  });

  test("leaves base images to Renovate's Dockerfile manager, which pins them by digest", () => {
    const { extends: presets } = JSON.parse(readFileSync(`${root}renovate.json`, 'utf8')) as {
      extends: string[];
    };
    expect(presets).toContain('config:best-practices');
    expect(found('Dockerfile')).toEqual([]);
    const dockerfile = readFileSync(`${root}Dockerfile`, 'utf8');
    const images = [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=[\w./-]+:[\w.-]+(?:@sha256:[0-9a-f]{64})?$/gm)];
    const from = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?\$\{(\w+)\}/gm)];
    expect(images).toHaveLength(2);
    expect(from.map(([, name]) => name)).toEqual(['BUILD_IMAGE', 'BASE_IMAGE']);
    expect(images.map(([, name]) => name)).toEqual(['BUILD_IMAGE', 'BASE_IMAGE']);
  });
});
