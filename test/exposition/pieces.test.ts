import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { gzipOf } from '../../src/exposition/gzip.ts';
import { Pieces } from '../../src/exposition/pieces.ts';
import { Store } from '../../src/exposition/store.ts';

/** A store with a target of many families, and the pieces of its page. */
function filled(families: number, rows = 100) {
  const store = new Store(
    Array.from({ length: families }, (_, at) => ({
      name: `app_${at}`,
      help: `The figure ${at} of the application.`,
      type: 'gauge',
      kind: 'app',
    })),
  );
  const stored = store.add('app', { id: 'a' });
  const pieces = new Pieces();
  /** The rows of a family take some 20 bytes each. */
  const set = (family: number, rows: number, value = 0) => {
    const samples = Array.from({ length: rows }, (_, row) => ({ labels: { row: `${row}` }, value }));
    stored.setFamily({ family, samples });
  };
  for (let at = 0; at < families; at++) set(at, rows);
  return { store, set, pieces: () => pieces.of(store.families(), 'text') };
}

it('compresses again the piece with the family that changed, and no other', () => {
  const { pieces, set } = filled(300);
  const before = pieces();
  // The same value again is no change.
  set(150, 100);
  expect(pieces().filter((piece, at) => piece !== before[at])).toEqual([]);
  set(150, 100, 7);
  const changed = pieces().filter((piece, at) => piece !== before[at]);
  expect(changed).toHaveLength(1);
  expect(before.length).toBeGreaterThan(5);
});

it('keeps the pieces after a family that grows or shrinks, until its own has twice or half the bytes', () => {
  const { pieces, set } = filled(300);
  const kept = (before: readonly unknown[]) => pieces().filter((piece) => before.includes(piece)).length;
  const before = pieces();
  set(0, 1000);
  expect(kept(before)).toBe(before.length - 1);
  set(0, 0);
  expect(kept(before)).toBe(before.length - 1);
  set(0, 5000);
  expect(kept(before)).toBe(0);
});

it('keeps a large family as it is when a small one beside it changes', () => {
  const { pieces, set } = filled(3);
  set(1, 5000);
  const before = pieces();
  set(0, 100, 7);
  set(2, 100, 7);
  const kept = pieces().filter((piece) => before.includes(piece));
  expect(kept.map(({ length }) => length > 64 * 1024)).toEqual([true]);
});

it('takes little more than gzip alone, although the families are small', () => {
  const { pieces, set, store } = filled(400, 0);
  for (let at = 0; at < 400; at++) set(at, 5, at * 7919);
  const size = Buffer.concat(gzipOf(pieces())).length;
  expect(size).toBeLessThan(1.3 * gzipSync(Buffer.concat(store.page('text'))).length);
});
