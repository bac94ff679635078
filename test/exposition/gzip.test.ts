import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflatePiece, endGzip, type Piece, startGzip } from '../../src/exposition/gzip.ts';

const rows = (bytes: number, seed: number) =>
  Buffer.from(`bunnynet_application_up{app_id="${seed}"} ${seed * 7919}\n`.repeat(bytes / 40)).subarray(
    0,
    bytes,
  );

/** ends: how many of the pieces come with the end of the member. */
function memberOf(pieces: readonly Piece[], ends = 0): Buffer {
  const at = pieces.length - ends;
  const start = startGzip(pieces.slice(0, at));
  return Buffer.concat([start.deflated, endGzip(start, pieces.slice(at))]);
}

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

describe('gzip', () => {
  it('joins pieces of any size to one member', async () => {
    const parts = [10, 200, 70_000, 5, 0, 65_536, 65_535, 1, 150_000, 30].map(rows);
    const file = memberOf(await Promise.all(parts.map(deflatePiece)));
    const whole = Buffer.concat(parts);
    expect(gunzipSync(file).equals(whole)).toBe(true);
    expect(onlyMember(file).equals(whole)).toBe(true);
    expect(file.length).toBeLessThan(whole.length / 10);
  });

  it('ends the same start with other pieces', async () => {
    const [first, second, third] = await Promise.all(
      [rows(70_000, 1), rows(30, 2), rows(5, 3)].map(deflatePiece),
    );
    if (!first || !second || !third) throw new Error('a piece is missing');
    const start = startGzip([first]);
    for (const last of [second, third, second]) {
      const file = Buffer.concat([start.deflated, endGzip(start, [last])]);
      expect(onlyMember(file).equals(Buffer.concat([first.bytes, last.bytes]))).toBe(true);
    }
  });

  it('makes an empty member if there are no pieces', () => {
    expect(onlyMember(memberOf([]))).toHaveLength(0);
  });

  it('accepts the same pieces in any order and selection, and pieces that do not compress', async () => {
    const parts = [
      ...Array.from({ length: 8 }, (_, i) => rows(i % 3 === 0 ? 70_000 : 2_500, i)),
      Buffer.from('\u{1F430}9'),
    ];
    const pieces = await Promise.all(parts.map(deflatePiece));
    fc.assert(
      fc.property(fc.shuffledSubarray(pieces), fc.nat(pieces.length), (some, ends) => {
        const whole = Buffer.concat(some.map(({ bytes }) => bytes));
        expect(onlyMember(memberOf(some, Math.min(ends, some.length))).equals(whole)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
