import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { load } from '../src/demo.ts';
import { createExporter, type Exporter } from '../src/exporter.ts';
import { everything } from '../src/simulator/everything.ts';
import { createSimulator, type Simulator } from '../src/simulator/simulator.ts';

const running: (Exporter | Simulator)[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const hostile = `<b onclick="alert('1')">&`;

/** The whole program against a simulator, with one application that has a hostile name and is polled without pause. */
async function startAll(requestsPerSecond = 500) {
  const simulator = createSimulator();
  await simulator.start();
  running.push(simulator);
  const { config, credentials } = await load(
    everything(simulator, {
      kinds: ['application'],
      api: () => ({
        timeout: '2s',
        max_concurrency: 8,
        requests_per_second: requestsPerSecond,
        max_retries: 0,
      }),
      sections: {
        application: {
          interval: '30s',
          stale_after: '1m',
          targets: [{ id: simulator.applications[0]?.id, name: hostile }],
        },
      },
    }),
  );
  // A file does not allow such a short interval.
  const intervalMs = 50;
  const sections = config.sections.map((section) => ({
    ...section,
    intervalMs,
    targets:
      section.targets === 'all' ? section.targets : section.targets.map((one) => ({ ...one, intervalMs })),
  }));
  let refusal: Error | undefined;
  const exporter = await createExporter({
    load: () =>
      refusal ? Promise.reject(refusal) : Promise.resolve({ config: { ...config, sections }, credentials }),
    addresses: [{ host: '127.0.0.1', port: 0 }],
    telemetryPath: '/metrics',
    enableLifecycle: true,
    shard: { index: 0, count: 1 },
    log: pino({ level: 'silent' }),
  });
  running.push(exporter);
  const [url] = await exporter.start();
  const refuse = (error: Error | undefined) => {
    refusal = error;
  };
  return { simulator, exporter, refuse, page: async () => await (await fetch(`${url}/`)).text() };
}

describe('the status page of the whole exporter', () => {
  it("shows a target's state, its name as text, and why it fails", async () => {
    const { simulator, page } = await startAll();
    await expect.poll(page).toContain('The target is being read');
    expect(await page()).toMatch(/Application status: <a class="chip t-\w+" /);
    expect(await page()).toContain('&lt;b onclick=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;');
    expect(await page()).not.toContain('<b onclick');
    expect(await page()).toContain('<dt>shard</dt><dd>0/1</dd>');
    simulator.inject({ type: 'status-401', kind: 'application' });
    await expect.poll(page).toContain('The application API refuses the key of account (');
    expect(await page()).toMatch(/<h1 class="bad">Nothing can be read since [\d:]+ UTC<\/h1>/);
    expect(await page()).not.toContain(simulator.keys.account);
  });

  it('says that a configuration was refused, until a good one is loaded', async () => {
    const { exporter, refuse, page } = await startAll();
    refuse(new Error('config.yml:3: wrong'));
    await expect(exporter.reload()).rejects.toThrow('config.yml:3: wrong');
    expect(await page()).toContain('<pre tabindex="0">config.yml:3: wrong</pre>');
    refuse(undefined);
    await exporter.reload();
    expect(await page()).not.toContain('config.yml:3');
  });
});
