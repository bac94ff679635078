import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolPath } from './processes.ts';

const exporter = `'${process.execPath}' dist/bunnynet-exporter.js`;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terminal-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Runs a shell command on a pseudo terminal with this input; returns the output and the exit code. */
function onTerminal(command: string, env: Readonly<Record<string, string>> = {}, typed = '') {
  const { stdout, status } = spawnSync(
    toolPath('script'),
    ['--quiet', '--return', '--command', `stty cols 100; ${command}`, '/dev/null'],
    {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env },
      input: typed,
    },
  );
  return { shown: stdout.replaceAll('\r\n', '\n'), status };
}

const redrawn = '\r\u001B[K';
const colour = '\u001B[3';

describe('--once on a terminal', () => {
  it('shows progress and a table, while stdout has only the metrics', async () => {
    const file = join(folder, 'page.txt');
    const { shown, status } = onTerminal(`${exporter} --demo --once > '${file}'`);
    expect(status).toBe(0);
    expect(shown).toMatch(/polled \d+ of \d+ targets, \d+\.\d s/);
    expect(shown.split(redrawn).length).toBeGreaterThan(3);
    // What a plan lacks is neither read nor failing.
    expect(shown).toMatch(/\nall +[1-9]\d* +[1-9]\d* +0 +0\n/);
    expect(shown).toContain('every poll succeeded');
    expect(shown).toContain(colour);
    const page = await readFile(file, 'utf8');
    const promtool = execFileSync(toolPath('promtool'), ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    expect(promtool).toBe('');
    expect(page.startsWith('# HELP')).toBe(true);
    expect(page).not.toContain('\u001B');
  });

  it('lists each failure with its reason at the end, and ends with 3', () => {
    const env = {
      BUNNYNET_ACCESS_KEY: 'k',
      BUNNYNET_APPLICATIONS: 'one,two',
      BUNNYNET_APPLICATION_URL: 'http://127.0.0.1:1',
      NO_COLOR: '1',
    };
    const { shown, status } = onTerminal(`${exporter} --once`, env);
    expect(status).toBe(3);
    expect(shown).toMatch(
      /WARN {2}Nothing can be read from 127\.0\.0\.1:1: connection refused \(ECONNREFUSED\): .* Check .* result=network/,
    );
    expect(shown).toMatch(
      /\n✗ Nothing can be read from 127\.0\.0\.1:1: connection refused .*: 2 targets \(application\)\n {4}application one, application two\n {4}Check .*\n.*\n\n✗ 2 of 2 targets failed, in \d+\.\d s\n$/,
    );
    expect(shown).not.toContain(colour);
  });

  it('logs in JSON if the flag says so', () => {
    const env = {
      BUNNYNET_ACCESS_KEY: 'k',
      BUNNYNET_APPLICATIONS: 'one',
      BUNNYNET_APPLICATION_URL: 'http://127.0.0.1:1',
    };
    const { shown } = onTerminal(`${exporter} --once --log.format=json`, env);
    expect(shown).toContain('{"level":"warn",');
  });

  it('is plain if stdout and stderr are piped', () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['dist/bunnynet-exporter.js', '--demo', '--once'],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm' },
      },
    );
    // Found targets are logged; there is no progress and no table.
    expect(stderr).toContain('+12 applications');
    for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('level', 'info');
    expect(stdout).not.toContain('\u001B');
    expect(stdout).not.toContain('every poll succeeded');
  });
});

/** Shells that complete on a terminal, and how they load the completion. */
const shells: readonly (readonly [name: string, command: string, setUp: string])[] = [
  ['bash', 'bash --norc --noprofile -i', 'source share/bash-completion/completions/bunnynet-exporter'],
  ['zsh', 'zsh -f -i', 'fpath=($PWD/share/zsh/site-functions $fpath); autoload -U compinit; compinit -u -D'],
];

