/** What is left of a configuration when some of its accounts are not read. */
import type { Config } from './config.ts';

/** No section lists anything of these accounts, and no target is read with their keys. */
export function withoutAccounts(config: Config, left: readonly string[]): Config {
  if (left.length === 0) return config;
  const isRead = (account: string) => !left.includes(account);
  const sections = config.sections.map((section) => ({
    ...section,
    accounts: section.accounts.filter(isRead),
    targets:
      section.targets === 'all'
        ? section.targets
        : section.targets.filter(({ credential }) => isRead(credential)),
  }));
  return { ...config, accounts: config.accounts.filter(isRead), sections };
}
