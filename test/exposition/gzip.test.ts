import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deflatePiece, gzipOf } from '../../src/exposition/gzip.ts';
import { runs } from '../runs.ts';

/** The content of a file that is a single gzip member: some readers stop after the first one. */
function onlyMember(file: Buffer): Buffer {
  expect([...file.subarray(0, 4)]).toEqual([0x1f, 0x8b, 8, 0]);
  const { buffer, engine } = inflateRawSync(file.subarray(10), { info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  expect(10 + engine.bytesWritten + 8).toBe(file.length);
  expect(file.readUInt32LE(file.length - 8)).toBe(crc32(buffer));
  expect(file.readUInt32LE(file.length - 4)).toBe(buffer.length);
  return buffer;
}

it('joins pieces of any size, in any order, to one gzip member', () => {
  const parts = [0, 1, 5, 10, 200, 65_535, 65_536, 70_000, 300_000].map((bytes, seed) => {
    const row = `bunnynet_application_up{app_id="${seed}",account="account"} ${seed * 7919}\n`;
    return Buffer.from(row.repeat(bytes / 40 + 1)).subarray(0, bytes);
  });
  const pieces = [...parts, Buffer.from('\u{1F430}9')].map((bytes) => ({
    bytes,
    piece: deflatePiece(bytes.length, (to) => bytes.copy(to)),
  }));
  fc.assert(
    fc.property(fc.shuffledSubarray(pieces), (some) => {
      const file = Buffer.concat(gzipOf(some.map(({ piece }) => piece)));
      const whole = Buffer.concat(some.map(({ bytes }) => bytes));
      expect(onlyMember(file).equals(whole)).toBe(true);
      expect(gunzipSync(file).equals(whole)).toBe(true);
    }),
    { numRuns: runs(15, 400) },
  );
});
