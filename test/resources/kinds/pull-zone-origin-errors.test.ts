import { expect, it } from 'vitest';
import { pullZoneOriginErrors } from '../../../src/resources/kinds/pull-zone-origin-errors.ts';
import { type Body, expose } from '../expose.ts';

const ids = { pull_zone_id: '7' };
const nowMs = Date.parse('2026-08-20T12:30:00Z');
const read = (answer: Body) => expose(pullZoneOriginErrors, answer, { ids, context: { nowMs } });
const short = (rows: string) =>
  rows.replaceAll('pull_zone_id="7"', 'zone').replaceAll('bunnynet_pull_zone_origin_errors_', '');
const error = (ErrorCode: unknown, StatusCode: unknown) => ({
  logId: '0f8c3f9e-1b2a-4c3d-8e4f-5a6b7c8d9e0f',
  timestamp: nowMs,
  log: '{"RequestUrl":"https://example.com/?session=very-secret"}',
  labels: { ErrorCode, StatusCode, ServerZone: 'DE' },
});

it('counts errors by their codes, and keeps no address', async () => {
  const { rows, page, asked } = await read({
    logs: [error('dns_lookup', '502'), error('http_timeout', '504'), error('dns_lookup', '502')],
    hasMoreData: false,
    continuationToken: '',
    startToken: '',
  });
  expect(asked).toEqual(['/7/08-20-2026']);
  expect(short(rows)).toBe(`\
latest_day{zone,error="dns_lookup",code="502"} 2
latest_day{zone,error="http_timeout",code="504"} 1
total{zone,error="dns_lookup",code="502"} 0
total{zone,error="http_timeout",code="504"} 0
total{zone,error="other",code="other"} 0
truncated{zone} 0
`);
  expect(page).not.toContain('secret');
});

it('says when the API has more errors than it gives', async () => {
  expect(short((await read({ logs: [], hasMoreData: true })).rows)).toBe(`\
total{zone,error="other",code="other"} 0
truncated{zone} 1
`);
});

it('takes what cannot be a code for another, and an address never for a label', async () => {
  const { rows, mismatched } = await read({
    logs: [error('https://example.com/?a=b', '502'), error(null, 502), { labels: null }, 'none'],
  });
  expect(short(rows).split('\n').slice(0, 2)).toEqual([
    'latest_day{zone,error="other",code="502"} 1',
    'latest_day{zone,error="",code=""} 2',
  ]);
  expect(mismatched).toEqual(['logs', 'logs']);
});

it('asks for the day before, too, while it may still grow', async () => {
  const midnightMs = Date.parse('2026-08-21T00:00:00Z');
  const context = { nowMs: midnightMs + 540_000, caughtUpMs: midnightMs - 60_000 };
  const { asked } = await expose(pullZoneOriginErrors, { logs: [] }, { ids, context });
  expect(asked).toEqual(['/7/08-21-2026', '/7/08-20-2026']);
});
