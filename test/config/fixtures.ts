/** Shared by the tests of the configuration: a temporary directory, and a file loaded from text. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { resources } from '../../src/resources/kinds/index.ts';

export const canary = 'canary-4f1d-KEY-77aa';
export const env = { BUNNYNET_ACCESS_KEY: canary, BUNNYNET_VIDEO_ACCESS_KEY: `${canary}-video` };

/** A directory that is removed after the test. */
export async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bunnynet-config-'));
  onTestFinished(async () => {
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

/** A kind of each form: a schema for all kinds takes 50 ms of CPU. */
export const fewKinds = resources.filter(({ kind }) =>
  ['application', 'shield_zone', 'api_guardian', 'rate_limit', 'video_storage', 'billing'].includes(kind),
);

/** Loads the text as `config.yml`. */
export async function load(
  text: string | Uint8Array,
  environment: Record<string, string> = env,
  kinds: LoadOptions['resources'] = fewKinds,
): Promise<LoadedConfig> {
  const file = join(await directory(), 'config.yml');
  await writeFile(file, text);
  return await loadConfig({ file, env: environment, resources: kinds });
}

/** The problems of the text, one per line, as the user reads them; empty if it loads. */
export async function problemsOf(
  text: string | Uint8Array,
  environment: Record<string, string> = env,
): Promise<readonly string[]> {
  return await linesOf(load(text, environment));
}

/** The lines of the `ConfigError` that the promise rejects with, without the directory of the file. */
export async function linesOf(loading: Promise<unknown>): Promise<readonly string[]> {
  try {
    await loading;
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replaceAll(/\/\S*\/(?=config\.yml)/g, '').split('\n');
  }
}

/** The required part of a file, so that a test writes only what it is about. */
export const account = 'credentials: { account: { env: BUNNYNET_ACCESS_KEY } }\n';
