/** The demo, in this process, for those who try a configuration of their own there. test/main.test.ts runs it as it is built. */
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import type { ConfigDocument } from '../simulator/everything.ts';
import { describeConfig } from '../src/config/read.ts';
import { startDemo } from '../src/demo.ts';
import { resources } from '../src/resources/kinds/index.ts';
import { pollAll } from './simulator/page.ts';

const readme = readFileSync('README.md', 'utf8');

/** The APIs, as `/config` shows them. */
async function apisOf(options: Omit<Parameters<typeof startDemo>[0], 'scale'>) {
  const demo = await startDemo({ scale: 'small', ...options });
  onTestFinished(() => demo.stop());
  return (describeConfig(demo.config, resources) as Pick<ConfigDocument, 'apis'>).apis;
}

it('answers with the key of README.md', async () => {
  const own = await pollAll({
    document: {
      credentials: { account: { env: 'BUNNYNET_ACCESS_KEY' } },
      apis: await apisOf({ accounts: 1 }),
      pull_zones: { targets: 'all', include: 'w.*' },
    },
    env: { BUNNYNET_ACCESS_KEY: /^BUNNYNET_ACCESS_KEY=(\S+) npm start/m.exec(readme)?.[1] ?? '' },
  });
  expect(await own.page()).toContain('name="www"');
});

it('waits for answers as long as a busy machine may take, but gives up soon those that hang in its outage', async () => {
  const timeouts = async (onOutageStep?: () => void) =>
    new Set(Object.values(await apisOf({ accounts: 1, onOutageStep })).map(({ timeout }) => timeout));
  expect(await timeouts()).toEqual(new Set(['1m']));
  expect(await timeouts(() => undefined)).toEqual(new Set(['5s']));
});

it('with two accounts answers the file of README.md for a first try', async () => {
  const [, file = ''] = /A file for a first try:\n\n```yaml\n(.*?)```/s.exec(readme) ?? [];
  const { discovery, ...document } = parse(file) as ConfigDocument & { discovery: object };
  // These two show it, and the others take two seconds.
  const except = resources
    .filter(({ kind, isCostly }) => !isCostly && !/^(pull|shield)_zone$/.test(kind))
    .map(({ kind }) => kind);
  const own = await pollAll({
    document: {
      ...document,
      apis: await apisOf({ accounts: 2 }),
      discovery: { ...discovery, except },
    },
    env: {
      BUNNYNET_ACCESS_KEY: /=(the-key\S+) npm/.exec(readme)?.[1] ?? '',
      UMBRELLA_KEY: /`(the-key\S+-2)`/.exec(readme)?.[1] ?? '',
    },
  });
  const page = await own.page();
  expect(page).toMatch(/^bunnynet_pull_zone_info\{.*account="acme".*name="www".*\} 1$/m);
  expect(page).toMatch(/^bunnynet_pull_zone_info\{.*account="umbrella".*name="north-www".*\} 1$/m);
  expect(page).toContain('bunnynet_shield_zone_info{');
  expect(page).not.toMatch(/name="[^"]*staging"/);
});
