import { expect, it } from 'vitest';
import { allKinds } from '../../simulator/dataset.ts';
import { everything } from '../../simulator/everything.ts';
import { load } from '../../src/demo.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { startSimulator } from './start.ts';

it('has every kind of the exporter, under the same name and section', () => {
  const named = (kinds: readonly { kind: string; section: string }[]) =>
    kinds.map(({ kind, section }) => `${kind}: ${section}`).toSorted();
  expect(named(allKinds)).toEqual(named(resources));
});

it('is loaded with every target of every kind if they are named one by one, and has no key in it', async () => {
  const simulator = await startSimulator();
  const { document, env } = everything(simulator, { isNamed: true });
  const { config } = await load({ document, env });
  for (const kind of allKinds) {
    const section = config.sections.find((one) => one.kind === kind.kind);
    const targets = kind.targets(simulator);
    // Accounts cannot be named: there is one for each credential.
    if (targets.every(({ ids }) => Object.keys(ids).length === 0)) expect(section?.targets).toBe('all');
    else expect(section?.targets, kind.kind).toHaveLength(targets.length);
  }
  expect(JSON.stringify(document)).not.toContain(simulator.keys.account);
});
