import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { serve } from '../http/serve.ts';
import {
  calm,
  failing,
  listing,
  many,
  nowMs,
  pagesOver,
  refusedListing,
  status,
} from '../status/fixtures.ts';
import { chromiumFlags, startDemo, stopAll, toolPath } from './processes.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: toolPath('chromium'), args: chromiumFlags });
});
afterAll(() => browser.close());

const phone = { viewport: { width: 360, height: 740 } };

/** A tab. At the end of the test it must have logged only expected errors and contacted no other origin. */
async function openTab(options: BrowserContextOptions = {}, expected?: RegExp): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  const complaints: string[] = [];
  const origins = new Set<string>();
  tab.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type()) || expected?.test(message.text())) return;
    complaints.push(message.text());
  });
  tab.on('pageerror', (error) => complaints.push(error.message));
  tab.on('request', (request) => {
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
  });
  onTestFinished(async () => {
    const { origin } = new URL(tab.url());
    await context.close();
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([origin]);
  });
  return tab;
}

const rows = (tab: Page) => tab.locator('#targets tbody tr');
const names = (tab: Page) => tab.locator('#targets .name').allInnerTexts();
const sidewaysPx = (tab: Page) =>
  tab.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

const isFirstRowInView = `(() => {
  const { top, bottom } = document.querySelector('#targets tbody tr').getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
})()`;

