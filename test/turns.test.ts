import { expect, test, vi } from 'vitest';
import { mapEach } from '../src/resources/pages.ts';
import { collect } from '../src/turns.ts';

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