describe.each(shells)('%s', (name, command, setUp) => {
  it('completes flags, their values and files', () => {
    toolPath(name);
    const lines = [
      'bunnynet-exporter() { printf \'given <%s>\\n\' "$@"; }',
      setUp,
      'bunnynet-exporter --log.l\tde\t',
      'bunnynet-exporter --demo.scale fu\t --demo.o\t--onc\t',
      'bunnynet-exporter --web.conf\tpackage-l\t',
      'bunnynet-exporter --demo.accounts=\t3 --no-such\t',
      'exit',
    ];
    const { shown } = onTerminal(command, { TERM: 'dumb' }, `${lines.join('\n')}\n`);
    expect([...shown.matchAll(/^given <(.*)>$/gm)].map(([, word]) => word)).toEqual([
      '--log.level=debug',
      '--demo.scale',
      'full',
      '--demo.outage',
      '--once',
      '--web.config.file=package-lock.json',
      '--demo.accounts=3',
      '--no-such',
    ]);
  });
});

describe('fish', () => {
  it('completes flags, their values and files', () => {
    const complete = (line: string) => {
      const script = `source share/fish/vendor_completions.d/bunnynet-exporter.fish; complete -C '${line}'`;
      const answer = execFileSync(toolPath('fish'), ['--no-config', '-c', script], { encoding: 'utf8' });
      return answer.split('\n').flatMap((offer) => offer.split('\t')[0] || []);
    };
    expect(complete('bunnynet-exporter --log.l')).toEqual(['--log.level']);
    expect(complete('bunnynet-exporter --log.level=d')).toEqual(['--log.level=debug']);
    expect(complete('bunnynet-exporter --demo.scale ').sort()).toEqual(['full', 'medium', 'small']);
    expect(complete('bunnynet-exporter --web.config.file=package-l')).toEqual([
      '--web.config.file=package-lock.json',
    ]);
    expect(complete('bunnynet-exporter pack')).toEqual([]);
  });
});

describe('the man page', () => {
  const page = 'share/man/man1/bunnynet-exporter.1';

  it('passes mandoc', () => {
    // It has no date, so that only changes of flags change it, and its lines are not wrapped.
    const { stdout } = spawnSync(toolPath('mandoc'), ['-T', 'lint', '-W', 'warning', page], {
      encoding: 'utf8',
    });
    expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('missing date')]);
  });

  it('shows each flag, variable and exit code', () => {
    const text = execFileSync(toolPath('mandoc'), ['-T', 'ascii', '-O', 'width=1000', page], {
      encoding: 'utf8',
    });
    const plain = text.replaceAll(/.[\b]/g, '');
    const { stdout: help } = spawnSync(process.execPath, ['dist/bunnynet-exporter.js', '--help'], {
      encoding: 'utf8',
    });
    const usages = Array.from(help.matchAll(/^ +(--[a-z]\S*)/gm), ([, usage]) => usage);
    expect(usages.length).toBeGreaterThan(10);
    for (const usage of usages) expect(plain).toContain(` ${usage}`);
    for (const variable of help.match(/BUNNYNET_\w+/g) ?? []) expect(plain).toContain(variable);
    const codes = plain
      .split('EXIT STATUS')[1]
      ?.split('ENVIRONMENT')[0]
      ?.match(/^ +\d(?= )/gm);
    expect(codes?.map(Number)).toEqual([0, 1, 2, 3]);
  });
});

describe('--config.check on a terminal', () => {
  const check = (path: string) => `${exporter} --config.check --config.file='${path}'`;

  it('shows its tables in colour, and that all is good', () => {
    const env = { BUNNYNET_ACCESS_KEY: 'a', BUNNYNET_VIDEO_ACCESS_KEY: 'b' };
    const { shown, status } = onTerminal(check('config/bunnynet-exporter.example.yml'), env);
    expect(status).toBe(0);
    expect(shown).toContain('\u001B[2mkind ');
    expect(shown).toContain('the configuration is valid');
    const colourless = onTerminal(check('config/bunnynet-exporter.example.yml'), { ...env, NO_COLOR: '1' });
    expect(colourless.shown).toContain('✓ the configuration is valid');
    expect(colourless.shown.replaceAll(redrawn, '')).not.toContain('\u001B');
  });
});
