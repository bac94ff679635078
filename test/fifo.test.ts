import { expect, it } from 'vitest';
import { Fifo } from '../src/fifo.ts';

it('gives the items in the order in which they came, however pushing and shifting alternate', () => {
  const fifo = new Fifo<number>();
  const expected: number[] = [];
  let next = 0;
  for (let round = 0; round < 200; round++) {
    for (let n = 0; n < (round * 7) % 11; n++) {
      fifo.push(next);
      expected.push(next++);
    }
    for (let n = 0; n < (round * 5) % 13; n++) expect(fifo.shift()).toBe(expected.shift());
    expect(fifo.length).toBe(expected.length);
  }
  while (expected.length > 0) expect(fifo.shift()).toBe(expected.shift());
  expect([fifo.shift(), fifo.length]).toEqual([undefined, 0]);
});
