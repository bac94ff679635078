/**
 * Runs the tools that tools.sh installs, and returns their output. It knows where they are, not what they check.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const tools = `${root}.cache/tools`;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** The standard input of the program. */
  readonly input?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

execFileSync(`${root}test/stack/tools.sh`, { stdio: ['ignore', 'ignore', 'inherit'] });

/** Runs a program to its end in the root of the project; tools of tools.sh by their bare names. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Outcome {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: options.cwd ?? root,
    encoding: 'utf8',
    env: { ...process.env, ...options.env, PATH: `${tools}/bin:${process.env['PATH']}` },
    input: options.input,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw error;
  return { code: status ?? -1, stdout, stderr };
}

/** The same, but rejects with the whole output unless it succeeds. */
export function succeed(program: string, args: readonly string[], options: RunOptions = {}): string {
  const { code, stdout, stderr } = run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ends with ${code}\n${stdout}\n${stderr}`);
  return stdout;
}
