import { describe, expect, it } from 'vitest';
import { compareListed, describeDiscovery } from '../../src/polling/listed-things.ts';

const one = (id: string, name?: string) => ({ ids: { shield_zone_id: id }, name });

describe('what a listing has found', () => {
  it('is the same object if nothing has changed, so that nothing has to be compared', () => {
    const { listed } = compareListed(undefined, [one('1', 'www'), one('2')]);
    expect(compareListed(listed, [one('1', 'www'), one('2')]).listed).toBe(listed);
  });

  it('keeps unchanged objects, and counts what came, left and was renamed', () => {
    const { listed } = compareListed(undefined, [one('1', 'www'), one('2', 'shop'), one('3')]);
    const next = compareListed(listed, [one('1', 'www'), one('2', 'store'), one('4')]);
    expect(next).toMatchObject({ added: 1, removed: 1, renamed: 1 });
    expect(next.listed[0]).toBe(listed[0]);
    expect(next.listed.map(({ name }) => name)).toEqual(['www', 'store', undefined]);
    expect(describeDiscovery(next)).toBe('+1 −1, 1 renamed');
  });

  it('replaces an object whose features have changed', () => {
    const plain = { ...one('1', 'www'), features: ['waf'] };
    const { listed } = compareListed(undefined, [plain, one('2')]);
    expect(compareListed(listed, [{ ...plain }, one('2')]).listed).toBe(listed);
    const switched = compareListed(listed, [{ ...plain, features: [] }, one('2')]);
    expect(switched.listed[0]).toEqual({ ...plain, features: [] });
    expect(switched.listed[1]).toBe(listed[1]);
  });

  it('replaces an object that another thing gives its name from now on', () => {
    const { listed } = compareListed(undefined, [{ ...one('1'), namedBy: '7' }]);
    expect(compareListed(listed, [{ ...one('1'), namedBy: '7' }]).listed).toBe(listed);
    expect(compareListed(listed, [{ ...one('1'), namedBy: '8' }]).listed[0]?.namedBy).toBe('8');
  });

  it('has an id only once, even if it comes twice', () => {
    expect(compareListed(undefined, [one('1', 'a'), one('1', 'b')])).toMatchObject({ added: 1 });
  });

  it('does not keep the readings that came with it', () => {
    const { listed } = compareListed(undefined, [{ ...one('1'), reading: { large: true } }]);
    expect(listed).toEqual([one('1')]);
  });
});
