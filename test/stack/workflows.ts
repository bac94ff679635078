/** The workflows of this repository, as text and parsed. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { root } from './tools.ts';

export interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | boolean>>;
}
export interface Job {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
  readonly strategy?: {
    readonly matrix?: Readonly<Record<string, readonly unknown[]>> & {
      readonly include?: readonly Readonly<Record<string, string>>[];
    };
  };
}
export interface Workflow {
  readonly on: { readonly push?: { readonly tags?: readonly string[] } };
  readonly permissions?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = `${root}.github/workflows`;
export const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(`${folder}/${name}`, 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});
