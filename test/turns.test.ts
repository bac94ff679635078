import { expect, test, vi } from 'vitest';
import { mapEach } from '../src/resources/pages.ts';
import { collect, nextTurn, ownTurn } from '../src/turns.ts';

test('of polls that have something to do at once, each has a turn of its own', async () => {
  const seen: string[] = [];
  const polls = ['first', 'second', 'third'].map((poll) => ownTurn().then(() => void seen.push(poll)));
  for (let turn = 1; turn <= 3; turn++) {
    await nextTurn();
    seen.push(`turn ${turn}`);
  }
  await Promise.all(polls);
  expect(seen).toEqual(['first', 'turn 1', 'second', 'turn 2', 'third', 'turn 3']);
});

test('a long list is mapped a few milliseconds at a time, with other work in between', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const seen: string[] = [];
  setImmediate(() => seen.push('another'));
  const items = mapEach([1, 2, 3, 4], (item) => {
    nowMs += 10;
    seen.push(`item ${item}`);
    return item * 2;
  });
  const mapped = await collect(items);
  vi.restoreAllMocks();
  expect(mapped).toEqual([2, 4, 6, 8]);
  expect(seen).toEqual(['item 1', 'another', 'item 2', 'item 3', 'item 4']);
});
