/** Every kind, read with targets that the configuration names one by one. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { resources } from '../../src/resources/kinds/index.ts';
import { isReadAlone, type Listing, type ReadResource, type Resource } from '../../src/resources/resource.ts';
import { runs } from '../runs.ts';
import { few } from '../simulator/start.ts';
import { simulateAccount } from './account.ts';
import { startWhole } from './whole.ts';

/** Reads this kind once, with its targets named where they can be. Resolves with what differs from target to target, and wrong paths. */
async function readNamed({ kind, metricPrefix }: Resource) {
  const whole = await startWhole({
    ...simulateAccount({ shape: runs(few, undefined), kinds: [kind], isNamed: true }),
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

describe('a kind that is read with a listing below a parent', () => {
  /** What is listed below something, with a request of its own for each reading. */
  const below = resources.filter(
    (resource): resource is ReadResource => isReadAlone(resource) && resource.listing?.parent !== undefined,
  );

  it.each(below.map((resource) => [resource.kind, resource] as const))(
    'as %s would be if its listing had the readings',
    async (_, resource) => {
      const { read: _read, nothing, listing, ...others } = resource;
      if (!listing) throw new Error(`${resource.kind} has no listing`);
      const discover: Listing['discover'] = async (...asked) => {
        const { found, ...run } = await listing.discover(...asked);
        return { ...run, found: Array.from(found, (one) => ({ ...one, reading: nothing })) };
      };
      const listed = { ...others, listing: { ...listing, discover } } as Resource;
      const all = resources as Resource[];
      const at = all.indexOf(resource);
      all[at] = listed;
      onTestFinished(() => {
        all[at] = resource;
      });
      expect(await readNamed(listed)).toEqual(read);
    },
  );
});
