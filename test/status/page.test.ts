import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListingStatus } from '../../src/polling/listing-status.ts';
import type { TargetStatus } from '../../src/polling/target-task.ts';
import { statusPageHeaders } from '../../src/status/assets.ts';
import { html } from '../../src/status/html.ts';
import { renderStatusPage } from '../../src/status/page.ts';
import type { StatusQuery } from '../../src/status/query.ts';
import { buildView, type ExporterStatus } from '../../src/status/view.ts';
import { clockText, durationInWords, pollDuration } from '../../src/text.ts';
import { anyText } from '../any-text.ts';
import {
  calm,
  causeInput,
  everything,
  failing,
  kinds,
  listing,
  many,
  nowMs,
  refusedListing,
  status,
  tallyOf,
} from './fixtures.ts';

async function render(
  statuses: readonly TargetStatus[],
  more: {
    query?: Partial<StatusQuery>;
    exporter?: Partial<ExporterStatus>;
    causes?: Parameters<typeof causeInput>[2];
    listings?: readonly ListingStatus[];
  } = {},
): Promise<string> {
  const sources = {
    kinds,
    telemetryPath: '/metrics',
    accounts: () => ['account'],
    exporterStatus: () => ({ ...calm, ...more.exporter }),
    causeInput: () => causeInput(statuses, more.listings, more.causes),
    targets: () => statuses,
    listings: () => more.listings ?? [],
    tallies: () => tallyOf(statuses, more.listings),
    nextPollInMs: () => 4000,
  };
  return renderStatusPage(await buildView(sources, { ...everything, page: 1, ...more.query }, nowMs));
}

/** The text of a piece of HTML. */
const textOf = (page: string) =>
  page
    .replaceAll(/<(style|script)>.*?<\/\1>/gs, '')
    .replaceAll('<wbr>', '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');

const count = (page: string, part: string) => page.split(part).length - 1;

