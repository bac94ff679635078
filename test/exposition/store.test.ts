import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FamilyHeader, type Format, renderEnd } from '../../src/exposition/format.ts';
import { renderNumber } from '../../src/exposition/number.ts';
import type { Page, Store } from '../../src/exposition/store.ts';
import type { FamilySamples } from '../../src/exposition/target-rows.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { KeyedStore } from './keyed-store.ts';

/** In bytes, without garbage. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const families: readonly FamilyHeader[] = [
  { name: 'app_up', help: 'Whether the last poll succeeded.', type: 'gauge', kind: 'app' },
  { name: 'app_info', help: 'Its "name" \\ and\nmore.', type: 'info', kind: 'app' },
  { name: 'app_latency_seconds', help: 'Latency.', type: 'gauge', unit: 'seconds', kind: 'app' },
  { name: 'zone_up', help: 'Whether the last poll succeeded.', type: 'gauge', kind: 'zone' },
];

const single = (family: number, value: number): FamilySamples => ({ family, samples: [{ value }] });

async function text(store: Store, format: Format = 'text', kinds?: ReadonlySet<string>): Promise<string> {
  const { parts } = await store.page(format, kinds);
  return Buffer.concat([...parts, ...renderEnd(format)]).toString();
}

describe('Store', () => {
  it('shows families in their order, each below its header, and none without rows', async () => {
    const store = new KeyedStore(families);
    store.replace('zone/1', 'zone', { zone_id: '1' }, [single(3, 0)]);
    store.replace('app/a', 'app', { app_id: 'a' }, [
      single(0, 1),
      { family: 1, samples: [{ labels: { name: 'shop', tier: 'x' }, value: 1 }] },
    ]);
    store.replace('app/b', 'app', { app_id: 'b' }, [single(0, 0)]);
    expect(await text(store)).toBe(`\
# HELP app_up Whether the last poll succeeded.
# TYPE app_up gauge
app_up{app_id="a"} 1
app_up{app_id="b"} 0
# HELP app_info Its "name" \\\\ and\\nmore.
# TYPE app_info gauge
app_info{app_id="a",name="shop",tier="x"} 1
# HELP zone_up Whether the last poll succeeded.
# TYPE zone_up gauge
zone_up{zone_id="1"} 0
`);
  });

  it('shows the same rows as OpenMetrics, with info type, unit and end', async () => {
    const store = new KeyedStore(families);
    store.replace('app/a', 'app', { app_id: 'a' }, [
      { family: 1, samples: [{ labels: { name: 'shop' }, value: 1 }] },
      single(2, 0.25),
    ]);
    expect(await text(store, 'openmetrics')).toBe(`\
# TYPE app info
# HELP app Its \\"name\\" \\\\ and\\nmore.
app_info{app_id="a",name="shop"} 1
# TYPE app_latency_seconds gauge
# UNIT app_latency_seconds seconds
# HELP app_latency_seconds Latency.
app_latency_seconds{app_id="a"} 0.25
# EOF
`);
  });

  describe('with a counter', () => {
    const total = {
      name: 'app_sent_bytes_total',
      help: 'Sent.',
      type: 'counter',
      unit: 'bytes',
      kind: 'app',
    };
    const counters = [total, families[0]] as readonly FamilyHeader[];
    const sent = (value: number, name = 'x', createdSeconds = 1.5): FamilySamples => ({
      family: 0,
      samples: [{ labels: { name }, value, createdSeconds }],
    });

    it('names it as each format does, and tells in OpenMetrics when it began', async () => {
      const store = new KeyedStore(counters);
      store.replace('app/a', 'app', { app_id: 'a' }, [sent(7)]);
      store.replace('app/b', 'app', { app_id: 'b' }, [sent(8, '_total\n_created{', 2e9)]);
      expect(await text(store)).toBe(`\
# HELP app_sent_bytes_total Sent.
# TYPE app_sent_bytes_total counter
app_sent_bytes_total{app_id="a",name="x"} 7
app_sent_bytes_total{app_id="b",name="_total\\n_created{"} 8
`);
      expect(await text(store, 'openmetrics')).toBe(`\
# TYPE app_sent_bytes counter
# UNIT app_sent_bytes bytes
# HELP app_sent_bytes Sent.
app_sent_bytes_created{app_id="a",name="x"} 1.5
app_sent_bytes_total{app_id="a",name="x"} 7
app_sent_bytes_created{app_id="b",name="_total\\n_created{"} 2000000000
app_sent_bytes_total{app_id="b",name="_total\\n_created{"} 8
# EOF
`);
    });

    it('keeps the row when its value or its neighbours change, and takes both lines with the target', async () => {
      const store = new KeyedStore(counters);
      store.replace('app/a', 'app', { app_id: 'a' }, [sent(7)]);
      await text(store, 'openmetrics');
      store.replace('app/a', 'app', { app_id: 'a' }, [sent(9), single(1, 1)]);
      const page = await text(store, 'openmetrics');
      expect(page).toContain(
        'app_sent_bytes_created{app_id="a",name="x"} 1.5\napp_sent_bytes_total{app_id="a",name="x"} 9\n',
      );
      store.remove('app/a');
      expect(await text(store, 'openmetrics')).toBe('# EOF\n');
    });

    it('gives the very same bytes again as long as nothing changes, in each format', async () => {
      const store = new KeyedStore(counters);
      store.replace('app/a', 'app', { app_id: 'a' }, [sent(7)]);
      for (const format of ['text', 'openmetrics'] as const) {
        const before = await store.page(format);
        const after = await store.page(format);
        expect(after.parts.every((part, at) => part === before.parts[at])).toBe(true);
        before.release();
        after.release();
      }
      const held = await store.page('text');
      store.replace('app/a', 'app', { app_id: 'a' }, [sent(8)]);
      await text(store);
      expect(Buffer.concat(held.parts).toString()).toContain('{app_id="a",name="x"} 7\n');
    });
  });

  it('is empty without series', async () => {
    expect(await text(new KeyedStore(families))).toBe('');
    expect(await text(new KeyedStore(families), 'openmetrics')).toBe('# EOF\n');
  });

  it('narrows to kinds', async () => {
    const store = new KeyedStore(families);
    store.replace('zone/1', 'zone', { zone_id: '1' }, [single(3, 0)]);
    store.replace('app/a', 'app', { app_id: 'a' }, [single(0, 1)]);
    expect(await text(store, 'text', new Set(['zone']))).toBe(
      '# HELP zone_up Whether the last poll succeeded.\n# TYPE zone_up gauge\nzone_up{zone_id="1"} 0\n',
    );
  });

  it('escapes label values and keeps their bytes valid UTF-8', async () => {
    const store = new KeyedStore(families);
    const name = 'a\\b\n"c" é 漢 🐰 \uD83D.\uDC30';
    store.replace('app/a', 'app', { app_id: 'a' }, [
      { family: 1, samples: [{ labels: { name }, value: 1 }] },
    ]);
    expect(await text(store)).toContain(
      'app_info{app_id="a",name="a\\\\b\\n\\"c\\" é 漢 🐰 \uFFFD.\uFFFD"} 1\n',
    );
  });

  it.each([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-Number.MAX_VALUE, '-1.7976931348623157e+308'],
    [1.7e21, '1.7e+21'],
    [2 ** 53, '9007199254740992'],
  ])('writes %d as %s', async (value, written) => {
    const store = new KeyedStore(families);
    store.replace('app/a', 'app', {}, [single(0, value)]);
    expect((await text(store)).split('\n')[2]).toBe(`app_up ${written}`);
  });

  it('gives the very same bytes while nothing changed, at once', async () => {
    const store = new KeyedStore(families);
    const rows = [single(0, 1), single(2, Number.NaN)];
    store.replace('app/a', 'app', { app_id: 'a' }, rows);
    const { parts } = await store.page('text');
    store.replace('app/a', 'app', { app_id: 'a' }, structuredClone(rows));
    const again = store.page('text') as Page;
    expect(again.parts).toHaveLength(parts.length);
    for (const [i, part] of again.parts.entries()) expect(part).toBe(parts[i]);
  });

  it('renders only the block that changed', async () => {
    const store = new KeyedStore(families, { blockRows: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) store.replace(id, 'app', { app_id: id }, [single(0, 1)]);
    const before = (await store.page('text')).parts;
    store.replace('c', 'app', { app_id: 'c' }, [single(0, 2)]);
    store.remove('d');
    const after = (await store.page('text')).parts;
    expect(after.map((part, i) => part === before[i])).toEqual([true, true, false, true]);
    expect(after[2]?.toString()).toBe('app_up{app_id="c"} 2\n');
  });

  it('shares the bytes of rows between the formats', async () => {
    const store = new KeyedStore(families);
    store.replace('app/a', 'app', { app_id: 'a' }, [single(0, 1)]);
    const plain = (await store.page('text')).parts;
    const open = (await store.page('openmetrics')).parts;
    expect(open[1]).toBe(plain[1]);
  });

  it('fills the holes that a removed target leaves', async () => {
    const store = new KeyedStore(families, { blockRows: 2 });
    for (const id of ['a', 'b', 'c', 'd']) store.replace(id, 'app', { app_id: id }, [single(0, 1)]);
    store.remove('a');
    store.remove('b');
    store.replace('e', 'app', { app_id: 'e' }, [single(0, 5)]);
    expect((await text(store)).split('\n').slice(2, -1)).toEqual([
      'app_up{app_id="e"} 5',
      'app_up{app_id="c"} 1',
      'app_up{app_id="d"} 1',
    ]);
  });

  it('lets the later of two samples with the same labels win', async () => {
    const store = new KeyedStore(families);
    const samples = [
      { labels: { name: 'x' }, value: 1 },
      { labels: { name: 'y' }, value: 2 },
      { labels: { name: 'x' }, value: 3 },
    ];
    for (let i = 0; i < 2; i++) store.replace('app/a', 'app', { app_id: 'a' }, [{ family: 1, samples }]);
    expect((await text(store)).split('\n').slice(2, -1)).toEqual([
      'app_info{app_id="a",name="x"} 3',
      'app_info{app_id="a",name="y"} 2',
    ]);
    expect(store.series('app')).toBe(2);
    const page = await store.page('text');
    store.replace('app/a', 'app', { app_id: 'a' }, [{ family: 1, samples }]);
    expect((await store.page('text')).parts[1]).toBe(page.parts[1]);
  });

  it('leaves a target out whole when the cap is reached, counts it, and lets it in when there is room', async () => {
    const store = new KeyedStore(families, { maxSeries: 3 });
    store.replace('a', 'app', { app_id: 'a' }, [single(0, 1), single(2, 1)]);
    store.replace('b', 'app', { app_id: 'b' }, [single(0, 1), single(2, 1)]);
    store.replace('1', 'zone', { zone_id: '1' }, [single(3, 1)]);
    expect([store.series('app'), store.dropped('app'), store.series('zone')]).toEqual([2, 2, 1]);
    expect(await text(store)).not.toContain('"b"');
    store.remove('a');
    store.replace('b', 'app', { app_id: 'b' }, [single(0, 1), single(2, 1)]);
    expect([store.series('app'), store.dropped('app')]).toEqual([2, 0]);
    store.replace('b', 'app', { app_id: 'b' }, [
      single(0, 1),
      { family: 2, samples: [{ value: 1 }, { labels: { key: 'x' }, value: 1 }] },
    ]);
    expect([store.series('app'), store.dropped('app'), store.series('zone')]).toEqual([0, 3, 1]);
    store.remove('b');
    expect(store.dropped('app')).toBe(0);
  });

  it('says when the cap was lowered below what is held, and lets a target in again that was left out for it', async () => {
    const store = new KeyedStore(families);
    const add = (id: string) => {
      const rows = store.target('app', { app_id: id });
      rows.replace([single(0, 1)]);
      return rows;
    };
    const a = add('a');
    add('b');
    store.setMaxSeries(1);
    expect(store.isOverfull).toBe(true);
    for (let i = 0; i < 2; i++) {
      a.drop();
      expect([store.isOverfull, store.series('app'), store.dropped('app')]).toEqual([false, 1, 1]);
      expect(await text(store)).toMatch(/"b"} 1\n$/);
    }
    store.setMaxSeries(2);
    a.replace([single(0, 1)]);
    expect([store.series('app'), store.dropped('app')]).toEqual([2, 0]);
    a.drop();
    a.replace([]);
    expect([store.series('app'), store.dropped('app')]).toEqual([1, 0]);
  });

  it('lets a target have other series where the cap has room for as many as before', () => {
    const store = new KeyedStore(families, { maxSeries: 2 });
    store.replace('a', 'app', { app_id: 'a' }, [single(0, 1), single(2, 1)]);
    store.replace('a', 'app', { app_id: 'a' }, [
      single(0, 1),
      { family: 1, samples: [{ labels: { name: 'x' }, value: 1 }] },
    ]);
    expect([store.series('app'), store.dropped('app')]).toEqual([2, 0]);
  });

  it('sets the first value of a family alone', async () => {
    const store = new KeyedStore(families);
    const rows = store.target('app', { app_id: 'a' });
    rows.replace([{ family: 2, samples: [{ value: 1 }, { labels: { key: 'x' }, value: 1 }] }]);
    rows.set(2, 5);
    rows.set(0, 5);
    expect((await text(store)).split('\n').filter((line) => !line.startsWith('#'))).toEqual([
      'app_latency_seconds{app_id="a"} 5',
      'app_latency_seconds{app_id="a",key="x"} 1',
      '',
    ]);
  });

  it('keeps the rows of many targets apart', async () => {
    const store = new KeyedStore(families);
    const replace = (i: number, value: number) =>
      store.replace(`${i}`, 'app', { app_id: `${i}` }, [single(0, value), single(2, value)]);
    for (let i = 0; i < 40; i++) replace(i, 1);
    replace(30, 2);
    expect((await text(store)).split('\n').filter((line) => line.endsWith(' 2'))).toEqual([
      'app_up{app_id="30"} 2',
      'app_latency_seconds{app_id="30"} 2',
    ]);
  });

  it('keeps the samples of targets apart that have much in common', async () => {
    const store = new KeyedStore(families);
    const keys = Array.from({ length: 12 }, (_, i) => `${i}`);
    const replace = (id: string, up: string, latency: string) =>
      store.replace(id, 'app', { app_id: id }, [
        { family: 0, samples: [{ labels: { key: up }, value: 1 }] },
        { family: 2, samples: [{ labels: { key: latency }, value: 2 }] },
      ]);
    for (const key of keys) replace(`${key}-${key}`, key, key);
    for (const a of keys) for (const b of keys) replace(`${a}-${b}`, a, b);
    for (const a of keys) for (const b of keys) replace(`${a}-${b}`, b, a);
    const rows = (await text(store)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const expected = keys.flatMap((a) =>
      keys.flatMap((b) => [
        `app_up{app_id="${a}-${b}",key="${b}"} 1`,
        `app_latency_seconds{app_id="${a}-${b}",key="${a}"} 2`,
      ]),
    );
    expect(rows.sort()).toEqual(expected.sort());
  });

  it('keeps little of samples that come once, and goes on when it has dropped them', async () => {
    const store = new KeyedStore(families);
    const keysOf = (turn: number) =>
      Array.from({ length: 500 }, (_, i) => `a key of some length, ${turn}, ${i}`);
    const replaceAll = (turn: number, value: number) => {
      for (const id of ['a', 'b']) {
        const samples = keysOf(turn).map((key) => ({ labels: { key }, value }));
        store.replace(id, 'app', { app_id: id }, [{ family: 2, samples }]);
      }
    };
    for (let turn = 0; turn < 20; turn++) replaceAll(turn, 1);
    const before = heapUsed();
    for (let turn = 20; turn < 220; turn++) replaceAll(turn, 1);
    expect(heapUsed() - before).toBeLessThan(5e6);
    replaceAll(219, 2);
    const rows = (await text(store)).split('\n').slice(2, -1);
    const rowsOfEach = ['a', 'b'].map((id) =>
      keysOf(219).map((key) => `app_latency_seconds{app_id="${id}",key="${key}"} 2`),
    );
    expect(rows.sort()).toEqual(rowsOfEach.flat().sort());
  });

  it('sees that labels have changed, though it was given the same object', async () => {
    const store = new KeyedStore(families);
    for (const family of [1, 2]) {
      const labels = { name: 'x' };
      for (const name of ['x', 'y']) {
        labels.name = name;
        store.replace('a', 'app', { app_id: 'a' }, [{ family, samples: [{ labels, value: 1 }] }]);
      }
      expect(await text(store)).toMatch(/{app_id="a",name="y"} 1\n$/);
    }
  });

  it('refuses a family that it was not made with', () => {
    const store = new KeyedStore(families);
    expect(() => store.replace('a', 'app', {}, [single(9, 1)])).toThrow('there is no family 9');
  });

  it('shows the series as they were when the page was asked for', async () => {
    const store = new KeyedStore(families, { blockRows: 8 });
    const replaceAll = (value: number) => {
      for (let i = 0; i < 3000; i++)
        store.replace(`${i}`, 'app', { app_id: `${i}` }, [single(0, value), single(2, value)]);
    };
    replaceAll(1);
    const asked = store.page('text');
    replaceAll(2);
    for (let i = 0; i < 1500; i++) store.remove(`${i}`);
    const later = store.page('text');
    replaceAll(3);
    const rows = async (page: Page | Promise<Page>) =>
      Buffer.concat((await page).parts)
        .toString()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'));
    const first = await rows(asked);
    expect(first).toHaveLength(6000);
    expect(first.every((row) => row.endsWith(' 1'))).toBe(true);
    const second = await rows(later);
    expect(second).toHaveLength(3000);
    expect(second.every((row) => row.endsWith(' 2'))).toBe(true);
  });

  it('renders a page once for all that ask for it at the same time, and not again while nothing changes', async () => {
    const store = new KeyedStore(families);
    const set = (value: number) =>
      store.replace('app/a', 'app', { app_id: 'a' }, [single(0, 1), single(2, value)]);
    set(1);
    const [first, second] = await Promise.all([store.page('text'), store.page('text')]);
    expect(second.parts.length).toBe(4);
    for (const [i, part] of first.parts.entries()) expect(second.parts[i]).toBe(part);
    const third = await store.page('text');
    expect(third.whole?.toString()).toBe(Buffer.concat(first.parts).toString());
    set(1);
    expect((await store.page('text')).parts).toBe(third.parts);
    set(2);
    expect(await text(store)).toContain('app_latency_seconds{app_id="a"} 2\n');
    store.remove('app/a');
    expect(await text(store)).toBe('');
  });

  it('uses the memory of a page again once it is released, and not before', async () => {
    const store = new KeyedStore(families);
    const rendered = async (value: number) => {
      store.replace('app/a', 'app', { app_id: 'a' }, [single(0, value)]);
      return await store.page('text');
    };
    const memory = ({ parts }: Page) => parts[1]?.buffer;
    const kept = await rendered(1);
    const released = await rendered(2);
    released.release();
    released.release();
    const third = await rendered(3);
    expect(memory(third)).toBe(memory(released));
    expect(third.parts[1]).not.toBe(released.parts[1]);
    expect(kept.parts[1]?.toString()).toBe('app_up{app_id="a"} 1\n');
    const again = await store.page('text');
    third.release();
    await rendered(4);
    expect(again.parts[1]?.toString()).toBe('app_up{app_id="a"} 3\n');
  });

  const labelValue = fc.constantFrom('', 'a', 'b"', 'c\\', '\n', '漢', 'a long value of a label');
  const ownLabels = fc.record({ x: labelValue, y: labelValue }, { requiredKeys: [] });
  const sharedLabels = fc.constantFrom(...['a', '\n'].map((x) => Object.freeze({ x })));
  const labels = fc.option(fc.oneof(ownLabels, sharedLabels), { nil: undefined });
  const sample = fc.record(
    {
      labels,
      value: fc.oneof(
        fc.integer({ min: 0, max: 3 }),
        fc.double(),
        fc.integer().map((n) => n / 1000),
      ),
    },
    { requiredKeys: ['value'] },
  );
  const rows = fc.array(
    fc.record({ family: fc.integer({ min: 0, max: 3 }), samples: fc.array(sample, { maxLength: 4 }) }),
    { maxLength: 5 },
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ target: fc.integer({ min: 0, max: 6 }), rows }) },
    {
      weight: 2,
      arbitrary: fc.record({ target: fc.integer({ min: 0, max: 6 }), remove: fc.constant(true) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ scrape: fc.constantFrom<Format>('text', 'openmetrics'), release: fc.boolean() }),
    },
  );

  it('equals a plain renderer after any replacements and removals, and never changes a page that is in use', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.constantFrom(1, 2, 3, 4, 5, 40),
        async (steps, blockRows) => {
          const store = new KeyedStore(families, { blockRows });
          const plain = new Map<number, readonly FamilySamples[]>();
          const given: { page: Page | Promise<Page>; expected: string[] }[] = [];
          for (const step of steps) {
            if ('scrape' in step) {
              const page = store.page(step.scrape);
              const expected = plainRows(plain);
              if (step.release) {
                expect(rowsOf(await page)).toEqual(expected);
                (await page).release();
              } else {
                given.push({ page, expected });
              }
            } else if ('rows' in step) {
              store.replace(`${step.target}`, 'app', { id: `${step.target}` }, step.rows as FamilySamples[]);
              plain.set(step.target, step.rows as FamilySamples[]);
            } else {
              store.remove(`${step.target}`);
              plain.delete(step.target);
            }
          }
          given.push({ page: store.page('text'), expected: plainRows(plain) });
          for (const { page, expected } of given) expect(rowsOf(await page)).toEqual(expected);
          expect(store.series('app')).toBe(plainRows(plain).length);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** The rows of a page, sorted; checks on the way that each stands below its own family's header. */
function rowsOf({ parts, format }: Page): string[] {
  let family = '';
  const rows: string[] = [];
  for (const line of Buffer.concat(parts).toString().split('\n')) {
    const header = /^# HELP (\S+)/.exec(line);
    if (header?.[1]) family = header[1];
    if (line === '' || line.startsWith('#')) continue;
    expect(line.split(/[{ ]/)[0]?.replace(format === 'openmetrics' ? /_info$/ : /$^/, '')).toBe(family);
    rows.push(line);
  }
  return rows.sort();
}

/** What any exporter would print for these targets: each series once, the last value given. */
function plainRows(targets: ReadonlyMap<number, readonly FamilySamples[]>): string[] {
  const series = new Map<string, number>();
  for (const [target, rows] of targets) {
    for (const { family, samples } of rows) {
      for (const { labels = {}, value } of samples) {
        const text = Object.entries({ id: `${target}`, ...labels }).map(
          ([name, text]) =>
            `${name}="${text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`,
        );
        series.set(`${families[family]?.name}{${text.join(',')}} `, value);
      }
    }
  }
  return [...series].map(([row, value]) => `${row}${renderNumber(value)}`).sort();
}
