/** What an operator reads of what cannot be reached: what failed, since when, and what to do, each of it once. */
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { reply, startWhole, type WholeOptions } from './whole.ts';

const cost = { monthlyCost: 1 };
type Answer = (response: ServerResponse) => void;

const cutOff: Answer = (response) => void response.destroy();

/** Two applications, and what they answer. */
async function startApplications() {
  const given = { answer: cost as unknown };
  const whole = await startWhole({
    document: { applications: { interval: '1h', targets: ['a', 'b'] } },
    routes: { '/mc/apps/a/summary': () => given.answer, '/mc/apps/b/summary': () => given.answer },
  });
  return { whole, given };
}

it('a refusal after an outage begins with the refusal; that nothing can be read began before it', async () => {
  const { whole, given } = await startApplications();
  const [url] = await whole.exporter.start();
  const headline = async () => /<h1[^>]*>([^<]*)/.exec(await (await fetch(String(url))).text())?.[1];
  const goOn = async (answer: unknown, afterMs: number) => {
    whole.advance(afterMs);
    given.answer = answer;
    await whole.poll();
    whole.sweep();
  };
  await goOn(cost, 0);
  await goOn(cutOff, 10_000);
  const [outage] = whole.exporter.causes();
  await goOn(reply(401), 40_000);
  const [refusal] = whole.exporter.causes();
  expect([outage?.reason, refusal?.reason]).toEqual(['network', 'refused']);
  expect(Number(refusal?.sinceMs) - Number(outage?.sinceMs)).toBe(40_000);
  expect(await headline()).toBe('Nothing can be read since 12:00:10 UTC');
  await goOn(cost, 25_000);
  expect(whole.said('over after').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(/^over after 25 s: The application API refuses the key/),
  ]);
});

it('an outage in which one failure follows another began with the first of them', async () => {
  const { whole, given } = await startApplications();
  await whole.poll();
  for (const answer of [cutOff, reply(503), reply(200, '<h1>Blocked</h1>'), cutOff]) {
    whole.advance(10_000);
    given.answer = answer;
    await whole.poll();
    whole.sweep();
  }
  whole.advance(10_000);
  given.answer = cost;
  await whole.poll();
  whole.sweep();
  expect(whole.said('over after').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(/^over after 40 s: Nothing can be read from/),
  ]);
});

const html = reply(200, '<title>Web Page Blocked</title>');

it.each<[string, (api: string) => string, string, (Answer | undefined)?, WholeOptions['proxy']?]>([
  [
    'refuses connections',
    () => 'http://127.0.0.1:1',
    'Nothing can be read from 127.0.0.1:1: connection refused (ECONNREFUSED): AFFECTED Check apis.application.base_url and the firewalls in between.',
  ],
  [
    'cuts off its answers',
    (api) => api,
    'Nothing can be read from HOST: connection closed before the answer was complete (UND_ERR_SOCKET): AFFECTED Check the connection of this machine: its DNS, its firewall, its proxy.',
  ],
  [
    'does not answer in time',
    (api) => api,
    'Nothing can be read from HOST: no whole answer within 1s: AFFECTED Look at https://status.bunny.net. The exporter retries. If only large answers are late, raise the timeout of this API.',
    () => undefined,
  ],
  [
    'speaks no TLS',
    (api) => api.replace('http', 'https'),
    'Nothing can be read from HOST: no TLS, though the address begins with https (ERR_SSL_WRONG_VERSION_NUMBER): AFFECTED Check apis.application.base_url.',
  ],
  [
    'sends a page for people',
    (api) => api,
    'Nothing can be read from HOST: HTTP 200: what answered is no API, but an HTML page, "Web Page Blocked": AFFECTED Check apis.application.base_url, the firewalls and the proxies in between.',
    html,
  ],
  [
    'redirects',
    (api) => api,
    'The application API: HTTP 302: a redirect, which is not followed: AFFECTED Check apis.application.base_url.',
    reply(302, '', { location: 'https://example.com/' }),
  ],
  [
    'is behind a proxy that refuses connections',
    () => 'https://api.example',
    'Nothing can be read from api.example: the proxy 127.0.0.1:1: connection refused (ECONNREFUSED): AFFECTED Check HTTPS_PROXY and the firewalls in between.',
    undefined,
    { url: 'http://user:password@127.0.0.1:1', variable: 'HTTPS_PROXY', except: '' },
  ],
])(
  'an API that %s is one line: host, reason and advice, each once',
  async (_, addressOf, line, answer, proxy) => {
    const routes = { '/apps/a/summary': () => answer ?? cutOff };
    const applications = { interval: '1h', targets: ['a'] };
    const whole = await startWhole({ overSockets: true, document: { applications }, routes, proxy });
    const base_url = addressOf(whole.apiUrl);
    whole.document = {
      apis: { application: { base_url, max_retries: 0, timeout: '1s' } },
      applications,
    };
    await whole.reload();
    await whole.poll();
    whole.sweep();
    const expected = line
      .replace('HOST', new URL(whole.apiUrl).host)
      .replace('AFFECTED', '1 target (application). 1 target has no values yet.');
    expect(whole.log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg)).toEqual([expected]);
  },
);

it('two APIs at one dead address are one line, which names the settings of both', async () => {
  const dead = { base_url: 'http://127.0.0.1:1', max_retries: 0 };
  const whole = await startWhole({
    document: {
      apis: { application: dead, core: dead, video: dead },
      applications: { targets: ['a'] },
      billing: { targets: 'all' },
    },
    routes: {},
  });
  await whole.poll();
  whole.sweep();
  expect(whole.said('Nothing can be read').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(
      / Check apis\.application\.base_url, apis\.core\.base_url and the firewalls in between\.$/,
    ),
  ]);
});

it('a host whose name is not found is one line, too', async () => {
  const whole = await startWhole({
    overSockets: true,
    document: {
      apis: { application: { base_url: 'https://api.invalid', max_retries: 0 } },
      applications: { interval: '1h', targets: ['a'] },
    },
    routes: {},
  });
  await whole.poll();
  whole.sweep();
  expect(whole.said('Nothing can be read').map(({ msg }) => msg)).toEqual([
    expect.stringMatching(
      /^Nothing can be read from api\.invalid: host not found \(\w+\): .* Check apis\.application\.base_url and the DNS of this machine\.$/,
    ),
  ]);
});
