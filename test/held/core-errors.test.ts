import { describe, expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

it('deleted zones are reported in the words of the API, and cause no warning about the address', async () => {
  const gone = reply(
    404,
    '{"ErrorKey":"dnsZone.not_found","Field":"Id","Message":"The DNS zone was not found"}',
  );
  const whole = await startWhole({
    routes: { '/dnszone/1/statistics': () => gone, '/dnszone/2/statistics': () => gone },
    document: { dns_zones: { targets: [1, 2] } },
  });
  await whole.poll();
  expect(whole.said('HTTP 404: dnsZone.not_found: The DNS zone was not found')).not.toEqual([]);
  expect(whole.log.filter(({ msg }) => msg.includes('base_url'))).toEqual([]);
});

it('if every request gets a bare 404, a warning says that the address may be wrong', async () => {
  const whole = await startWhole({
    routes: { '/dnszone/1/statistics': () => reply(404), '/dnszone/2/statistics': () => reply(404) },
    document: { dns_zones: { targets: [1, 2] } },
  });
  await whole.poll();
  expect(whole.said('base_url')).not.toEqual([]);
});

describe('a mistyped id, beside which nothing is read at its API, is no outage', () => {
  const message = 'There is no such thing';
  const application = { applications: { interval: '1m', targets: ['mistyped'] } };
  const zone = { dns_zones: { interval: '1m', targets: [7] } };

  it.each([
    [404, 'a list of messages', application, [{ message }], 'not_found'],
    [404, 'problem details', application, { title: 'Not Found', status: 404, detail: message }, 'not_found'],
    [400, 'a text', application, message, 'rejected'],
    [404, 'a Message', zone, { Message: message }, 'not_found'],
    [400, 'an ErrorKey', zone, { ErrorKey: 'validation_error', Field: 'Id', Message: message }, 'rejected'],
    [410, 'an errorKey', zone, { errorKey: 'not_found', message }, 'not_found'],
    [422, 'a Message', zone, { Message: message }, 'rejected'],
    [409, 'a Message', zone, { Message: message }, 'rejected'],
  ] as const)('HTTP %d with %s', async (status, _, document, body, result) => {
    const whole = await startWhole({
      document,
      api: { max_retries: 0 },
      routes: { '*': () => reply(status, JSON.stringify(body)) },
    });
    await whole.exporter.start();
    await whole.pass(15 * 60_000);
    expect(whole.exporter.targets().map(({ lastFailure }) => lastFailure?.result)).toEqual([result]);
    const down = await whole.series('bunnynet_exporter_api_unreadable');
    expect(new Set(Object.values(down))).toEqual(new Set([0]));
    expect(whole.exporter.causes()).toEqual([expect.objectContaining({ reason: result, isDown: false })]);
    expect(whole.said('base_url')).toEqual([]);
    expect(whole.said(message)).not.toEqual([]);
  });

  it.each([
    ['nothing', application, 404, ''],
    ['a page', application, 404, '<html>404 Not Found</html>'],
    ['what any proxy writes', application, 404, '{"message":"no Route matched with those values"}'],
    ['a text, which this API never writes', zone, 404, '"Not Found"'],
    ['a status that is about no id', application, 405, '{"Message":"The method is not allowed."}'],
  ] as const)('but one that is answered with %s may be', async (_, document, status, body) => {
    const whole = await startWhole({
      document,
      api: { max_retries: 0 },
      routes: { '*': () => reply(status, body) },
    });
    await whole.exporter.start();
    await whole.pass(15 * 60_000);
    const down = await whole.series('bunnynet_exporter_api_unreadable');
    expect(Object.values(down)).toContain(1);
  });
});
