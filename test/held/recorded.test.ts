/** Answers recorded from the API, tested with the whole exporter. */
import { describe, expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

const zones = () => ({ data: [{ shieldZoneId: 7 }, { shieldZoneId: 8 }] });

it('a Shield Zone without billing data this month is an empty reading, not a failure', async () => {
  const whole = await startWhole({
    document: { shield_overage: { targets: 'all' } },
    routes: {
      '/shield/shield-zones': zones,
      '/pullzone': () => ({ Items: [], TotalItems: 0 }),
      '/shield/metrics/overages/7': () => reply(404),
      '/shield/metrics/overages/8': () =>
        reply(404, '{"error":{"success":false,"message":"none"},"data":null}'),
    },
  });
  await whole.poll();
  expect(Object.values(await whole.series('bunnynet_shield_overage_up'))).toEqual([1, 1]);
  expect(await whole.series('bunnynet_shield_overage_monthly_overage_requests')).toEqual({});
  expect(whole.exporter.causes()).toEqual([]);
});

it('the overage of a deleted zone is a failure', async () => {
  const errorKey = 'not_found_or_unauthorised_access.shieldzone';
  const whole = await startWhole({
    document: { shield_overage: { targets: [7] } },
    routes: {
      '/shield/metrics/overages/7': () =>
        reply(404, JSON.stringify({ error: { success: false, message: 'unknown', errorKey }, data: null })),
    },
  });
  await whole.poll();
  expect(Object.values(await whole.series('bunnynet_shield_overage_up'))).toEqual([0]);
});

it.each([200, 202, 404])(
  'a zone without a configured API Guardian has no endpoints, with HTTP %d',
  async (status) => {
    const error = { success: false, message: 'not configured', errorKey: 'api_guardian.no_configuration' };
    const whole = await startWhole({
      document: { api_guardian: { targets: 'all' } },
      routes: {
        '/shield/shield-zones': zones,
        '/pullzone': () => ({ Items: [], TotalItems: 0 }),
        '/shield/shield-zone/7/api-guardian': () => reply(status, JSON.stringify({ data: null, error })),
        '/shield/shield-zone/8/api-guardian': () => ({
          data: {
            endpoints: [{ apiGuardianEndpointId: 1, requestMethods: 'GET,POST', requestPath: '/login' }],
          },
        }),
        '/shield/metrics/shield-zone/8/api-guardian/endpoint/1': () => ({
          data: { totalRequestsInspected: 3 },
        }),
      },
    });
    await whole.poll();
    expect(whole.exporter.targets().map(({ target }) => [target.key, target.name])).toEqual([
      ['api_guardian/8/1', 'GET,POST /login'],
    ]);
    expect(whole.exporter.causes()).toEqual([]);
  },
);

describe('what Shield answers of a zone that is gone or of another account', () => {
  const message = 'Shield Zone not found or Unauthorized access.';
  const errorKey = 'not_found_or_unauthorised_access.shieldzone';
  const error = { statusCode: 202, success: false, message, errorKey };
  const answers = {
    'in error': reply(202, JSON.stringify({ data: null, error })),
    'in errorResponse': reply(
      202,
      JSON.stringify({ id: 0, shieldZoneId: 0, ruleConfiguration: null, errorResponse: error }),
    ),
    'at the top level': reply(404, JSON.stringify(error)),
    'with HTTP 401': reply(401, JSON.stringify({ data: null, error })),
  };

  it.each(Object.entries(answers))('is not found, %s, and says nothing of its key', async (_, answer) => {
    const whole = await startWhole({
      document: {
        shield_zones: { targets: [7] },
        shield_statistics: { targets: [7] },
        shield_triggered_rules: { targets: [7] },
        shield_access_lists: { targets: [7] },
      },
      routes: { '*': () => answer },
    });
    await whole.poll();
    expect(new Set(whole.exporter.targets().map(({ lastFailure }) => lastFailure?.result))).toEqual(
      new Set(['not_found']),
    );
    expect(whole.exporter.targets().length).toBeGreaterThan(3);
    const refused = await whole.series('bunnynet_exporter_refused_keys');
    expect(new Set(Object.values(refused))).toEqual(new Set([0]));
    expect(whole.exporter.causes().map(({ reason }) => reason)).not.toContain('refused');
  });
});

it('what is listed below a zone that is gone is named, and is no failing listing', async () => {
  const errorKey = 'not_found_or_unauthorised_access.shieldzone';
  const whole = await startWhole({
    document: { api_guardian: { targets: 'all' }, rate_limits: { targets: 'all' } },
    routes: {
      '/shield/shield-zones': zones,
      '/pullzone': () => ({ Items: [], TotalItems: 0 }),
      '*': () =>
        reply(202, JSON.stringify({ data: null, error: { statusCode: 202, success: false, errorKey } })),
    },
  });
  await whole.poll();
  const failing = await whole.series('bunnynet_exporter_discovery_failing_listings');
  expect(Object.keys(failing).length).toBeGreaterThan(1);
  expect(new Set(Object.values(failing))).toEqual(new Set([0]));
  expect(whole.exporter.causes().map(({ reason }) => reason)).toEqual(['not_found']);
});

it('a plan that lacks something says so with HTTP 400, too, which is no failure', async () => {
  const body = '{"statusCode":400,"success":false,"message":"no","errorKey":"feature_not_available_on_plan"}';
  const whole = await startWhole({
    document: { shield_statistics: { targets: [7] } },
    routes: { '*': () => reply(400, body) },
  });
  await whole.poll();
  expect(whole.exporter.targets().map(({ state }) => state)).toEqual(['lacking']);
  expect(whole.exporter.causes()).toEqual([]);
});

it('a reference of 0 is an empty label', async () => {
  const zone = { shieldZoneId: 7, pullZoneId: 0, wafProfileId: 5 };
  const whole = await startWhole({
    document: { shield_zones: { targets: 'all' } },
    routes: {
      '/shield/shield-zones': () => ({ data: [zone] }),
      '/pullzone': () => ({ Items: [], TotalItems: 0 }),
    },
  });
  await whole.poll();
  const [labels] = Object.keys(await whole.series('bunnynet_shield_zone_info'));
  expect(labels).toContain('pull_zone_id="",waf_profile_id="5"');
});
