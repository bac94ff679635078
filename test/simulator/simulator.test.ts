import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('draws each sort of entity from its own stream of random numbers', () => {
  const folder = 'simulator/kinds';
  const code = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  const calls = code.flatMap((text) => text.match(/\bentities\([^)]*/g) ?? []);
  const streams = calls.map((call) => Number(/^entities\(\s*\w+,\s*(\d+),/.exec(call)?.[1]));
  expect(streams.length).toBeGreaterThan(10);
  expect(streams, 'a stream is a number').not.toContain(Number.NaN);
  const taken = streams.filter((stream, at) => streams.indexOf(stream) < at);
  expect(taken, `use ${Math.max(...streams) + 1} instead, which is free`).toEqual([]);
});