describe('the status page', () => {
  it('shows name, ids, state, last success, duration, next poll and reason of failure of a target', async () => {
    const page = textOf(await render([failing({ app_id: 'q7TzVb2' }, { name: 'storefront', stale: true })]));
    expect(page).toContain(
      'failing stale storefront q7TzVb2 Application · account 12 s ago 184 ms in 4 s server_error HTTP 503 3 s ago',
    );
  });

  it('shows what is unknown about a target that was never polled', async () => {
    const fresh = { state: 'pending', lastSuccessMs: undefined, lastDurationSeconds: undefined } as const;
    const page = textOf(await render([status({ library_id: '4711', video_id: '0f8c' }, fresh)]));
    expect(page).toContain('pending 4711 / 0f8c library_id / video_id Application · account never – in 4 s');
  });

  it('shows the overall state in its heading, title and icon', async () => {
    const well = await render([status({ app_id: 'a' }), status({ app_id: 'b' })]);
    expect(well).toContain('<h1 class="ok">All 2 targets are being read</h1>');
    expect(well).toContain('<title>bunnynet-exporter</title>');
    const lacking = await render([status({ app_id: 'a' }), status({ app_id: 'b' }, { state: 'lacking' })]);
    expect(lacking).toContain('<h1 class="ok">1 of 2 targets are being read; the plan lacks 1</h1>');
    // Half of the bar is what is read, half what the plan lacks, and nothing is a warning.
    expect(lacking).toMatch(
      /<svg[^>]*><rect class="f-idle" x="0" width="50" height="1"\/><rect class="f-ok"/,
    );
    const ill = await render([status({ app_id: 'a' }), failing({ app_id: 'b' })]);
    expect(ill).toContain('<h1 class="bad">1 failing of 2 targets</h1>');
    expect(ill).toContain('<title>(1) failing · bunnynet-exporter</title>');
    const icon = (page: string) => decodeURIComponent(/rel="icon" href="([^"]+)"/.exec(page)?.[1] ?? '');
    expect(icon(well)).toContain('fill="seagreen"');
    expect(icon(ill)).toContain('fill="crimson"');
    const late = await render([status({ app_id: 'a' }, { state: 'stale', stale: true })]);
    expect(late).toContain('<h1 class="warn">1 stale of 1 target</h1>');
    expect(textOf(late)).toContain('stale a app_id Application');
    const stale = failing({ app_id: 'b' }, { stale: true });
    expect(await render([status({ app_id: 'a' }), stale])).toContain('1 failing, 1 stale of 2 targets</h1>');
    expect(await render([status({ app_id: 'a' }, { state: 'absent' })])).toContain('1 absent of 1 target');
    expect(await render([status({ app_id: 'a' }, { state: 'pending' })])).toContain(
      '1 target known, 1 not polled yet',
    );
  });

  it('shows totals by product and state, and kinds with problems, with links to the targets', async () => {
    const page = await render([
      status({ app_id: 'a' }),
      failing({ app_id: 'b' }),
      status({ shield_zone_id: '1' }, { kind: 'shield_zone' }),
      failing({ library_id: '1', video_id: 'v' }, { kind: 'video_storage' }),
    ]);
    expect(textOf(page)).toContain(
      'Kind Targets OK Failing Series ' +
        'Magic Containers 1 kind 2 1 1 10 Application application 2 1 1 10 ' +
        'Shield 1 kind 1 1 0 10 ' +
        'Stream 1 kind 1 0 1 10 Video video_storage 1 0 1 10 All 4 2 2 30',
    );
    expect(page).toContain('href="./?kind=application&amp;state=failing#targets">1</a>');
    expect(page).toContain('href="./?state=failing#targets">2</a>');
    expect(page).toContain('<option value="video_storage">Video (video_storage)</option>');
  });

  it('shows what is wrong, the worst first: what it affects, since when, what it means, what to do', async () => {
    const shortfall = 'video: 900 targets at 1s need 900 requests/s';
    const capacities = [
      { api: 'video', polls: 900, neededPerSecond: 900, allowedPerSecond: 2, shortfall },
    ] as const;
    const page = textOf(
      await render(
        [
          failing({ app_id: 'a' }, { result: 'auth', message: 'HTTP 401', lastSuccessMs: undefined }),
          status({ app_id: 'b' }, { state: 'pending', lastSuccessMs: undefined }),
        ],
        {
          exporter: {
            capacities,
            configuration: { loadedAtMs: nowMs - 60_000, refused: undefined },
          },
          causes: {
            exporter: {
              refusedReload: { atMs: nowMs - 5000, message: 'config.yml:3: what <is> wrong' },
              pauses: [{ api: 'shield', credential: 'account', kind: '', untilMs: nowMs + 20_000 }],
              capacities,
              schemaDrift: [{ kind: 'application', field: 'monthlyCost', count: 36, sinceMs: nowMs - 8000 }],
            },
          },
        },
      ),
    );
    const places = [
      'The reload failed since 11:59:55 UTC The previous configuration is still in use. Correct what it names, and reload again. Runbook config.yml:3: what &lt;is&gt; wrong',
      'The application API refuses the key of account (from $KEY): HTTP 401 : 1 target (application), since 11:59:57 UTC show the targets 1 target has no values yet. Copy the account',
      'The shield API answered 429 to the key of account; it gets no requests with it for 20 s Set interval_factor: 2 ',
      `The request rate of the video API is too low for the targets ${shortfall}.`,
      'The API sends fields of another type than expected since 11:59:52 UTC Their series are left out, and sums over them are too small.',
      'application monthlyCost (36 times)',
      'up 2 m 30 s series 30 request rate (planned / allowed) video 900 / 2 configuration loaded 1 m ago as of 12:00:00 UTC',
    ].map((words) => [page.includes(words), words] as const);
    expect(places.filter(([isThere]) => !isThere)).toEqual([]);
    expect(await render([status({ app_id: 'a' })])).not.toContain('What is wrong');
  });

  it('opens a cause to the first ten of its targets', async () => {
    const failed = Array.from({ length: 12 }, (_, at) => failing({ app_id: `a${at}` }, { name: `<b>${at}` }));
    const page = await render(failed);
    expect(page).toContain('<li>application <bdi>&lt;b&gt;9</bdi></li><li>and 2 more</li></ul>');
    expect(page).not.toContain('<li>application <bdi>&lt;b&gt;10</bdi>');
  });

  it('links from a cause to its targets', async () => {
    const page = await render([
      status({ app_id: 'ok' }),
      failing({ app_id: 'a' }, { message: 'HTTP 500: a & b' }),
      failing({ shield_zone_id: '1' }, { kind: 'shield_zone', result: 'auth', credential: 'main' }),
    ]);
    expect(page).toContain(
      '<a href="./?kind=application&amp;state=failing&amp;q=server_error+HTTP+500%3A+a+%26+b#targets">',
    );
    expect(page).toContain(
      '<a href="./?kind=shield_zone&amp;state=failing&amp;q=auth+main#targets">show the targets</a>',
    );
  });

  it('never says that all is well, or that there is nothing, while a listing fails', async () => {
    const listings = [listing('applications', refusedListing)];
    const empty = await render([], { listings });
    expect(empty).toContain('<h1 class="bad">Nothing can be read since 11:59:57 UTC</h1>');
    expect(empty).toContain('<title>(1) failing · bunnynet-exporter</title>');
    expect(textOf(empty)).toContain('refuses the key of account (from $KEY): HTTP 401 : 1 listing, since');
    const some = await render([status({ app_id: 'a' })], { listings });
    expect(some).toContain('<h1 class="bad">1 of 1 listing failing</h1>');
    const ill = await render([status({ app_id: 'a' }), failing({ app_id: 'b' })], { listings });
    expect(ill).toContain('<h1 class="bad">1 failing of 2 targets; 1 of 1 listing failing</h1>');
    expect(ill).toContain('<title>(2) failing');
  });

  it('distinguishes looking for targets from having found none', async () => {
    const pending = { state: 'pending', lastSuccessMs: undefined } as const;
    expect(await render([], { listings: [listing('applications', pending)] })).toContain(
      '<h1 class="idle">Looking for targets</h1>',
    );
    expect(await render([], { listings: [listing('applications')] })).toContain(
      '<h1 class="warn">No targets found</h1>',
    );
  });

  it('shows what a listing lists, its credential, what it found and left out, its age and its failure', async () => {
    const excluded = Array.from({ length: 12 }, (_, at) => ({ ids: { app_id: `x${at}` } }));
    const selections = ['application', 'application_statistics'].map((kind) => ({
      kind,
      targets: 24,
      excluded,
    }));
    const parent = { ids: { shield_zone_id: '501' }, name: 'shop' };
    const page = await render([], {
      listings: [
        listing('applications', { found: 36, selections }),
        listing('endpoints', { ...refusedListing, parent, credential: 'other' }),
      ],
    });
    const text = textOf(page);
    expect(text).toContain('failing Endpoints of shop other – – never auth HTTP 401 3 s ago');
    expect(text).toContain('ok Applications account 36 12 30 s ago');
    expect(text).toContain('Listings 2 listings 1 failing');
  });

  it('shows of thousands of listings a hundred, the failing first, and those below others last', async () => {
    const ofZone = (at: number) =>
      listing('endpoints', {
        kind: 'api_guardian',
        parent: { ids: { shield_zone_id: `${at}` } },
        found: 20,
        ...(at % 100 === 0 ? refusedListing : {}),
      });
    const listings = [
      ...Array.from({ length: 2000 }, (_, at) => ofZone(at)),
      listing('Shield Zones', { kind: 'shield_zone' }),
    ];
    const page = await render([status({ app_id: 'a' })], { listings });
    expect(count(page, '<tr role="row">\n<td')).toBe(100 + 1);
    expect(textOf(page)).toMatch(
      /failing Endpoints of 1900 .*ok Shield Zones account 0 .*ok Endpoints of 1 account 20 /,
    );
    expect(textOf(page)).toContain('1,901 more listings: see the JSON');
  });

  it('shows the state from the API as a chip, the worst first, with numbers as links', async () => {
    const page = await render([
      status({ app_id: 'a' }, { condition: 'active' }),
      status({ app_id: 'b' }, { condition: 'suspended' }),
    ]);
    expect(page).toContain('<h1 class="ok">All 2 targets are being read</h1>');
    expect(textOf(page)).toContain('Application status: 1 suspended 1 active');
    expect(page).toContain('href="./?kind=application&amp;condition=suspended#targets">1 suspended</a>');
    expect(page).toContain('<span class="chip t-bad">suspended</span>');
    expect(textOf(page)).toMatch(
      /ok b app_id Application · account suspended .* ok a app_id Application · account active /,
    );
    const zones = await render([status({ shield_zone_id: '1' }, { kind: 'shield_zone' })]);
    expect(zones).not.toContain('class="c"');
  });

  it('links from a target to its metrics', async () => {
    const page = await render([
      status({ library_id: '4711', video_id: '0f8c-1' }, { kind: 'video_storage', name: 'trailer' }),
    ]);
    expect(page).toContain(
      'href="./metrics?kind=video_storage#:~:text=library_id%3D%224711%22%2Cvideo_id%3D%220f8c%2D1%22"',
    );
  });

  it('shows many refused keys in a few lines', async () => {
    const page = await render(
      Array.from({ length: 40 }, (_, at) =>
        failing(
          { app_id: `a${at}` },
          { result: 'auth', message: 'HTTP 401', lastSuccessMs: undefined, credential: `library-${at}` },
        ),
      ),
    );
    expect(count(page, 'refuses the key of library-')).toBe(8);
    expect(page).toContain('32 more causes: see the lists below.');
  });

  it('has pages with links to the others, and does not grow with the number of targets', async () => {
    const page = await render(many(1200), { query: { page: 3 } });
    expect(count(page, '<tr role="row">\n<td')).toBe(100);
    expect(textOf(page)).toContain('1,200 targets page 3 of 12');
    expect(page).toContain('<a href="./?page=2#targets">Previous</a>');
    expect(page).toContain('<a href="./?page=12#targets">Last</a>');
    expect(Buffer.byteLength(page)).toBeLessThan(150_000);
    const last = await render(many(250), { query: { page: 99 } });
    expect(textOf(last)).toContain('250 targets page 3 of 3 First Previous');
    expect(last).not.toContain('Next</a>');
  });

  it('runs only the style and the script in its policy', async () => {
    const page = await render([status({ app_id: 'a' })]);
    const policy = statusPageHeaders['Content-Security-Policy'];
    for (const element of ['style', 'script']) {
      const found = [...page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
      expect(found).toHaveLength(1);
      const hash = createHash('sha256')
        .update(found[0]?.[1] ?? '')
        .digest('base64');
      expect(policy).toContain(`${element}-src 'sha256-${hash}'`);
    }
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toContain('unsafe');
    expect(page).not.toMatch(/ (style|on\w+)=/);
    expect(
      page.replaceAll(/http:\/\/www\.w3\.org\/2000\/svg|https:\/\/github\.com\/bunnynet-exporter/g, ''),
    ).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it('refreshes itself with or without scripts', async () => {
    const live = await render([status({ app_id: 'a' })]);
    expect(live).toContain('<noscript><meta http-equiv="refresh" content="30"></noscript>');
  });

  it('shows foreign text as text', async () => {
    const hostile = `<img src=x onerror="alert('1')"> & \u202Eevil\u0007 </td></table><script>`;
    const page = await render([
      failing({ app_id: 'a' }, { name: hostile, message: hostile, credential: hostile }),
    ]);
    const shown = html`${hostile}`.text;
    expect(shown).toBe(
      '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; \u202Eevil\uFFFD &lt;/td&gt;&lt;/table&gt;&lt;script&gt;',
    );
    expect(page).toContain(`<bdi class="name">${shown}</bdi>`);
    expect(page).toContain(`<bdi>${shown}</bdi> <small>`);
    expect(count(page, '<img')).toBe(0);
    expect(count(page, '<script>')).toBe(1);
  });
});

describe('HTML as values', () => {
  it('leaves no character that could end a text or an attribute', () => {
    fc.assert(
      fc.property(anyText(50), (text) => {
        expect(html`${text}`.text).not.toMatch(/[<>"'\0]|&(?!(amp|lt|gt|quot|#39);)/);
      }),
    );
  });
});

describe('the text of the status page', () => {
  it.each([
    [0, '0 s'],
    [-5000, '0 s'],
    [12_400, '12 s'],
    [59_700, '1 m'],
    [192_000, '3 m 12 s'],
    [7_500_000, '2 h 5 m'],
    [86_400_000, '1 d'],
    [400 * 86_400_000 + 3_600_000, '400 d 1 h'],
  ])('writes %d ms as %s', (ms, words) => {
    expect(durationInWords(ms)).toBe(words);
  });

  it('writes durations of polls, and the day for times on other days', () => {
    expect([0.0004, 0.184, 0.9996, 12.3456].map(pollDuration)).toEqual([
      '0 ms',
      '184 ms',
      '1.00 s',
      '12.35 s',
    ]);
    expect(clockText(nowMs, nowMs + 1000)).toBe('12:00:00 UTC');
    expect(clockText(nowMs, nowMs + 86_400_000)).toBe('2026-08-15 12:00:00 UTC');
  });
});
