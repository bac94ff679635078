/** A member's key, which may read some operations and not others: each form in which the API says so. */
import { expect, it } from 'vitest';
import { reply, startWhole } from './whole.ts';

const failed =
  '{"ErrorKey":"authentication.failed","Message":"The request authorization header is not valid."}';

it.each([
  ['401 with authentication.failed', () => reply(401, failed)],
  ['401 without a body', () => reply(401)],
  ['403', () => reply(403)],
])(
  'says once what it may not read, and how to leave that out, while all else is read: %s',
  async (_, refusal) => {
    const whole = await startWhole({
      document: {
        billing: { targets: 'all' },
        payment_requests: { targets: 'all' },
        pull_zones: { targets: 'all' },
        pull_zone_optimizer: { targets: 'all' },
      },
      routes: {
        '/billing': refusal,
        '/billing/payment-requests': refusal,
        '/pullzone': () => ({ Items: [{ Id: 7, Name: 'site' }], TotalItems: 1, HasMoreItems: false }),
        '/pullzone/7/optimizer/statistics': () => ({ TotalRequestsOptimized: 1 }),
      },
    });
    await whole.exporter.start();
    await whole.pass(8 * 3_600_000);
    const title = 'The key of account (from $KEY) may not read account billing, payment requests: HTTP 40';
    const advice = 'leave these kinds out: `discovery: { except: [billing, payment_requests] }`.';
    expect(whole.exporter.causes()).toEqual([
      expect.objectContaining({
        tone: 'warn',
        title: expect.stringContaining(title) as string,
        advice: expect.stringContaining(advice) as string,
      }),
    ]);
    // In eight hours, in which the one is asked hourly and the other each six.
    const told = whole.log.filter(({ level }) => Number(level) > 30);
    expect(told.map(({ msg }) => msg.includes(title) && msg.includes(advice))).toEqual([true]);
    expect(await whole.value('bunnynet_exporter_refused_keys', { api: 'core' })).toBe(0);
    expect(await whole.value('bunnynet_pull_zone_up')).toBe(1);
  },
);
