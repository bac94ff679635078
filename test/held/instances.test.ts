/** Instances of applications come and go, and their figures with them. */
import { expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

const minuteMs = 60_000;
const restarts = 'bunnynet_application_container_restarts_total';

it('the restarts of a container are as the API counts them, and leave with the pod and when they are stale', async () => {
  const podOf = (name: string, numberOfRestarts: number) => ({
    name,
    status: 'ready',
    containers: [{ name: 'app', numberOfRestarts, exitCode: 137 }],
  });
  let pods = [podOf('pod-1', 7), podOf('pod-2', 0)];
  const whole = await startWhole({
    routes: { '/mc/apps/abc/overview': () => ({ regions: [{ region: 'DE', pods }] }) },
    document: { application_overviews: { targets: ['abc'], interval: '1m', stale_after: '3m' } },
  });
  const seen = async () =>
    Object.fromEntries(
      Object.entries(await whole.series(restarts)).map(([labels, value]) => [
        /pod_name="([^"]*)"/.exec(labels)?.[1] ?? '',
        value,
      ]),
    );
  await whole.poll();
  // Not from 0, as figures that are summed by day are.
  expect(await seen()).toEqual({ 'pod-1': 7, 'pod-2': 0 });
  pods = [podOf('pod-1', 8), podOf('pod-3', 1)];
  whole.advance(minuteMs);
  await whole.poll();
  expect(await seen()).toEqual({ 'pod-1': 8, 'pod-3': 1 });
  whole.routes['/mc/apps/abc/overview'] = () => reply(500);
  whole.advance(minuteMs);
  await whole.poll();
  expect(await seen()).toEqual({ 'pod-1': 8, 'pod-3': 1 });
  whole.advance(4 * minuteMs);
  expect(await seen()).toEqual({});
  expect(await whole.page()).not.toContain('pod_name=');
});

it('the counters of a pull zone go on by the hours, across midnight and without those to come', async () => {
  const hour = (day: number, at: number) => new Date(Date.UTC(2026, 7, day, at)).toISOString();
  const served = new Map<string, number>([[hour(15, 22), 100]]);
  const whole = await startWhole({
    nowMs: Date.UTC(2026, 7, 15, 23, 50),
    routes: {
      '/statistics': ({ query }) => {
        const [from, to] = ['dateFrom', 'dateTo'].map((name) => Date.parse(query.get(name) ?? ''));
        const isHourly = query.get('hourly') === 'true' && query.get('exactRange') === 'true';
        const hours = Array.from({ length: 48 }, (_, at) => hour(15, at)).filter(
          (at) => Date.parse(at) >= (from ?? 0) && Date.parse(at) <= (to ?? 0),
        );
        return {
          RequestsServedChart: isHourly
            ? Object.fromEntries(hours.map((at) => [at, served.get(at) ?? 0]))
            : null,
        };
      },
    },
    document: { pull_zone_statistics: { targets: [9] } },
  });
  const value = (name: string) => whole.value(`bunnynet_pull_zone_${name}`);
  await whole.poll();
  expect(await value('requests_total')).toBe(0);
  served.set(hour(15, 23), 50);
  // Nobody can have been served then.
  served.set(hour(16, 3), 1_000_000);
  whole.advance(15 * minuteMs);
  await whole.poll();
  expect(await value('requests_total')).toBe(50);
  expect(await value('statistics_latest_hour_timestamp_seconds')).toBe(Date.UTC(2026, 7, 15, 23) / 1000);
  served.set(hour(15, 23), 60).set(hour(16, 0), 5);
  whole.advance(30 * minuteMs);
  await whole.poll();
  expect(await value('requests_total')).toBe(65);
  whole.advance(60 * minuteMs);
  await whole.poll();
  expect(await value('requests_total')).toBe(65);
  expect(await value('statistics_latest_hour_timestamp_seconds')).toBe(Date.UTC(2026, 7, 16, 0) / 1000);
});
