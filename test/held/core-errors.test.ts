import { expect, it } from 'vitest';
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
