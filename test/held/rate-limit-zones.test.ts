/** What rate limits do: it comes with the list of their names. */
import { expect, it } from 'vitest';
import { type Route, startWhole } from './whole.ts';

const rule = (id: number, actionType: unknown, ruleName = `limit ${id}`) => ({
  id,
  shieldZoneId: 501,
  ruleName,
  ruleConfiguration: { actionType, requestCount: 20 },
});

const listed = (rules: readonly object[]) => ({
  data: rules,
  page: { totalCount: rules.length, totalPages: 1, currentPage: 1 },
});

async function start(first: readonly object[]) {
  const answers = { rules: (() => listed(first)) as Route };
  const whole = await startWhole({
    document: { rate_limit_zones: { targets: 'all' }, rate_limits: { targets: 'all' } },
    routes: {
      '/shield/shield-zones': () => ({ data: [{ shieldZoneId: 501, pullZoneId: 7 }] }),
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'shop' }], TotalItems: 1, HasMoreItems: false }),
      '/shield/rate-limits/501': (request) => answers.rules(request),
      '/shield/metrics/rate-limits/501': () => ({
        data: [{ ratelimitId: 11, overview: { totalBreaches: 4 } }],
      }),
    },
  });
  await whole.exporter.start();
  await whole.pass(10_000);
  const actions = async () => {
    const series = await whole.series('bunnynet_shield_rate_limit_action');
    return Object.keys(series)
      .filter((labels) => series[labels] === 1)
      .map((labels) => /rate_limit_id="(\d+)",status="(\w+)"/.exec(labels)?.slice(1).join(' '));
  };
  return { whole, answers, actions };
}

it('each limit has a series for each action, 1 for its own, from the request for the names', async () => {
  const { whole, answers, actions } = await start([
    rule(11, 1),
    rule(12, 2),
    rule(13, 3),
    rule(14, 4),
    rule(15, 'Bypass'),
  ]);
  expect(await actions()).toEqual(['11 block', '12 log', '13 challenge', '14 allow', '15 bypass']);
  expect(Object.keys(await whole.series('bunnynet_shield_rate_limit_action'))).toHaveLength(30);
  expect(
    await whole.value('bunnynet_shield_rate_limit_info', { rate_limit_id: '11', name: 'limit 11' }),
  ).toBe(1);
  expect(whole.requests.filter(({ path }) => path === '/shield/rate-limits/501')).toHaveLength(1);
  answers.rules = () => listed([rule(11, 2)]);
  await whole.pass(1_000_000);
  expect(await actions()).toEqual(['11 log']);
  expect(whole.exporter.causes()).toEqual([]);
});

it('an action that is not documented is unknown and noted, and a limit without one has no series', async () => {
  const { whole, actions } = await start([rule(11, 0), rule(12, 9), { id: 13, ruleName: 'none' }]);
  expect(await actions()).toEqual(['11 unknown', '12 unknown']);
  expect(
    await whole.value('bunnynet_exporter_unrecognized_values_total', { kind: 'rate_limit_zone' }),
  ).toBeGreaterThan(0);
});

it('it leaves when the list has failed for too long, while the breaches are still read', async () => {
  const { whole, answers, actions } = await start([rule(11, 2)]);
  answers.rules = () => ({ data: 7 });
  await whole.pass(3_600_000);
  expect(await actions()).toEqual([]);
  expect(await whole.value('bunnynet_shield_rate_limit_zone_up')).toBe(0);
  expect(await whole.value('bunnynet_shield_rate_limit_breaches_28d')).toBe(4);
});
