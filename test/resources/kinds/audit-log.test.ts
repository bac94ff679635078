import { expect, it } from 'vitest';
import { Counters } from '../../../src/counting/counters.ts';
import { auditLog } from '../../../src/resources/kinds/audit-log.ts';
import { type Body, expose, unnoted } from '../expose.ts';

const ids = { account: 'main' };
const nowMs = Date.parse('2026-08-20T12:30:00Z');
const read = (answer: Body) => expose(auditLog, answer, { ids, context: { nowMs } });
const short = (rows: string) =>
  rows.replaceAll('account="main"', 'main').replaceAll('bunnynet_audit_log_', '');

const change = (Timestamp: string, more: object = {}) => ({
  Timestamp,
  Product: 'PullZone',
  ResourceType: 'EdgeRule',
  ResourceId: '17',
  ResourceOwner: 'owner@example.com',
  Action: 'Updated',
  ActorId: 'jane@example.com',
  ActorType: 'User',
  Diff: '{"ZoneSecurityKey":"very-secret"}',
  ...more,
});

it('counts the changes of the day by sort, and keeps neither the change nor who made it', async () => {
  const { rows, page, asked } = await read({
    Logs: [change('2026-08-20T11:00:00.123Z'), change('2026-08-20T10:00:00Z', { Product: 'Dns' })],
    HasMoreData: false,
    ContinuationToken: '',
    StartToken: null,
  });
  expect(asked).toEqual(['/user/audit/2026-08-20?Order=Descending&Limit=500']);
  const rest = 'product="other",resource_type="other",action="other",actor_type="other"';
  const of = (product: string) =>
    `product="${product}",resource_type="EdgeRule",action="Updated",actor_type="User"`;
  expect(short(rows)).toBe(`\
changes_total{main,${of('PullZone')}} 0
changes_total{main,${of('Dns')}} 0
changes_total{main,${rest}} 0
latest_change_timestamp_seconds{main} 1787223600.123
`);
  expect(page).not.toMatch(/secret|example\.com/);
});

it('takes what cannot be the name of a sort for another', async () => {
  const { rows } = await read({
    Logs: [change('', { ActorType: 'jane@example.com', Action: 'x'.repeat(65), Product: null })],
  });
  expect(short(rows)).toContain('product="",resource_type="EdgeRule",action="other",actor_type="other"} 0');
  expect(rows).not.toContain('latest_change');
});

/** A log in pages of one entry. */
function pages(...logs: readonly (readonly object[])[]) {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    const at = Number(new URLSearchParams(path.split('?')[1]).get('ContinuationToken') ?? 0);
    const goesOn = at + 1 < logs.length;
    return Promise.resolve({
      Logs: logs[at],
      HasMoreData: goesOn,
      ContinuationToken: goesOn ? String(at + 1) : '',
    });
  };
  return { asked, get };
}

it('reads every page of the day', async () => {
  const { asked, get } = pages(
    [change('2026-08-20T11:00:00Z')],
    [change('2026-08-20T10:00:00Z')],
    [change('2026-08-20T10:00:00Z')],
  );
  const { counted } = await auditLog.read(get, ids, unnoted, { nowMs, caughtUpMs: nowMs });
  expect(asked.map((path) => path.replace(/^.*Limit=500/, ''))).toEqual([
    '',
    '&ContinuationToken=1',
    '&ContinuationToken=2',
  ]);
  expect(counted.flatMap(({ reading }) => reading.counts).flatMap(({ days }) => days)).toEqual([
    { startSeconds: 1_787_184_000, value: 3 },
  ]);
});

it('counts each change once, however late it comes and over midnight; what there was at first counts as 0', async () => {
  const midnightMs = Date.parse('2026-08-21T00:00:00Z');
  const [a, b, c, d] = ['22:00', '22:00', '23:59', '00:01'].map((at, index) =>
    change(`2026-08-2${index === 3 ? 1 : 0}T${at}:00Z`),
  ) as [object, object, object, object];
  const counters = Counters.of('audit_log');
  const target = { ids, name: undefined, settings: {} };
  const total = () => counters?.rows[0]?.samples.reduce((sum, { value }) => sum + value, 0);
  const poll = async (
    at: number,
    caughtUpMs: number | undefined,
    days: Readonly<Record<string, readonly object[]>>,
  ) => {
    const get = (path: string) => {
      const [, date = ''] = /audit\/([\d-]+)/.exec(path) ?? [];
      return Promise.resolve({ Logs: days[date] ?? null, HasMoreData: false });
    };
    const { counted } = await auditLog.read(get, ids, unnoted, { nowMs: at, caughtUpMs });
    counters?.add(target, counted, { nowMs: at, uptimeMs: 0 });
    return total();
  };
  const first = midnightMs - 600_000;
  expect(await poll(first, undefined, { '2026-08-20': [a] })).toBe(0);
  // One with the same time as the newest that was counted.
  expect(await poll(first + 300_000, first, { '2026-08-20': [b, a] })).toBe(1);
  expect(
    await poll(midnightMs + 120_000, first + 300_000, { '2026-08-20': [c, b, a], '2026-08-21': [d] }),
  ).toBe(3);
  expect(
    await poll(midnightMs + 420_000, midnightMs + 120_000, { '2026-08-20': [c, b, a], '2026-08-21': [d] }),
  ).toBe(3);
});

it('counts the first change of a day that began without any', async () => {
  const counters = Counters.of('audit_log');
  const target = { ids, name: undefined, settings: {} };
  for (const [at, Logs] of [
    [nowMs, []],
    [nowMs + 300_000, [change('2026-08-20T12:31:00Z')]],
  ] as const) {
    const { counted } = await auditLog.read(() => Promise.resolve({ Logs }), ids, unnoted, {
      nowMs: at,
      caughtUpMs: at,
    });
    counters?.add(target, counted, { nowMs: at, uptimeMs: 0 });
  }
  expect(counters?.rows[0]?.samples.map(({ labels, value }) => `${labels?.['product']} ${value}`)).toEqual([
    'PullZone 0',
    'other 1',
  ]);
});

it('fails where a log repeats itself, or goes on and does not say where', async () => {
  const same = () => Promise.resolve({ Logs: [], HasMoreData: true, ContinuationToken: 'again' });
  await expect(auditLog.read(same, ids, unnoted, { nowMs })).rejects.toThrow('repeats itself');
  const nowhere = () => Promise.resolve({ Logs: [], HasMoreData: true, ContinuationToken: null });
  await expect(auditLog.read(nowhere, ids, unnoted, { nowMs })).rejects.toThrow('does not say where');
});

it('leaves out what is null, missing or of the wrong type', async () => {
  const { mismatched } = await read({ Logs: [null, 7, { Timestamp: 'now', Product: 5 }] });
  expect(mismatched).toEqual(['Logs', 'Logs', 'Logs']);
  expect(short((await read({ Logs: null })).rows)).not.toContain('latest_change');
});
