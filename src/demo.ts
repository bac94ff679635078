/** The embedded simulator and a configuration that exports all of it: no account needed. */

import type { DemoOptions } from '../simulator/demo.ts';
import type { Everything } from '../simulator/everything.ts';
import { demoAccounts } from './cli/flags.ts';
import type { Config } from './config/config.ts';
import { loadConfig } from './config/load.ts';
import { resources } from './resources/kinds/index.ts';
import { Credentials } from './secrets/credentials.ts';

export interface Demo {
  readonly config: Config;
  readonly credentials: Credentials;
  stop(): Promise<void>;
}

/** accounts: how many, at most as many as have names. */
export async function startDemo({
  accounts,
  ...options
}: Omit<DemoOptions, 'accounts'> & { readonly accounts: number }): Promise<Demo> {
  // A service does not load the simulator.
  const { startSimulated } = await import('../simulator/demo.ts');
  const { stop, ...all } = await startSimulated({ ...options, accounts: demoAccounts.slice(0, accounts) });
  return { ...(await load(all)), stop };
}

export async function load({ document, env }: Everything): Promise<Omit<Demo, 'stop'>> {
  const { config } = await loadConfig({ document, env, resources });
  return { config, credentials: new Credentials(config.credentials, env) };
}
