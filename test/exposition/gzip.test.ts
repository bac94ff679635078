import { syncBuiltinESMExports } from 'node:module';
import zlib, { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { Gzip } from '../../src/exposition/gzip.ts';

const { deflateRaw } = zlib;
const deflates = vi.spyOn(zlib, 'deflateRaw');
syncBuiltinESMExports();
afterEach(() => void deflates.mockReset());
afterAll(() => {
  deflates.mockRestore();
  syncBuiltinESMExports();
});

const rows = (bytes: number, seed: number) =>
  Buffer.from(`bunnynet_application_up{app_id="${seed}"} ${seed * 7919}\n`.repeat(bytes / 40)).subarray(
    0,
    bytes,
  );

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

describe('Gzip', () => {
  it('joins all parts, small and big, to one member', async () => {
    const sizes = [10, 200, 70_000, 5, 0, 65_536, 65_535, 1, 150_000, 30];
    const parts = sizes.map(rows);
    const file = Buffer.concat(await new Gzip().compress([parts, [rows(100, 77)]]));
    const whole = Buffer.concat([...parts, rows(100, 77)]);
    expect(gunzipSync(file).equals(whole)).toBe(true);
    expect(onlyMember(file).equals(whole)).toBe(true);
    expect(file.length).toBeLessThan(whole.length / 10);
  });

  it('makes an empty member if there are no parts', async () => {
    expect(onlyMember(Buffer.concat(await new Gzip().compress([])))).toHaveLength(0);
  });

  it('accepts the same parts in any order and selection', async () => {
    const gzip = new Gzip();
    const parts = Array.from({ length: 12 }, (_, i) => rows(i % 3 === 0 ? 70_000 : 25_000, i));
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(parts), fc.shuffledSubarray(parts), async (one, other) => {
        const files = await Promise.all([gzip.compress([one, other]), gzip.compress([other])]);
        expect(onlyMember(Buffer.concat(files[0])).equals(Buffer.concat([...one, ...other]))).toBe(true);
        expect(onlyMember(Buffer.concat(files[1])).equals(Buffer.concat(other))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('deflates no part twice, neither later nor at the same time', async () => {
    const gzip = new Gzip();
    const parts = Array.from({ length: 5 }, (_, i) => rows(70_000, i));
    await Promise.all([gzip.compress([parts]), gzip.compress([parts.slice(1)])]);
    expect(deflates).toHaveBeenCalledTimes(5);
    const changed = [rows(70_000, 99), ...parts.slice(1)];
    const file = Buffer.concat(await gzip.compress([changed]));
    expect(onlyMember(file).equals(Buffer.concat(changed))).toBe(true);
    expect(deflates).toHaveBeenCalledTimes(6);
  });

  it('deflates no more than two parts at the same time, of a later page neither', async () => {
    let running = 0;
    let most = 0;
    deflates.mockImplementation((part, options, done) => {
      most = Math.max(most, ++running);
      deflateRaw(part, options, (error, deflated) => {
        running--;
        done(error, deflated);
      });
    });
    const gzip = new Gzip();
    const parts = Array.from({ length: 30 }, (_, i) => rows(70_000, i));
    await Promise.all([gzip.compress([parts.slice(0, 12)]), gzip.compress([parts.slice(8, 20)])]);
    await gzip.compress([parts.slice(20)]);
    expect(deflates).toHaveBeenCalledTimes(30);
    expect(most).toBe(2);
  });

  it('fails if a part fails, and works again the next time', async () => {
    const gzip = new Gzip(1);
    deflates.mockImplementationOnce((_part, _options, done) => {
      done(new Error('out of memory'), Buffer.alloc(0));
    });
    const parts = [rows(20_000, 1)];
    await expect(gzip.compress([parts])).rejects.toThrow('out of memory');
    expect(onlyMember(Buffer.concat(await gzip.compress([parts])))).toEqual(parts[0]);
  });
});
