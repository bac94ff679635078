/** What Prometheus discovers of the hostnames of pull zones, tested with the whole exporter. */
import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { type Request, type Route, reply, startWhole, type WholeOptions } from './whole.ts';

const system = { Value: 'shop.b-cdn.net', IsSystemHostname: true, HasCertificate: true };
const cdn = { Value: 'cdn.shop.example', HasCertificate: true, CertificateProvisionType: 1 };
const img = { Value: 'img.shop.example', HasCertificate: false, CertificateProvisionType: 4 };
const docs = { Value: 'docs.example', HasCertificate: true, CertificateProvisionType: 99 };

type Zone = Readonly<Record<string, unknown>>;
const shop: Zone = { Id: 7, Name: 'shop', Hostnames: [system, cdn, img] };
const manual: Zone = { Id: 9, Name: 'manual', Hostnames: [docs] };
const listed = (...zones: readonly Zone[]) => ({ Items: zones, HasMoreItems: false });

function group(hostname: string, id: string, name: string, certificate: string) {
  return {
    targets: [hostname],
    labels: {
      __meta_bunnynet_pull_zone_id: id,
      __meta_bunnynet_pull_zone_name: name,
      __meta_bunnynet_certificate: certificate,
      __meta_bunnynet_account: 'account',
    },
  };
}

const ofShop = [
  group('cdn.shop.example', '7', 'shop', 'http01'),
  group('img.shop.example', '7', 'shop', 'none'),
];
const ofManual = [group('docs.example', '9', 'manual', 'unknown')];

async function start(route: () => unknown, options: Partial<WholeOptions> = {}) {
  const whole = await startWhole({
    document: { pull_zones: { targets: 'all' } },
    routes: { '/pullzone': route },
    ...options,
  });
  const [url] = await whole.exporter.start();
  const ask = () => fetch(`${url}/sd/hostnames`);
  return {
    whole,
    ask,
    status: async () => (await ask()).status,
    groups: async () => {
      const response = await ask();
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      return (await response.json()) as readonly unknown[];
    },
  };
}

it('are those of the last complete listing, without the hostnames of bunny.net', async () => {
  let answer: unknown = listed(shop, manual);
  const { whole, groups } = await start(() => answer);
  await whole.poll();
  expect(await groups()).toEqual([...ofShop, ...ofManual]);
  answer = listed({ ...shop, Name: 'store', Hostnames: [cdn] });
  await whole.poll();
  expect(await groups()).toEqual([group('cdn.shop.example', '7', 'store', 'http01')]);
  answer = listed();
  await whole.poll();
  expect(await groups()).toEqual([]);
});

it('stay while the listing fails or is incomplete, also when the values are stale', async () => {
  let answer: unknown = listed(shop, manual);
  const { whole, groups } = await start(() => answer);
  await whole.poll();
  for (const failing of [reply(500), { Items: [manual], TotalItems: 2, HasMoreItems: false }, reply(401)]) {
    answer = failing;
    await whole.poll();
    whole.advance(3_600_000);
    expect(await whole.value('bunnynet_pull_zone_enabled', { pull_zone_id: '7' })).toBeUndefined();
    expect(await groups()).toEqual([...ofShop, ...ofManual]);
  }
});

it.each(runs([null, { 0: cdn }], [null, 'cdn.shop.example', { 0: cdn }]))(
  'stay where a listing has %j for them',
  async (Hostnames) => {
    let answer = listed(shop, manual);
    const { whole, groups } = await start(() => answer);
    await whole.poll();
    answer = listed({ ...shop, Hostnames }, manual);
    await whole.poll();
    expect(await groups()).toEqual([...ofShop, ...ofManual]);
  },
);

it('are not known before the first complete listing: an empty list would remove every target', async () => {
  let answer: unknown = reply(500);
  const { whole, ask, groups } = await start(() => answer);
  await whole.poll();
  const response = await ask();
  expect(response.status).toBe(503);
  expect(await response.text()).toBe('not known yet: wait for a complete listing of the pull zones\n');
  answer = listed(shop);
  await whole.poll();
  expect(await groups()).toEqual(ofShop);
});

it('are not known while the first poll is under way', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { whole, status, groups } = await start(async () => {
    await held;
    return listed(shop);
  });
  expect(await status()).toBe(503);
  release();
  await whole.poll();
  expect(await groups()).toEqual(ofShop);
});

it('are not known until zones that a reload turns on were read, although they were listed before', async () => {
  let answer: unknown = listed(shop);
  const { whole, ask, status, groups } = await start(() => answer, {
    document: { pull_zone_statistics: { targets: 'all' } },
  });
  await whole.poll();
  const off = await ask();
  expect(off.status).toBe(404);
  expect(await off.text()).toBe('pull_zones is off: add it to the configuration to list the hostnames\n');
  answer = reply(500);
  whole.document = { pull_zone_statistics: { targets: 'all' }, pull_zones: { targets: 'all' } };
  await whole.reload();
  await whole.poll();
  expect(await status()).toBe(503);
  answer = listed(shop);
  await whole.poll();
  expect(await groups()).toEqual(ofShop);
});

it('are those of the selected zones, by their own names', async () => {
  const { whole, groups } = await start(() => listed(shop, manual), {
    document: { pull_zones: { targets: [{ id: 7, name: 'our shop' }, 8] } },
  });
  await whole.poll();
  expect(await groups()).toEqual([
    group('cdn.shop.example', '7', 'our shop', 'http01'),
    group('img.shop.example', '7', 'our shop', 'none'),
  ]);
});

