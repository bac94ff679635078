/** The simulator as the demo has it, with the configuration that exports all of it. In a file of its own, which only the demo loads. */
import { type Everything, everything } from './everything.ts';
import { outageScript, playScript } from './script.ts';
import { createSimulator, type SimulatedAccount } from './simulator.ts';

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
  /** What the accounts are called. */
  readonly accounts: readonly string[];
  /** If given, the scripted outage is played; called at each of its steps with what it does. */
  readonly onOutageStep?: ((says: string) => void) | undefined;
}

/** Starts the simulator. */
export async function startSimulated({
  scale,
  accounts,
  onOutageStep,
}: DemoOptions): Promise<Everything & { readonly stop: () => Promise<void> }> {
  const simulator = createSimulator({ scale, accounts: accounts.length, keys: { account: demoKey } });
  await simulator.start();
  const { completeWithinSeconds, interval, staleAfter } = paces[scale];
  const api = (_name: string, polls: number) => ({
    // Only in the outage does anything hang. Else a busy machine alone could meet it.
    timeout: onOutageStep ? '5s' : '1m',
    max_concurrency: 32,
    requests_per_second: Math.max(10, Math.ceil(polls / completeWithinSeconds)),
  });
  const [name = '', ...names] = accounts;
  const others = Object.fromEntries(names.map((each, index) => [each, simulator.accounts[index + 1]]));
  const several = names.length > 0 && { name, others: others as Record<string, SimulatedAccount> };
  const outage = new AbortController();
  if (onOutageStep) {
    const script = outageScript(simulator.libraryIds);
    void playScript(simulator, script, ({ says }) => onOutageStep(says), outage.signal);
  }
  return {
    ...everything(simulator, { interval, staleAfter, api, ...several }),
    async stop() {
      outage.abort();
      await simulator.stop();
    },
  };
}