interface TargetsJson {
  readonly counts: {
    readonly targets: number;
    readonly failing: number;
    readonly lacking: number;
    readonly by_kind: Readonly<Record<string, { readonly targets: number }>>;
    readonly conditions: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
  readonly targets: readonly {
    readonly name: string | null;
    readonly ids: Readonly<Record<string, string>>;
    readonly credential: string;
  }[];
}

/** The targets from the JSON page. */
async function readTargets(origin: string): Promise<TargetsJson> {
  return (await (await fetch(`${origin}/api/v1/targets`)).json()) as TargetsJson;
}

/** A page with these targets, without an exporter. */
async function servePage(targets: () => readonly TargetStatus[]): Promise<string> {
  const { url } = await serve({ routes: pagesOver(targets) });
  return `${url}/`;
}

const hostile = `<img src=x onerror="document.title='taken'">'"&lt;</td></table><script>document.title='taken'</script>`;
const hostileNames = [
  hostile,
  `\u202Eright to left \u05D0\u05D1\u05D2 \u0627\u0644\u0639\u0631\u0628\u064A\u0629`,
  '🐰🥕👩‍👩‍👧‍👦 caféé',
  'x'.repeat(300),
  'many short words '.repeat(18).trim(),
];
const awkward = () => [
  ...hostileNames.map((name, at) => failing({ app_id: `h${at}` }, { name, message: name })),
  status(
    { library_id: '9'.repeat(19), video_id: '0f8c3f9e-0000-4000-8000-000000000000' },
    { kind: 'video_storage' },
  ),
  status({ app_id: 'p' }, { state: 'pending', lastSuccessMs: undefined, lastDurationSeconds: undefined }),
  status({ shield_zone_id: '5' }, { kind: 'shield_zone', state: 'absent', stale: true }),
  status(
    { shield_zone_id: '6' },
    { kind: 'rate_limit', state: 'lacking', lackingSinceMs: 1_786_800_000_000 },
  ),
];

const awkwardListings = [
  listing('applications', {
    found: 12_345,
    selections: [
      {
        kind: 'application',
        targets: 12_340,
        excluded: hostileNames.map((name, at) => ({ ids: { app_id: `x${at}` }, name })),
      },
    ],
  }),
  listing('endpoints', {
    ...refusedListing,
    parent: { ids: { shield_zone_id: '1' }, name: hostile },
    credential: 'a-credential-with-a-long-name',
  }),
  listing('videos', { state: 'pending', lastSuccessMs: undefined }),
];

describe('the status page of the demo', () => {
  let origin = '';
  beforeAll(async () => {
    origin = await startDemo([]);
  });
  afterAll(stopAll);

  it('shows every target, with working links', async () => {
    const tab = await openTab();
    await tab.goto(`${origin}/`);
    const { counts, targets } = await readTargets(origin);
    expect(Object.keys(counts.by_kind).toSorted()).toEqual(resources.map(({ kind }) => kind).toSorted());
    expect(counts.lacking).toBeGreaterThan(0);
    expect(await tab.locator('h1').textContent()).toBe(
      `${counts.targets - counts.lacking} of ${counts.targets} targets are being read; the plan lacks ${counts.lacking}`,
    );

    const shown = await names(tab);
    const next = tab.getByRole('link', { name: 'Next', exact: true });
    const links = (await tab.evaluate('[...document.links].map(({ href }) => href)')) as string[];
    for (let page = 2; await next.isVisible(); page++) {
      await next.click();
      await tab.getByText(`page ${page} of`).waitFor();
      shown.push(...(await names(tab)));
    }
    const wanted = targets.map(({ name, ids }) => name ?? Object.values(ids).join(' / '));
    expect(wanted).toHaveLength(counts.targets);
    expect(shown.toSorted()).toEqual(wanted.toSorted());

    // Links to the documentation lead out of here.
    const own = links.filter((link) => new URL(link).hostname !== 'github.com');
    const addresses = new Set(own.map((link) => link.replace(/#.*/, '')));
    expect(addresses.size).toBeGreaterThan(resources.length);
    for (const address of addresses) expect((await fetch(address)).status, address).toBe(200);
  });

  it.each([true, false])('filters and sorts (with scripts: %s)', async (javaScriptEnabled) => {
    const { by_kind: kinds, conditions } = (await readTargets(origin)).counts;
    const applications = kinds['application']?.targets ?? 0;
    expect(applications).toBeGreaterThan(1);
    const tab = await openTab({ javaScriptEnabled });
    // With scripts filters act at once; there is no button then.
    const show = async () => {
      if (!javaScriptEnabled) await tab.getByRole('button', { name: 'Show' }).click();
    };
    await tab.goto(`${origin}/`);
    await tab.getByLabel('Kind', { exact: true }).selectOption('application');
    await show();
    await expect.poll(() => rows(tab).count()).toBe(applications);
    expect(new URL(tab.url()).searchParams.get('kind')).toBe('application');

    await tab.getByRole('link', { name: /^Target/ }).click();
    await tab.waitForURL(`${origin}/?kind=application&sort=name#targets`);
    await tab.locator('th[aria-sort=ascending]', { hasText: 'Target' }).waitFor();
    const sorted = await names(tab);
    expect(sorted).toHaveLength(applications);
    expect(sorted).toEqual(sorted.toSorted());
    await tab.getByRole('link', { name: /^Target/ }).click();
    await tab.locator('th[aria-sort=descending]').waitFor();
    expect(await names(tab)).toEqual(sorted.toReversed());

    const [wanted = ''] = sorted;
    await tab.getByLabel('Search').fill(wanted.toUpperCase());
    await tab.getByLabel('Search').press('Enter');
    await expect.poll(() => rows(tab).count()).toBeLessThan(applications);
    expect(await names(tab)).toContain(wanted);

    await tab.getByRole('link', { name: 'Show all' }).click();
    const suspended = conditions['application']?.['suspended'] ?? 0;
    expect(suspended).toBeGreaterThan(0);
    await tab.getByRole('link', { name: `${suspended} suspended` }).click();
    await expect
      .poll(() => tab.locator('#targets .chip').allInnerTexts())
      .toEqual(Array(suspended).fill('suspended'));

    await tab.locator('.overview').getByRole('link', { name: 'DNS', exact: true }).click();
    const ofDns = (kinds['dns_zone']?.targets ?? 0) + (kinds['dns_record']?.targets ?? 0);
    await expect.poll(() => rows(tab).count()).toBe(ofDns);
    // The list is far below the counts by product, which link to it.
    await expect.poll(() => tab.evaluate(isFirstRowInView)).toBe(true);
    expect(new Set(await tab.locator('#targets .of').allInnerTexts())).toEqual(
      new Set(['DNS zone · account', 'DNS records · account']),
    );
  });
});

describe('the status page', () => {
  it('is readable in light and dark: every text has enough contrast', async () => {
    const { url } = await serve({
      routes: pagesOver(awkward, {
        listings: () => awkwardListings,
        exporterStatus: () => ({
          ...calm,
          schemaDrift: [{ kind: 'application', field: 'monthlyCost', count: 3, lastAtMs: nowMs }],
          pauses: [{ api: 'shield', credential: 'account', untilMs: Date.now() + 20_000 }],
          configuration: { loadedAtMs: nowMs, refused: { atMs: nowMs, message: 'config.yml:3: wrong' } },
        }),
      }),
    });
    const tab = await openTab();
    await tab.goto(`${url}/`);
    for (const [colorScheme, ground] of [
      ['light', 'rgb(246, 247, 249)'],
      ['dark', 'rgb(14, 18, 23)'],
    ] as const) {
      await tab.emulateMedia({ colorScheme });
      expect(await tab.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(ground);
      // WCAG contrast of every text with the nearest background.
      const faint = await tab.evaluate(`(() => {
      const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
      const light = (colour) => {
        const [r, g, b] = parts(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const groundOf = (element) => {
        const colour = getComputedStyle(element).backgroundColor;
        return parts(colour)[3] === 0 ? groundOf(element.parentElement) : colour;
      };
      const texts = [...document.body.querySelectorAll('*')].filter((element) =>
        element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
      return texts.map((element) => {
        const [a, b] = [light(getComputedStyle(element).color), light(groundOf(element))];
        return { text: element.textContent.slice(0, 40), ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) };
      });
    })()`);
      const texts = faint as { text: string; ratio: number }[];
      expect(texts.length).toBeGreaterThan(80);
      expect(texts.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
    }
  });

  it('never scrolls sideways at any width', async () => {
    const tab = await openTab();
    const { url } = await serve({ routes: pagesOver(awkward, { listings: () => awkwardListings }) });
    await tab.goto(`${url}/`);
    expect(await rows(tab).count()).toBe(9);
    expect(await tab.locator('#listings tbody tr').count()).toBe(3);
    for (const width of [320, 360, 412, 768, 1000, 1101, 1280]) {
      await tab.setViewportSize({ width, height: 800 });
      expect(await sidewaysPx(tab), `at ${width}`).toBe(0);
    }
  });

  it('has the same space on both sides of its tables at any width, whatever columns are left out', async () => {
    const lists: Readonly<Record<string, readonly TargetStatus[]>> = {
      ok: many(3).map((each) => ({ ...each, state: 'ok', stale: false, lastFailure: undefined })),
      failing: [failing({ app_id: 'a' })],
      stale: [failing({ app_id: 'a' }, { stale: true })],
      pending: [
        status({ app_id: 'p' }, { state: 'pending', lastSuccessMs: undefined }),
        failing({ app_id: 'a' }),
      ],
    };
    for (const [name, list] of Object.entries(lists)) {
      const tab = await openTab();
      await tab.goto(await servePage(() => list));
      for (const width of [390, 1000, 1100, 1101, 1280]) {
        await tab.setViewportSize({ width, height: 900 });
        const spaces = await tab.evaluate(`(() => {
          const edges = ({ paddingLeft, paddingRight }) => [paddingLeft, paddingRight];
          const rows = [...document.querySelectorAll('.overview tr')].map((row) => {
            const cells = [...row.children].filter((cell) => cell.checkVisibility());
            return [getComputedStyle(cells[0]).paddingLeft, getComputedStyle(cells.at(-1)).paddingRight];
          });
          const [head, target] = ['.rows thead tr', '.rows tbody tr'].map((row) => document.querySelector(row));
          const isGrid = getComputedStyle(target).display === 'grid';
          return [...rows, ...(isGrid ? [edges(getComputedStyle(head)), edges(getComputedStyle(target))] : [])]
            .filter(([left]) => left !== '32px');
        })()`);
        expect(new Set((spaces as string[][]).flat()), `${name} at ${width}`).toEqual(new Set(['16px']));
      }
    }
  });

  it('cuts no column of the overview on a phone, whatever states and kinds there are', async () => {
    const ofEach = ['failing', 'absent', 'stale', 'lacking', 'ok'].flatMap((state) =>
      resources.map(({ kind }) =>
        status({ app_id: state }, { kind, state, stale: state === 'stale' } as never),
      ),
    );
    ofEach.push(status({ app_id: 'b' }, { credential: 'the_account_of_a_customer_with_a_long_name' }));
    const tab = await openTab();
    await tab.goto(await servePage(() => ofEach));
    for (const width of [360, 390]) {
      await tab.setViewportSize({ width, height: 740 });
      const right = await tab.evaluate(`Math.max(...[...document.querySelectorAll('.overview *')]
        .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().right))`);
      expect(right, `at ${width}`).toBeLessThanOrEqual(width);
      expect(await tab.locator('.overview').getByText('Not in the plan').isVisible()).toBe(true);
    }
  });

  it('tells targets with one name apart, and has room for reasons, at any width', async () => {
    const message =
      'HTTP 404: not_found.ratelimit_shieldzone: there is no rate limit of this zone, or the zone does not belong to the account of the key';
    const more = { name: 'marketing', stale: true, condition: 'suspended', result: 'auth', message };
    const url = await servePage(() => [
      failing({ id: '1' }, more),
      failing({ id: '1' }, { ...more, kind: 'video_storage', credential: 'library/248113' }),
    ]);
    const tab = await openTab();
    await tab.goto(url);
    for (const width of [390, 820, 1000, 1100, 1101, 1280, 1600]) {
      await tab.setViewportSize({ width, height: 900 });
      const texts = await rows(tab).allInnerTexts();
      expect(texts[0], `at ${width}`).toContain('Application · account');
      expect(texts[1], `at ${width}`).toContain('Video · library/248113');
      const lines = await tab.evaluate(`(() => {
        const reason = document.querySelector('#targets .why bdi');
        return reason.getBoundingClientRect().height / parseFloat(getComputedStyle(reason).lineHeight);
      })()`);
      expect(lines, `at ${width}`).toBeLessThan(6);
    }
  });

  it('shows on a phone everything about a target, with labels', async () => {
    const tab = await openTab(phone);
    const ill = failing({ app_id: 'q7TzVb2' }, { name: 'storefront', stale: true, condition: 'suspended' });
    await tab.goto(await servePage(() => [ill]));
    const row = rows(tab).first();
    const shown = 'storefront, q7TzVb2, failing, stale, suspended, 184 ms, in 4 s, HTTP 503';
    for (const text of shown.split(', ')) {
      expect(await row.getByText(text).first().isVisible(), text).toBe(true);
    }
    // A column of zeros is left out.
    for (const state of ['Failing', 'Stale']) {
      expect(await tab.locator('.overview').getByText(state).isVisible(), state).toBe(true);
    }
    const label = await tab.evaluate(
      `getComputedStyle(document.querySelector('[data-label="Next poll"]'), '::before').content`,
    );
    expect(label).toBe('"Next poll"');
    expect(await tab.getByRole('cell').count()).toBeGreaterThan(6);
  });

  it('shows hostile names as text', async () => {
    const tab = await openTab();
    await tab.goto(
      await servePage(() =>
        hostileNames.map((name, at) => failing({ app_id: `${at}` }, { name, message: name })),
      ),
    );
    const texts = (selector: string) => tab.locator(selector).allTextContents();
    expect((await texts('#targets .name')).toSorted()).toEqual(hostileNames.toSorted());
    expect((await texts('#targets .why bdi')).toSorted()).toEqual(hostileNames.toSorted());
    expect(await tab.locator('img').count()).toBe(0);
    expect(await tab.title()).toBe('(5) failing · bunnynet-exporter');
    expect(await rows(tab).locator('td').count()).toBe(5 * 6);
  });

  it('filters while typing, and keeps the focus, a short address and the back button', async () => {
    const tab = await openTab();
    const url = await servePage(() => many(300));
    await tab.goto(url);
    await tab.getByLabel('Search').pressSequentially('app000042');
    await expect.poll(() => names(tab)).toEqual(['service 258']);
    expect(tab.url()).toBe(`${url}?q=app000042`);
    expect(await tab.evaluate('document.activeElement.name')).toBe('q');
    await tab.getByRole('link', { name: 'Show all' }).click();
    await expect.poll(() => rows(tab).count()).toBe(100);
    expect(tab.url()).toBe(url);
    await tab.goBack();
    expect(await names(tab)).toEqual(['service 258']);
    expect(await tab.getByLabel('Search').inputValue()).toBe('app000042');
  });

  it('can be used with only the keyboard', async () => {
    const tab = await openTab();
    await tab.goto(await servePage(awkward));
    await tab.keyboard.press('Tab');
    const focused = () => tab.evaluate('document.activeElement.textContent');
    expect(await focused()).toBe('To the targets');
    await tab.keyboard.press('Enter');
    await tab.keyboard.press('Tab');
    expect(await focused()).toContain('Polls');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    await tab.waitForURL('**/?sort=name*');
  });

  it('refreshes itself, and keeps the scroll position, the focus and what is being typed', async () => {
    let statuses = many(300);
    const tab = await openTab();
    await tab.clock.install();
    await tab.goto(await servePage(() => statuses));
    await tab.getByRole('link', { name: 'app000200' }).focus();
    await tab.evaluate('scrollTo(0, 500)');
    const place = () => tab.evaluate('document.activeElement.getBoundingClientRect().top');
    const before = await place();
    await tab.evaluate('document.querySelector("input[type=search]").value = "half a wo"');
    statuses = statuses.map((each) => ({ ...each, state: 'ok', lastFailure: undefined }));
    await tab.clock.runFor(16_000);
    await tab.getByText('All 300 targets are being read').waitFor();
    expect(await tab.title()).toBe('bunnynet-exporter');
    // The problems above are gone; what the user looks at stays in place.
    expect(Math.abs(Number(await place()) - Number(before))).toBeLessThan(3);
    expect(await tab.evaluate('document.activeElement.className')).toBe('ids');
    expect(await tab.getByLabel('Search').inputValue()).toBe('half a wo');
  });

  it('requests nothing while it is hidden', async () => {
    let reads = 0;
    const url = await servePage(() => {
      reads++;
      return many(3);
    });
    const tab = await openTab();
    await tab.clock.install();
    await tab.goto(url);
    const readsOfOnePage = reads;
    await tab.evaluate('Object.defineProperty(document, "hidden", { value: true, configurable: true })');
    await tab.clock.runFor(120_000);
    expect(reads).toBe(readsOfOnePage);
    await tab.evaluate('delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))');
    await expect.poll(() => reads).toBe(2 * readsOfOnePage);
  });

  it('asks a slow exporter once at a time, and gives up after a minute', async () => {
    const tab = await openTab();
    await tab.clock.install();
    await tab.goto(await servePage(() => many(3)));
    // So that the installed clock counts.
    await tab.evaluate(`AbortSignal.timeout = (ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), ms);
      return controller.signal;
    }`);
    let asked = 0;
    await tab.route('**/*', () => void asked++);
    const lost = tab.getByText('The exporter does not answer.');
    await tab.clock.runFor(74_000);
    await expect.poll(() => asked).toBe(1);
    expect(await lost.isVisible()).toBe(false);
    await tab.clock.runFor(2000);
    await lost.waitFor({ state: 'visible' });
    await tab.clock.runFor(15_000);
    await expect.poll(() => asked).toBe(2);
  });

  it('shows when the exporter does not answer, and when it answers again', async () => {
    const tab = await openTab({}, /502/);
    await tab.clock.install();
    await tab.goto(await servePage(() => many(3)));
    const lost = tab.getByText('The exporter does not answer.');
    expect(await lost.isVisible()).toBe(false);
    await tab.route('**/*', (route) => route.fulfill({ status: 502 }), { times: 1 });
    await tab.clock.runFor(16_000);
    await lost.waitFor({ state: 'visible' });
    await tab.clock.runFor(16_000);
    await lost.waitFor({ state: 'hidden' });
  });
});
