import { expect, it } from 'vitest';
import { reply, startWhole, type WholeOptions } from './whole.ts';

const path = '/shield/shield-zone/501/api-guardian';

const answer = (configuration: unknown, ...endpoints: readonly object[]) => ({
  error: null,
  data: { configuration, endpoints },
});
const checkout = {
  apiGuardianEndpointId: 7,
  requestMethod: 'POST',
  requestPath: '/checkout',
  isEnabled: true,
};
const search = { apiGuardianEndpointId: 8, requestMethod: 'GET', requestPath: '/search', isEnabled: false };
const blocking = { shieldZoneId: 501, isEnabled: true, executionMode: 1, title: null, maxEndpoints: 25 };

/** A zone whose API Guardian answers this. asked: counts the requests for it. */
async function start(first: unknown, document: WholeOptions['document']) {
  const asked: string[] = [];
  let body = first;
  const whole = await startWhole({
    document,
    routes: {
      '/shield/shield-zones': () => ({ data: [{ shieldZoneId: 501, pullZoneId: 7 }] }),
      '/pullzone': () => ({ Items: [{ Id: 7, Name: 'shop' }], TotalItems: 1, HasMoreItems: false }),
      [path]: (request) => {
        asked.push(request.path);
        return body;
      },
      '/shield/metrics/shield-zone/501/api-guardian/endpoint/7': () => ({
        data: { totalBlockedRequests: 3 },
      }),
      '/shield/metrics/shield-zone/501/api-guardian/endpoint/8': () => ({
        data: { totalBlockedRequests: 4 },
      }),
    },
  });
  const page = async () => {
    const text = (await whole.get('/metrics?kind=api_guardian_zone')).body;
    return text.match(/^bunnynet_shield_api_guardian(?!_zone_last_success)\w*\{.*/gm) ?? [];
  };
  return {
    whole,
    asked,
    page,
    answers: (next: unknown) => {
      body = next;
    },
  };
}

const both = { api_guardian_zones: { targets: 'all' }, api_guardian: { targets: 'all' } };

it('API Guardian of a zone is read from the request that lists its endpoints', async () => {
  const { whole, asked, page, answers } = await start(answer(blocking, checkout, search), both);
  await whole.poll();
  expect(await page()).toEqual([
    'bunnynet_shield_api_guardian_zone_up{shield_zone_id="501",account="account"} 1',
    'bunnynet_shield_api_guardian_zone_enabled{shield_zone_id="501"} 1',
    'bunnynet_shield_api_guardian_zone_execution_mode{shield_zone_id="501"} 1',
    'bunnynet_shield_api_guardian_zone_endpoints_limit{shield_zone_id="501"} 25',
    'bunnynet_shield_api_guardian_zone_endpoints{shield_zone_id="501"} 2',
    'bunnynet_shield_api_guardian_enabled{shield_zone_id="501",endpoint_id="7"} 1',
    'bunnynet_shield_api_guardian_enabled{shield_zone_id="501",endpoint_id="8"} 0',
  ]);
  expect(await whole.value('bunnynet_shield_api_guardian_blocked_requests_28d', { endpoint_id: '8' })).toBe(
    4,
  );
  expect(asked).toHaveLength(1);

  answers(answer({ ...blocking, isEnabled: false, executionMode: 0 }, checkout));
  await whole.poll();
  expect(asked).toHaveLength(2);
  expect((await page()).slice(1)).toEqual([
    'bunnynet_shield_api_guardian_zone_enabled{shield_zone_id="501"} 0',
    'bunnynet_shield_api_guardian_zone_execution_mode{shield_zone_id="501"} 0',
    'bunnynet_shield_api_guardian_zone_endpoints_limit{shield_zone_id="501"} 25',
    'bunnynet_shield_api_guardian_zone_endpoints{shield_zone_id="501"} 1',
    'bunnynet_shield_api_guardian_enabled{shield_zone_id="501",endpoint_id="7"} 1',
  ]);
});

it('a zone that is named is read without a list of zones', async () => {
  const { whole, page } = await start(answer(blocking), { api_guardian_zones: { targets: [501] } });
  whole.routes['/shield/shield-zones'] = () => reply(500);
  await whole.poll();
  expect(await page()).toContain('bunnynet_shield_api_guardian_zone_enabled{shield_zone_id="501"} 1');
});

it('what the answer lacks, and a zone that nobody configured, is not shown as 0', async () => {
  const { whole, page, answers } = await start(answer(null, { apiGuardianEndpointId: 7 }), both);
  await whole.poll();
  expect((await page()).slice(1)).toEqual([
    'bunnynet_shield_api_guardian_zone_endpoints{shield_zone_id="501"} 1',
  ]);
  answers(
    reply(
      404,
      JSON.stringify({ data: null, error: { success: false, errorKey: 'api_guardian.no_configuration' } }),
    ),
  );
  expect(await whole.poll()).toBe(true);
  expect(await page()).toEqual([
    'bunnynet_shield_api_guardian_zone_up{shield_zone_id="501",account="account"} 1',
  ]);
  expect(whole.exporter.causes()).toEqual([]);
});

it('its values leave when the request has failed for too long, and _up is 0 at once', async () => {
  const { whole, page, answers } = await start(answer(blocking, checkout), both);
  await whole.poll();
  answers(reply(500));
  await whole.poll();
  expect((await page())[0]).toMatch(/zone_up.* 0$/);
  expect(await page()).toHaveLength(6);
  await whole.pass(3_600_000);
  expect(await page()).toHaveLength(1);
});
