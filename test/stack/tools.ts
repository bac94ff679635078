/**
 * Runs the tools that tools.sh installs, and says what they answered. It knows where they lie, not what they check.
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
  /** What the program reads from its standard input. */
  readonly input?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

execFileSync(`${root}test/stack/tools.sh`, { stdio: ['ignore', 'ignore', 'inherit'] });

/** Runs a program to its end, from the root of the project; a tool of tools.sh by its bare name. */
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

/** The same, where only success will do: rejects with everything that the program said. */
export function succeed(program: string, args: readonly string[], options: RunOptions = {}): string {
  const { code, stdout, stderr } = run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ends with ${code}\n${stdout}\n${stderr}`);
  return stdout;
}
