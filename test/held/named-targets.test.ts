/** Every kind, read with targets that the configuration names one by one. */
import { expect, it } from 'vitest';
import { resources } from '../../src/resources/index.ts';
import type { Resource } from '../../src/resources/resource.ts';
import { simulateAccount } from './account.ts';
import { startWhole } from './whole.ts';

/** Reads this kind once, with its targets named where they can be. Resolves with what differs from target to target, and wrong paths. */
async function readNamed({ kind, metricPrefix }: Resource) {
  const whole = await startWhole({
    ...simulateAccount({ kinds: [kind], isNamed: true }),
    inProcess: true,
  });
  await whole.poll();
  const states = whole.exporter.targets().map(({ state, lastFailure }) => lastFailure?.message ?? state);
  const up = Object.values(await whole.series(`${metricPrefix}_up`));
  return {
    states: new Set(states),
    up: new Set(up),
    wrongPaths: whole.requests.map(({ path }) => path).filter((path) => /\/(\/|$)/.test(path)),
  };
}

const read = { states: new Set(['ok']), up: new Set([1]), wrongPaths: [] };

it.each(resources.map((resource) => [resource.kind, resource] as const))('%s', async (_, resource) => {
  expect(await readNamed(resource)).toEqual(read);
});
