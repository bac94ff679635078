import { expect, it } from 'vitest';
import { KeyCheck } from '../../src/polling/key-check.ts';
import { configOf, planner, sectionConfig, targetConfig } from './fixtures.ts';

it('decides at once where everything that was asked with a key is refused, again and again', () => {
  const ids = Array.from({ length: 100 }, (_, i) => targetConfig({ app_id: `a${i}` }));
  const { polls } = planner().plan(configOf([sectionConfig('application', ids)]));
  const keys = new KeyCheck(() => undefined);
  for (const poll of polls) keys.add(poll);
  const verdicts: boolean[] = [];
  const refuseAll = () => {
    for (const poll of polls) keys.refused(poll, (isKeyRefused) => verdicts.push(isKeyRefused));
  };
  refuseAll();
  expect(verdicts).toHaveLength(polls.length);
  refuseAll();
  expect(verdicts).toEqual(Array.from({ length: 2 * polls.length }, () => true));
  expect(keys.refusedKeys('application')).toBe(1);
  expect(keys.refusedKeys('core')).toBe(0);
});

it('does not ask a poll again that is under way, because its answer is enough', () => {
  const asked: string[] = [];
  const loopOf = (key: string) => ({
    hasten: () => void asked.push(`hasten ${key}`),
    runNow: () => void asked.push(`run ${key}`),
  });
  let nowMs = 0;
  const { polls } = planner().plan(
    configOf([
      sectionConfig(
        'application',
        ['a', 'b'].map((id) => targetConfig({ app_id: id })),
      ),
    ]),
  );
  const [a, b] = polls;
  if (!a || !b) throw new Error('a poll is missing');
  const keys = new KeyCheck(loopOf, () => nowMs);
  for (const poll of polls) keys.add(poll);
  for (const poll of polls) keys.succeeded(poll);
  nowMs = 60_000;
  const verdicts: boolean[] = [];
  keys.refused(a, (isKeyRefused) => verdicts.push(isKeyRefused));
  expect(asked.splice(0)).toEqual(['hasten application/b']);
  expect(verdicts).toEqual([]);
  keys.succeeded(b);
  expect(verdicts).toEqual([false]);
});
