import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FamilyHeader, type Format, renderEnd, renderNumber } from '../../src/exposition/format.ts';
import { gzipOf } from '../../src/exposition/gzip.ts';
import { Pieces } from '../../src/exposition/pieces.ts';
import { type FamilySamples, Store } from '../../src/exposition/store.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { runs } from '../runs.ts';

const families: readonly FamilyHeader[] = [
  { name: 'app_up', help: 'Whether the last poll succeeded.', type: 'gauge', kind: 'app' },
  { name: 'app_info', help: 'Its "name" \\ and\nmore.', type: 'info', kind: 'app' },
  { name: 'app_latency_seconds', help: 'Latency.', type: 'gauge', kind: 'app' },
  { name: 'app_sent_bytes_total', help: 'Sent.', type: 'counter', kind: 'app' },
  { name: 'zone_up', help: 'Whether the last poll succeeded.', type: 'gauge', kind: 'zone' },
];

const single = (family: number, value: number): FamilySamples => ({ family, samples: [{ value }] });

function text(store: Store, format: Format = 'text'): string {
  return Buffer.concat([...store.page(format), ...renderEnd(format)]).toString();
}

/** A label that makes a row of a kilobyte. */
const key = 'k'.repeat(1000);

function memoryOfBuffers(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

describe('Store', () => {
  it('shows families in order, each below its header, and none without rows', () => {
    const store = new Store(families);
    store.add('zone', { zone_id: '1' }).set([single(4, 0)]);
    store
      .add('app', { app_id: 'a' })
      .set([
        single(0, 1),
        { family: 1, samples: [{ labels: { name: 'shop', tier: 'x' }, value: 1 }] },
        single(3, 7),
      ]);
    store.add('app', { app_id: 'b' }).set([single(0, 0)]);
    expect(text(store)).toBe(`\
# HELP app_up Whether the last poll succeeded.
# TYPE app_up gauge
app_up{app_id="a"} 1
app_up{app_id="b"} 0
# HELP app_info Its "name" \\\\ and\\nmore.
# TYPE app_info gauge
app_info{app_id="a",name="shop",tier="x"} 1
# HELP app_sent_bytes_total Sent.
# TYPE app_sent_bytes_total counter
app_sent_bytes_total{app_id="a"} 7
# HELP zone_up Whether the last poll succeeded.
# TYPE zone_up gauge
zone_up{zone_id="1"} 0
`);
  });

  it('shows the same rows in OpenMetrics, with info type, unit and EOF', () => {
    const store = new Store(families);
    store
      .add('app', { app_id: 'a' })
      .set([
        { family: 1, samples: [{ labels: { name: 'shop' }, value: 1 }] },
        single(2, 0.25),
        { family: 3, samples: [{ labels: { name: '_total\n{' }, value: 8 }] },
      ]);
    expect(text(store, 'openmetrics')).toBe(`\
# TYPE app info
# UNIT app 
# HELP app Its \\"name\\" \\\\ and\\nmore.
app_info{app_id="a",name="shop"} 1
# TYPE app_latency_seconds gauge
# UNIT app_latency_seconds seconds
# HELP app_latency_seconds Latency.
app_latency_seconds{app_id="a"} 0.25
# TYPE app_sent_bytes counter
# UNIT app_sent_bytes bytes
# HELP app_sent_bytes Sent.
app_sent_bytes_total{app_id="a",name="_total\\n{"} 8
# EOF
`);
  });

  it('escapes label values and keeps them valid UTF-8', () => {
    const store = new Store(families);
    const name = 'a\\b\n"c" é 漢 🐰 \uD83D.\uDC30';
    store.add('app', { app_id: 'a' }).set([{ family: 1, samples: [{ labels: { name }, value: 1 }] }]);
    expect(text(store)).toContain('app_info{app_id="a",name="a\\\\b\\n\\"c\\" é 漢 🐰 \uFFFD.\uFFFD"} 1\n');
  });

  it('has one series of two samples whose labels are the same once they are written', () => {
    const store = new Store(families);
    const samples = ['a\uD83D', 'a\uDC30'].map((name, value) => ({ labels: { name }, value }));
    store.add('app', { app_id: 'a' }).set([{ family: 2, samples }]);
    expect(text(store).match(/^app_latency_seconds\{.*$/gm)).toEqual([
      'app_latency_seconds{app_id="a",name="a\uFFFD"} 1',
    ]);
    expect(store.series('app')).toBe(1);
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
  ])('writes %d as %s', (value, written) => {
    const store = new Store(families);
    store.add('app', { app_id: 'a' }).set([single(0, value)]);
    expect(text(store).split('\n')[2]).toBe(`app_up{app_id="a"} ${written}`);
  });

  it('leaves a page that was read as it was', () => {
    const store = new Store(families);
    const rounds = runs(50, 200);
    const read: [page: readonly Buffer[], text: string][] = [];
    const targets = ['a', 'b', 'c'].map((id) => store.add('app', { id }));
    for (let round = 0; round < rounds; round++) {
      for (const target of targets) {
        const samples = [{ labels: { name: '\u00e4\u{1F430}' }, value: round * 7919 }];
        target.set([{ family: 2, samples }]);
      }
      read.push([store.page('text'), text(store)]);
    }
    for (const [page, text] of read) expect(Buffer.concat(page).toString()).toBe(text);
    expect(new Set(read.map(([, text]) => text)).size).toBe(rounds);
  });

  it('takes less than twice the memory of its rows, however often they change between two scrapes', async () => {
    const store = new Store(families);
    const pieces = new Pieces();
    // Megabytes of rows: the process holds some other Buffers.
    const count = runs(2000, 5000);
    const targets = Array.from({ length: count }, (_, id) => store.add('app', { id, key }));
    const before = memoryOfBuffers();
    for (let round = 0; round < 5; round++) {
      pieces.of(store.families(), 'text');
      for (const target of targets) target.set([single(2, round)]);
    }
    // V8 frees them on another thread.
    await expect.poll(() => memoryOfBuffers() - before).toBeLessThan(2 * count * key.length);
    expect(gunzipSync(Buffer.concat(gzipOf(pieces.of(store.families(), 'text')))).toString()).toBe(
      text(store),
    );
  });

  it('keeps nothing of targets that are gone', async () => {
    const store = new Store(families);
    const before = memoryOfBuffers();
    for (let id = 0; id < runs(2000, 200_000); id++) {
      const target = store.add('app', { id, key });
      target.set([single(0, 1), single(1, 1), single(2, 1), single(3, 1)]);
      target.remove();
    }
    await expect.poll(() => memoryOfBuffers() - before).toBeLessThan(3_000_000);
    expect(text(store)).toBe('');
  });

  it('gives back the memory of a family that has shrunk, also if only compressed pages are read', async () => {
    const store = new Store(families);
    const pieces = new Pieces();
    const before = memoryOfBuffers();
    const targets = Array.from({ length: runs(4000, 10_000) }, (_, id) => store.add('app', { id, key }));
    for (const target of targets) target.set([single(2, 1)]);
    for (const target of targets.slice(1)) target.remove();
    for (let round = 0; round < 3; round++) {
      targets[0]?.set([single(2, round)]);
      pieces.of(store.families(), 'text');
    }
    await expect.poll(() => memoryOfBuffers() - before).toBeLessThan(3_000_000);
  });

  it('replaces the rows of one family', () => {
    const store = new Store(families);
    const target = store.add('app', { app_id: 'a' });
    const rows = () =>
      text(store)
        .split('\n')
        .filter((line) => !/^(#|$)/.test(line));
    target.set([single(0, 1), single(2, 1)]);
    target.setFamily(single(2, 5));
    expect(rows()).toEqual(['app_up{app_id="a"} 1', 'app_latency_seconds{app_id="a"} 5']);
    target.setFamily({ family: 1, samples: [{ labels: { name: 'x' }, value: 1 }] });
    expect(rows()).toHaveLength(3);
    expect(store.series('app')).toBe(3);
    target.setFamily({ family: 1, samples: [] });
    expect([rows().length, store.series('app')]).toEqual([2, 2]);
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
  const rows = fc.uniqueArray(
    fc.record({ family: fc.integer({ min: 0, max: 2 }), samples: fc.array(sample, { maxLength: 4 }) }),
    { maxLength: 3, selector: ({ family }) => family },
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ target: fc.integer({ min: 0, max: 6 }), rows }) },
    {
      weight: 2,
      arbitrary: fc.record({ target: fc.integer({ min: 0, max: 6 }), remove: fc.constant(true) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ scrape: fc.constantFrom<Format>('text', 'openmetrics') }),
    },
  );

  it('equals a simple renderer after any replacements and removals, plain and compressed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const store = new Store(families);
        const pieces = { text: new Pieces(), openmetrics: new Pieces() };
        const targets = Array.from({ length: 7 }, (_, id) => store.add('app', { id }));
        const plain = new Map<number, readonly FamilySamples[]>();
        for (const step of [...steps, { scrape: 'text' } as const]) {
          if ('scrape' in step) {
            expect(rowsOf(text(store, step.scrape), step.scrape)).toEqual(plainRows(plain));
            const compressed = Buffer.concat(gzipOf(pieces[step.scrape].of(store.families(), step.scrape)));
            expect(gunzipSync(compressed).toString()).toBe(Buffer.concat(store.page(step.scrape)).toString());
          } else if ('rows' in step) {
            targets[step.target]?.set(step.rows as FamilySamples[]);
            plain.set(step.target, step.rows as FamilySamples[]);
          } else {
            targets[step.target]?.remove();
            plain.delete(step.target);
          }
        }
        expect(store.series('app')).toBe(plainRows(plain).length);
      }),
    );
  });
});

/** The rows of a page, sorted; checks that each is below its own family's header. */
function rowsOf(page: string, format: Format): string[] {
  let family = '';
  const rows: string[] = [];
  for (const line of page.split('\n')) {
    const header = /^# HELP (\S+)/.exec(line);
    if (header?.[1]) family = header[1];
    if (line === '' || line.startsWith('#')) continue;
    expect(line.split(/[{ ]/)[0]?.replace(format === 'openmetrics' ? /_info$/ : /$^/, '')).toBe(family);
    rows.push(line);
  }
  return rows.sort();
}

/** The expected rows of these targets: each series once, with the last value given. */
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
