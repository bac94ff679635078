/** An API that answers 429 with a long Retry-After, and nothing more until then. */
import { describe, expect, it } from 'vitest';
import { eventually, type Route, reply, startWhole } from './whole.ts';

const ids = Array.from({ length: 30 }, (_, at) => `app${at}`);

interface Json {
  readonly counts: Readonly<Record<string, number>>;
  readonly targets: readonly { readonly state: string; readonly stale: boolean }[];
}

it('gets no requests; once targets are stale they are down on the page, in the JSON and for people', async () => {
  const whole = await startWhole({
    document: { applications: { interval: '1h', stale_after: '2h', targets: ids } },
    routes: Object.fromEntries(ids.map((id) => [`/mc/apps/${id}/summary`, () => ({ monthlyCost: 1 })])),
  });
  const [url] = await whole.exporter.start();
  await whole.poll();
  const ups = async () => Object.values(await whole.series('bunnynet_application_up'));
  const json = async () => (await (await fetch(`${url}/api/v1/targets`)).json()) as Json;
  expect(await ups()).toEqual(ids.map(() => 1));

  for (const id of ids)
    whole.routes[`/mc/apps/${id}/summary`] = () => reply(429, '', { 'retry-after': '36000' });
  const before = whole.requests.length;
  void whole.exporter.pollOnce();
  // What was under way at the same time is refused, too; the others wait.
  const failing = () => whole.exporter.targets().filter(({ state }) => state === 'failing').length;
  await eventually(() => expect(failing()).toBeGreaterThan(0));
  await eventually(() => expect(failing()).toBe(whole.requests.length - before));
  const asked = whole.requests.length;
  expect(asked - before).toBeLessThanOrEqual(8);
  whole.sweep();
  expect(whole.said('The application API answered 429; it gets no requests for')).toHaveLength(1);
  // Values that are not old yet are shown.
  expect(Object.keys(await whole.series('bunnynet_application_monthly_cost_dollars'))).toHaveLength(
    ids.length,
  );

  whole.advance(2 * 3_600_000 + 1);
  whole.sweep();
  expect(await ups()).toEqual(ids.map(() => 0));
  expect(await whole.series('bunnynet_application_monthly_cost_dollars')).toEqual({});
  expect(await whole.value('bunnynet_exporter_stale_targets')).toBe(ids.length);
  const { counts, targets } = await json();
  expect(counts).toMatchObject({ targets: 30, ok: 0, failing: failing(), stale: 30 });
  expect(targets.filter(({ state }) => state === 'stale')).toHaveLength(30 - failing());
  expect(targets.every(({ stale }) => stale)).toBe(true);
  expect(await (await fetch(`${url}/`)).text()).not.toContain('are being read</h1>');
  // One cause for all of them, said once more because the values have left the page.
  expect(whole.exporter.causes()).toEqual([
    expect.objectContaining({ reason: 'rate_limited', affected: '30 targets (application)' }),
  ]);
  expect(whole.said('The application API answered 429')).toHaveLength(2);
  expect(whole.requests).toHaveLength(asked);
});

describe('/-/ready at the start', () => {
  const start = async (answer: Route) => {
    const whole = await startWhole({
      document: { applications: { interval: '1h', targets: ids } },
      routes: { '*': answer },
    });
    await whole.exporter.start();
    return { whole, status: async (query = '') => (await whole.get(`/-/ready${query}`)).status };
  };

  it('is 200 after two minutes, though a pause holds back what was not read yet', async () => {
    const { whole, status } = await start(() => reply(429, '', { 'retry-after': '600' }));
    await whole.pass(118_000);
    expect(await status()).toBe(503);
    await whole.pass(4000);
    expect(await status()).toBe(200);
    expect(await status('?strict')).toBe(503);
    whole.routes['*'] = () => ({ monthlyCost: 1 });
    await whole.pass(600_000);
    expect(await status('?strict')).toBe(200);
  });

  it('is 200 with ?strict once something was read, whatever is polled since', async () => {
    const { whole, status } = await start(() => ({ monthlyCost: 1 }));
    await whole.pass(1000);
    whole.document = { applications: { targets: ['other'] } };
    whole.routes['*'] = () => reply(404);
    await whole.reload();
    await whole.pass(5000);
    expect(await status('?strict')).toBe(200);
  });

  it.each([
    ['503 while its only listing is refused', reply(401), 503],
    ['200 if a listing says that there is nothing to read', { items: [] }, 200],
  ])('is with ?strict %s', async (_, answer, expected) => {
    const whole = await startWhole({
      document: { applications: { targets: 'all' } },
      routes: { '/mc/apps': () => answer },
    });
    await whole.exporter.start();
    await whole.pass(1000);
    expect((await whole.get('/-/ready?strict')).status).toBe(expected);
  });

  it('is 200 as soon as everything ended once, whatever the outcome', async () => {
    const { whole, status } = await start(() => reply(404));
    expect(await status()).toBe(503);
    await whole.pass(1000);
    expect(await status()).toBe(200);
    expect(await status('?strict')).toBe(503);
  });
});
