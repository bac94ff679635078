import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory with these files, removed after the test. */
export function temporary(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'web-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(directory, name), content, { mode: 0o600 });
  return directory;
}
