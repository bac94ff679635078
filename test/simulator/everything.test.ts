import { expect, it } from 'vitest';
import { load } from '../../src/demo.ts';
import { resources } from '../../src/resources/index.ts';
import { allKinds, operations } from '../../src/simulator/dataset.ts';
import { everything } from '../../src/simulator/everything.ts';
import { prefixes } from '../../src/simulator/kind.ts';
import { startSimulator } from './start.ts';

it('has every kind of the exporter, under the same name and section', () => {
  const named = (kinds: readonly { kind: string; section: string }[]) =>
    kinds.map(({ kind, section }) => `${kind}: ${section}`).toSorted();
  expect(named(allKinds)).toEqual(named(resources));
});

it('has no two operations with the same name or path', () => {
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  expect(new Set(operations.map(({ api, path }) => prefixes[api] + path)).size).toBe(operations.length);
});

it('is loaded by the exporter as every target of every kind, with one key', async () => {
  const simulator = await startSimulator();
  const { document, env } = everything(simulator);
  expect(Object.keys(document.credentials)).toEqual(['account']);
  expect(Object.values(env)).toEqual([simulator.keys.account]);
  const { config } = await load({ document, env });
  const loaded = config.sections.map(({ kind, targets }) => `${kind}: ${JSON.stringify(targets)}`);
  expect(loaded.toSorted()).toEqual(allKinds.map(({ kind }) => `${kind}: "all"`).toSorted());
});

it('is loaded with every target of every kind if they are named one by one', async () => {
  const simulator = await startSimulator();
  const { config } = await load(everything(simulator, { isNamed: true }));
  for (const kind of allKinds) {
    const section = config.sections.find((one) => one.kind === kind.kind);
    const targets = kind.targets(simulator);
    // Accounts cannot be named: there is one for each credential.
    if (targets.every(({ ids }) => Object.keys(ids).length === 0)) expect(section?.targets).toBe('all');
    else expect(section?.targets, kind.kind).toHaveLength(targets.length);
  }
});

it('gives each target its key from the environment', async () => {
  const simulator = await startSimulator();
  const { document, env } = everything(simulator, { isNamed: true });
  const [library = ''] = simulator.libraryIds;
  expect(document.credentials).toMatchObject({
    account: { env: 'ACCOUNT_KEY' },
    [`library-${library}`]: { env: `LIBRARY_${library}_KEY` },
  });
  expect(env['ACCOUNT_KEY']).toBe(simulator.keys.account);
  expect(env[`LIBRARY_${library}_KEY`]).toBe(simulator.keys.libraries[library]);
  expect(JSON.stringify(document)).not.toContain(simulator.keys.account);
});

it('has only the kinds, the targets and the settings that were asked for, and the address of every API', async () => {
  const simulator = await startSimulator({ shape: { applications: 1 } });
  const { origin, applications, zones } = simulator;
  const { document, env } = everything(simulator, {
    kinds: ['application', 'shield_zone'],
    isNamed: true,
    interval: '2s',
    staleAfter: '5s',
    api: (name, polls) => ({ timeout: name === 'shield' ? '1s' : '3s', requests_per_second: 10 * polls }),
    sections: { application: { latency_chart: 'points' }, shield_zone: { targets: 'all' } },
  });
  expect(document).toEqual({
    credentials: { account: { env: 'ACCOUNT_KEY' } },
    apis: {
      application: { base_url: `${origin}/mc`, timeout: '3s', requests_per_second: 10 },
      shield: { base_url: origin, timeout: '1s', requests_per_second: 10 },
      core: { base_url: origin, timeout: '3s', requests_per_second: 0 },
      video: { base_url: `${origin}/video`, timeout: '3s', requests_per_second: 0 },
      origin_errors: { base_url: `${origin}/origin-errors`, timeout: '3s', requests_per_second: 0 },
    },
    applications: {
      credential: 'account',
      interval: '2s',
      stale_after: '5s',
      latency_chart: 'points',
      targets: [{ id: applications[0]?.id, name: applications[0]?.name }],
    },
    shield_zones: { credential: 'account', interval: '2s', stale_after: '5s', targets: 'all' },
  });
  expect(Object.keys(env)).toEqual(['ACCOUNT_KEY']);
  expect(zones.length).toBeGreaterThan(1);
});

it('leaves out a kind whose targets cannot be named', async () => {
  const simulator = await startSimulator({ shape: { applications: 0, libraries: 0 } });
  const { document } = everything(simulator, { isNamed: true });
  expect(document).not.toHaveProperty('applications');
});
