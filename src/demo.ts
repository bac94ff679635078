/** The embedded simulator and a configuration that exports all of it: no account needed. */

import { type Everything, everything } from '../simulator/everything.ts';
import { outageScript, playScript } from '../simulator/script.ts';
import { createSimulator, type SimulatedAccount } from '../simulator/simulator.ts';
import { demoAccounts } from './cli/flags.ts';
import type { Config } from './config/config.ts';
import { loadConfig } from './config/load.ts';
import { resources } from './resources/kinds/index.ts';
import { Credentials } from './secrets/credentials.ts';

/** How fast each size of the account is polled. */
const paces = {
  small: { completeWithinSeconds: 2, interval: '5s', staleAfter: '15s' },
  medium: { completeWithinSeconds: 10, interval: '30s', staleAfter: '90s' },
  full: { completeWithinSeconds: 40, interval: '2m', staleAfter: '6m' },
} as const;

/** Documented, for those who try a configuration of their own against the simulated API. The second account's ends in `-2`. */
const demoKey = 'the-key-of-the-demo';

export interface DemoOptions {
  readonly scale: keyof typeof paces;
  /** How many accounts, at most as many as have names. */
  readonly accounts: number;
  /** If given, the scripted outage is played; called at each of its steps with what it does. */
  readonly onOutageStep?: ((says: string) => void) | undefined;
}

export interface Demo {
  readonly config: Config;
  readonly credentials: Credentials;
  stop(): Promise<void>;
}

export async function startDemo({ scale, accounts, onOutageStep }: DemoOptions): Promise<Demo> {
  const simulator = createSimulator({ scale, accounts, keys: { account: demoKey } });
  await simulator.start();
  const { completeWithinSeconds, interval, staleAfter } = paces[scale];
  const api = (_name: string, polls: number) => ({
    // Only in the outage does anything hang. Else a busy machine alone could meet it.
    timeout: onOutageStep ? '5s' : '1m',
    max_concurrency: 32,
    requests_per_second: Math.max(10, Math.ceil(polls / completeWithinSeconds)),
  });
  const [name = '', ...names] = demoAccounts.slice(0, accounts);
  const others = Object.fromEntries(names.map((each, index) => [each, simulator.accounts[index + 1]]));
  const several = names.length > 0 && { name, others: others as Record<string, SimulatedAccount> };
  const loaded = await load(everything(simulator, { interval, staleAfter, api, ...several }));
  const outage = new AbortController();
  if (onOutageStep) {
    const script = outageScript(simulator.libraryIds);
    void playScript(simulator, script, ({ says }) => onOutageStep(says), outage.signal);
  }
  return {
    ...loaded,
    async stop() {
      outage.abort();
      await simulator.stop();
    },
  };
}

export async function load({ document, env }: Everything): Promise<Omit<Demo, 'stop'>> {
  const { config } = await loadConfig({ document, env, resources });
  return { config, credentials: new Credentials(config.credentials, env) };
}
