/** findings/: every script has the form that CONTRIBUTING.md describes. Nothing is run here. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const names = readdirSync('findings');

describe.each(names)('%s', (name) => {
  const path = `findings/${name}`;
  const text = readFileSync(path, 'utf8');
  const [head = ''] = text.split('\nset -euo pipefail\n');

  it('is a script that says what was guessed, what happens, who meets it, and when it was seen', () => {
    expect(name).toMatch(/^[a-z-]+\.sh$/);
    expect(statSync(path).mode & 0o111).toBe(0o111);
    const parts = [...head.matchAll(/^# ([A-Z][a-z ]+):/gm)].map(([, part]) => part);
    expect(parts).toEqual(['Guessed', 'Happens', 'Who meets it', 'Seen', 'Output']);
    expect(head).toMatch(/^# Seen: \d{4}-\d\d-\d\d, .*\d\.\d/m);
  });

  it('takes packages of an exact version, and nothing of this project', () => {
    const install = /(?:go install|(?:pip|apt-get)\b.*\b(?:install|download)) (?:.*\\\n)*.*/g;
    const installed = [...text.matchAll(install)].map(([command]) => command);
    for (const command of installed) expect(command).toMatch(/@v\d+\.\d+\.\d+$|=[\w.+-]*\d|\$1==\$2/);
    const required = text.match(/ v\d+\.\d+\.\d+\S*$|= "=\d+\.\d+\.\d+"$/gm) ?? [];
    expect(installed.length + required.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/@latest|bunny/i);
  });

  it('works in a folder that it removes, and names no host but this one', () => {
    expect(text).toMatch(/^work=\$\(mktemp -d\)$/m);
    expect(text).toMatch(/^trap '.*rm -rf "\$work"' EXIT$/m);
    expect(text).not.toMatch(/\b(?!127\.)\d+\.\d+\.\d+\.\d+:|:\/\/(?!127\.0\.0\.1|\$api)/);
  });
});
