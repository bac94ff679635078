import { expect, it } from 'vitest';
import { load } from '../../src/demo.ts';
import { resources } from '../../src/resources/index.ts';
import { allKinds, operations } from '../../src/simulator/dataset.ts';
import { everything } from '../../src/simulator/everything.ts';
import { prefixes } from '../../src/simulator/kind.ts';
import { startSimulator } from './start.ts';

it('has a kind for each that the exporter reads, under the same name and section', () => {
  const named = (kinds: readonly { kind: string; section: string }[]) =>
    kinds.map(({ kind, section }) => `${kind}: ${section}`).toSorted();
  expect(named(allKinds)).toEqual(named(resources));
});

it('has no two operations of one name or one path', () => {
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  expect(new Set(operations.map(({ api, path }) => prefixes[api] + path)).size).toBe(operations.length);
});

it('is loaded by the exporter with every target of every kind', async () => {
  const simulator = await startSimulator();
  const { config } = await load(everything(simulator));
  for (const kind of allKinds) {
    const section = config.sections.find((one) => one.kind === kind.kind);
    expect(section?.targets, kind.kind).toHaveLength(kind.targets(simulator).length);
  }
});

it('gives each target the key that opens it, out of the environment', async () => {
  const simulator = await startSimulator();
  const { document, env } = everything(simulator);
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
  const simulator = await startSimulator();
  const { origin, applications, zones } = simulator;
  const { document, env } = everything(simulator, {
    kinds: ['application', 'shield_zone'],
    targetsPerKind: 1,
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
      video: { base_url: `${origin}/video`, timeout: '3s', requests_per_second: 0 },
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

it('leaves out a kind that has no target', async () => {
  const simulator = await startSimulator({ shape: { applications: 0, libraries: 0 } });
  const { document } = everything(simulator);
  expect(document).not.toHaveProperty('applications');
});
