import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Rows } from '../../src/exposition/rows.ts';

const row = (value: number) => `app_up{app_id="\u00e4\u{1F430}"} ${value}\n`;

/** What a compressed piece holds. */
async function inflated(rows: Rows): Promise<string> {
  const { deflated } = await rows.part.piece();
  const lastBlock = Buffer.from([3, 0]);
  return inflateRawSync(Buffer.concat([deflated, lastBlock])).toString();
}

describe('Rows', () => {
  it('has the rows by place, whatever the order in which they came', () => {
    const rows = new Rows();
    for (const place of [2, 0, 1, 2]) rows.set(place, row(place) + row(10));
    expect(rows.part.bytes.toString()).toBe([0, 1, 2].map((place) => row(place) + row(10)).join(''));
    rows.set(1, '');
    expect(rows.part.bytes.toString()).toBe([0, 2].map((place) => row(place) + row(10)).join(''));
    expect([0, 1, 2, 3].map((place) => rows.count(place))).toEqual([2, 0, 2, 0]);
  });

  it('tells whether the rows of a place changed', () => {
    const rows = new Rows();
    expect(rows.set(5, '')).toBe(false);
    expect(rows.set(5, row(1))).toBe(true);
    expect(rows.set(5, row(1))).toBe(false);
    expect(rows.set(5, row(2))).toBe(true);
    expect(rows.set(5, '')).toBe(true);
    expect(rows.part.bytes).toHaveLength(0);
  });

  it('leaves bytes that were read as they were', () => {
    const rows = new Rows();
    const read: [bytes: Buffer, text: string][] = [];
    for (let round = 0; round < 200; round++) {
      for (const place of [0, 1, 2]) rows.set(place, row(round * 7919 + place));
      read.push([rows.part.bytes, rows.part.bytes.toString()]);
    }
    for (const [bytes, text] of read) expect(bytes.toString()).toBe(text);
    expect(new Set(read.map(([, text]) => text)).size).toBe(200);
  });

  it('takes little more memory than its rows, however often they change', () => {
    const rows = new Rows();
    for (let round = 0; round < 50; round++) {
      for (let place = 0; place < 1000; place++) rows.set(place, row(round * 1000 + place));
    }
    expect(rows.part.bytes.buffer.byteLength).toBeLessThan(rows.part.bytes.length * 2);
  });

  it.each([
    ['small', 3],
    ['large', 3000],
  ])('compresses %s rows once, until one changes', async (_, places) => {
    const rows = new Rows();
    for (let place = 0; place < places; place++) rows.set(place, row(place));
    const piece = rows.part.piece();
    expect(await inflated(rows)).toBe(rows.part.bytes.toString());
    rows.set(1, row(1));
    expect(rows.part.piece()).toBe(piece);
    rows.set(1, row(7));
    expect(rows.part.piece()).not.toBe(piece);
    expect(await inflated(rows)).toBe(rows.part.bytes.toString());
  });
});