it('are none where the configuration names no zone', async () => {
  const { whole, groups } = await start(() => listed(shop), {
    document: { pull_zones: { targets: [] } },
  });
  await whole.poll();
  expect(await groups()).toEqual([]);
});

describe('of several accounts', () => {
  const keys = { ACME: 'the-key-of-acme', UMBRELLA: 'the-key-of-umbrella' };
  const credentials = { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } };
  const ofBoth = { credentials, accounts: ['acme', 'umbrella'], pull_zones: { targets: 'all' } } as never;
  const ofAcme = { credentials: { acme: credentials.acme }, pull_zones: { targets: 'all' } } as never;

  /** What the list of each account answers; acme has the shop, umbrella what is set by hand. */
  async function startBoth(
    answers: { acme?: Route; umbrella?: Route } = {},
    options: Partial<WholeOptions> = {},
  ) {
    const whole = await startWhole({
      document: ofBoth,
      env: keys,
      routes: {
        '/pullzone': (request: Request) =>
          request.key === keys.ACME
            ? (answers.acme?.(request) ?? listed(shop))
            : (answers.umbrella?.(request) ?? listed(manual)),
      },
      ...options,
    });
    await whole.exporter.start();
    /** The hostnames, or the status where it is not 200. */
    const ask = async (account?: string) => {
      const { status, body } = await whole.get(
        `/sd/hostnames${account === undefined ? '' : `?account=${account}`}`,
      );
      if (status !== 200) return { status, body: body.trim() };
      return (JSON.parse(body) as ReturnType<typeof group>[]).flatMap(({ targets }) => targets);
    };
    return { whole, answers, ask };
  }
  const acmes = ['cdn.shop.example', 'img.shop.example'];
  const umbrellas = ['docs.example'];
  const unknown = (account: string) => ({
    status: 503,
    body: `not known yet: wait for a complete listing of the pull zones of ${account}`,
  });

  type Trouble = [how: string, answer: ReturnType<typeof reply>];

  it.each<Trouble>([
    ['its answers are errors', reply(500)],
    ...runs<Trouble[]>([], [['its key is refused', reply(401)]]),
  ])(
    'are known once every first list has ended, although one account never had one: %s',
    async (_, answer) => {
      const { whole, answers, ask } = await startBoth({ umbrella: () => answer });
      await whole.pass(30_000);
      expect(await ask()).toEqual(acmes);
      expect(await ask('acme')).toEqual(acmes);
      expect(await ask('umbrella')).toEqual(unknown('umbrella'));
      answers.umbrella = () => listed(manual);
      await whole.pass(runs(700_000, 3_600_000));
      expect(await ask()).toEqual([...acmes, ...umbrellas]);
      // Within a run, an account whose list fails keeps its hostnames.
      answers.umbrella = () => answer;
      await whole.pass(runs(2_000_000, 7_200_000));
      expect(await ask()).toEqual([...acmes, ...umbrellas]);
      expect(await ask('umbrella')).toEqual(umbrellas);
    },
  );

  it('wait for a slow list for two minutes, and each account for its own alone', async () => {
    const hangs: Route = () => () => undefined;
    const { whole, ask } = await startBoth({ umbrella: hangs }, { api: { timeout: '5m' } });
    await whole.pass(110_000);
    expect(await ask()).toMatchObject({ status: 503 });
    expect(await ask('acme')).toEqual(acmes);
    await whole.pass(15_000);
    expect(await ask()).toEqual(acmes);
    expect(await ask('umbrella')).toEqual(unknown('umbrella'));
  });

  it('stay when a reload adds an account whose key is refused', async () => {
    const { whole, ask } = await startBoth({ umbrella: () => reply(401) }, { document: ofAcme });
    await whole.pass(3000);
    expect(await ask()).toEqual(acmes);
    expect(await ask('umbrella')).toEqual({ status: 404, body: 'account: expected acme; got "umbrella"' });
    whole.document = ofBoth;
    await whole.reload();
    expect(await ask()).toEqual(acmes);
    await whole.pass(600_000);
    expect(await ask()).toEqual(acmes);
    expect(await ask('umbrella')).toEqual(unknown('umbrella'));
  });

  it('are of one account only where it is configured', async () => {
    const { whole, ask } = await startBoth();
    await whole.pass(3000);
    expect(await ask('initech')).toEqual({
      status: 404,
      body: 'account: expected acme or umbrella; got "initech"',
    });
  });
});

it('the hostnames of an account are not known, rather than none, while it has the key of another one', async () => {
  const keys = { ACME: 'the-key-of-acme', UMBRELLA: 'the-key-of-umbrella' };
  const whole = await startWhole({
    document: {
      credentials: { acme: { env: 'ACME' }, umbrella: { env: 'UMBRELLA' } },
      accounts: ['acme', 'umbrella'],
      pull_zones: { targets: 'all' },
    } as never,
    env: keys,
    routes: {
      '/pullzone': ({ key }) => listed(key === keys.ACME ? shop : manual),
    },
  });
  await whole.exporter.start();
  await whole.pass(5000);
  const ask = async () => await whole.get('/sd/hostnames?account=umbrella');
  expect((await ask()).body).toContain('docs.example');
  // Somebody copies the wrong secret.
  whole.env = { ACME: keys.ACME, UMBRELLA: keys.ACME };
  await whole.reload();
  await whole.pass(5000);
  expect(whole.exporter.causes().map(({ reason }) => reason)).toContain('same_key');
  const { status, body } = await ask();
  // With an empty list, Prometheus would remove every target.
  expect([status, body]).toEqual([503, expect.stringContaining('not known yet')]);
});
