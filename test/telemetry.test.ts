import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { resources } from '../src/resources/kinds/index.ts';
import { createTelemetry, type Inventory, type Telemetry } from '../src/telemetry.ts';
import { startWhole } from './held/whole.ts';
import { inventory, overviewWith } from './inventory.ts';
import { resourceOf } from './polling/fixtures.ts';
import { listing, nowMs, refusedListing, status, tallyOf } from './status/fixtures.ts';

async function render(telemetry: Telemetry, format: 'text' | 'openmetrics' = 'text'): Promise<string> {
  return Buffer.concat(await telemetry.render(format)).toString();
}

/** The rows of the exporter's own metrics, without those of the process and of Node. */
async function ownRows(page: Promise<string>): Promise<readonly string[]> {
  return (await page).split('\n').filter((row) => row.startsWith('bunnynet_exporter_'));
}

it.each(['text', 'openmetrics'] as const)('renders the format %s without an empty line', async (format) => {
  const text = await render(createTelemetry(resources, inventory), format);
  expect(text).not.toMatch(/^$\n/m);
  expect(text.endsWith('\n')).toBe(true);
});

it('has the metrics of the process, but none whose measuring wakes it, and none of each space of the heap', async () => {
  const families = (await render(createTelemetry(resources, inventory))).match(
    /(?<=^# TYPE )(process|nodejs)_\w+/gm,
  );
  expect(families).toEqual(
    expect.arrayContaining([
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
      'nodejs_gc_duration_seconds',
    ]),
  );
  expect(families?.filter((name) => /eventloop_lag_\w+_seconds|heap_space/.test(name))).toEqual([]);
});

it('says at a scrape how long the event loop took to come round at the one before', async () => {
  const telemetry = createTelemetry(resources, inventory);
  const scrape = telemetry.render('text');
  const begunMs = performance.now();
  while (performance.now() - begunMs < 20);
  await scrape;
  await new Promise(setImmediate);
  // What the process says of itself may be a second old.
  const nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs + 1000);
  onTestFinished(() => void vi.restoreAllMocks());
  const [, seconds] = /^nodejs_eventloop_lag_seconds (\S+)$/m.exec(await render(telemetry)) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(0.02);
});

it('renders OpenMetrics with info types, and counter families without _total', async () => {
  const text = await render(createTelemetry(resources, inventory), 'openmetrics');
  expect(text).toMatch(
    /^# TYPE bunnynet_exporter_build info\n(?:# (?:UNIT|HELP) bunnynet_exporter_build .*\n){2}bunnynet_exporter_build_info\{/m,
  );
  expect(text).toMatch(
    /^# TYPE bunnynet_exporter_polls counter\n(?:# (?:UNIT|HELP) bunnynet_exporter_polls .*\n){2}bunnynet_exporter_polls_total\{/m,
  );
});

it('counts anew at each scrape', async () => {
  let targets = 1;
  const telemetry = createTelemetry(resources, {
    ...inventory,
    overview: () =>
      overviewWith({
        tallies: tallyOf(Array.from({ length: targets }, (_, at) => status({ app_id: `${at}` }))),
      }),
  });
  const row = 'bunnynet_exporter_targets{kind="application",account="account"}';
  expect(await render(telemetry)).toContain(`${row} 1`);
  targets = 2;
  expect(await render(telemetry)).toContain(`${row} 2`);
});

it('shows what happened since the last scrape, and is the same Buffer where nothing did', async () => {
  const changing = {
    overview: overviewWith({}),
    configuration: inventory.configuration(),
    pauses: inventory.pauses(),
    accounts: inventory.accounts(),
    sameKeys: inventory.sameKeys(),
    state: { lastWriteMs: 0, failingSinceMs: undefined as number | undefined },
    series: 2,
    lines: 0,
  };
  const changingInventory: Inventory = {
    overview: () => changing.overview,
    store: { series: () => changing.series },
    configuration: () => changing.configuration,
    pauses: () => changing.pauses,
    accounts: () => changing.accounts,
    sameKeys: () => changing.sameKeys,
    droppedLogLines: () => changing.lines,
    state: () => changing.state,
  };
  let kinds = resources;
  const telemetry = createTelemetry(kinds, changingInventory);
  const turn = (on: typeof kinds) => {
    kinds = on;
    telemetry.setKinds(kinds);
  };
  /** What is not counted by events. */
  const readRows = async (of: Telemetry) => {
    const isEvent = /^bunnynet_exporter_(polls|poll_duration|api_request|schedule_lag|schema_|unrecognized_)/;
    return (await ownRows(render(of))).filter((row) => !isEvent.test(row));
  };
  const pause = { api: 'core' as const, credential: 'account', kind: 'billing', untilMs: nowMs };
  const happen: Readonly<Record<string, () => unknown>> = {
    poll: () => telemetry.polled('application', 'success', 0.5),
    request: () => telemetry.requested('core', '200', 0.2),
    start: () => telemetry.started('billing', 3),
    mismatch: () => telemetry.mismatched('application', 'monthlyCost'),
    'unlisted value': () => telemetry.unrecognized('application', 'status'),
    'kind that is off': () => turn(resources.slice(1)),
    'kind that is on': () => turn(resources),
    overview: () => {
      changing.overview = overviewWith({ tallies: tallyOf([status({ app_id: 'a' })]) });
    },
    reload: () => {
      changing.configuration = { loadedAtMs: nowMs, refused: {} };
    },
    'pause of a kind': () => {
      changing.pauses = [pause];
    },
    'pause of a key': () => {
      changing.pauses = [{ ...pause, kind: '' }];
    },
    account: () => {
      changing.accounts = ['account', 'other'];
    },
    'account in the place of another': () => {
      changing.accounts = ['account', 'third'];
    },
    'key of another': () => {
      changing.sameKeys = [{ account: 'third', other: 'account' }];
    },
    write: () => {
      changing.state = { lastWriteMs: nowMs, failingSinceMs: undefined };
    },
    'write that fails': () => {
      changing.state = { lastWriteMs: nowMs, failingSinceMs: nowMs };
    },
    series: () => {
      changing.series = 3;
    },
    'dropped line': () => {
      changing.lines = 1;
    },
  };
  for (const [what, one] of Object.entries(happen)) {
    const [, before] = await telemetry.render('text');
    one();
    const [, after] = await telemetry.render('text');
    expect(after?.toString(), what).not.toBe(before?.toString());
    expect((await telemetry.render('text'))[1], what).toBe(after);
    expect(await readRows(telemetry), what).toEqual(
      await readRows(createTelemetry(kinds, changingInventory)),
    );
  }
  // In this format it is rendered for the first time.
  expect(await ownRows(render(telemetry))).toEqual(await ownRows(render(telemetry, 'openmetrics')));
});

it('has the counters of every kind and result from the start, at 0, and those of fields once there is something to count', async () => {
  const telemetry = createTelemetry(resources, inventory);
  const ofFields = async () =>
    (await ownRows(render(telemetry))).filter((row) => /schema_mismatches|unrecognized_values/.test(row));
  expect(await render(telemetry)).toContain(
    'bunnynet_exporter_polls_total{kind="video_storage",result="schema"} 0',
  );
  expect(await ofFields()).toEqual([]);
  telemetry.mismatched('application', 'monthlyCost');
  telemetry.unrecognized('application', 'status');
  expect(await ofFields()).toEqual([
    'bunnynet_exporter_schema_mismatches_total{kind="application",field="monthlyCost"} 1',
    'bunnynet_exporter_unrecognized_values_total{kind="application",field="status"} 1',
  ]);
});

it('has the sum and the count of poll durations, without buckets', async () => {
  const telemetry = createTelemetry(resources, inventory);
  telemetry.polled('application', 'success', 0.25);
  telemetry.polled('application', 'timeout', 10);
  for (const format of ['text', 'openmetrics'] as const) {
    const text = await render(telemetry, format);
    expect(text).toContain('# TYPE bunnynet_exporter_poll_duration_seconds summary\n');
    expect(text.match(/^bunnynet_exporter_poll_duration.*$/gm)).toEqual([
      'bunnynet_exporter_poll_duration_seconds_sum{kind="application"} 10.25',
      'bunnynet_exporter_poll_duration_seconds_count{kind="application"} 2',
    ]);
  }
});

it('shows the state of listings by kind and account, without those that are gone', async () => {
  const zone = (id: string) => ({ ids: { shield_zone_id: id } });
  const selection = (kind: string, targets: number, left: readonly string[] = []) => ({
    kind,
    targets,
    excluded: left.map(zone),
  });
  let listings = [
    listing('Shield Zones', {
      kind: 'shield_zone',
      found: 5,
      lastSuccessMs: nowMs - 1000,
      selections: [selection('rate_limit', 3, ['1', '2'])],
    }),
    listing('endpoints', {
      kind: 'api_guardian',
      parent: zone('1'),
      found: 7,
      selections: [selection('api_guardian', 7)],
    }),
    listing('endpoints', { ...refusedListing, kind: 'api_guardian', parent: zone('2') }),
    listing('names', { kind: 'rate_limit', parent: zone('1'), found: 40, lastSuccessMs: nowMs - 9000 }),
    listing('applications', { state: 'pending', lastSuccessMs: undefined, credential: 'other' }),
  ];
  const telemetry = createTelemetry(resources, {
    ...inventory,
    overview: () => overviewWith({ tallies: tallyOf([], listings) }),
  });
  const discovery = async () =>
    (await render(telemetry))
      .split('\n')
      .filter((line) => line.startsWith('bunnynet_exporter_discovery_'))
      .map((line) => line.replace('bunnynet_exporter_discovery_', ''));
  const seconds = (ms: number) => ms / 1000;
  expect(await discovery()).toEqual([
    'up{kind="shield_zone",account="account"} 1',
    'up{kind="rate_limit",account="account"} 1',
    'up{kind="api_guardian",account="account"} 0',
    `last_success_timestamp_seconds{kind="shield_zone",account="account"} ${seconds(nowMs - 1000)}`,
    `last_success_timestamp_seconds{kind="rate_limit",account="account"} ${seconds(nowMs - 9000)}`,
    `last_success_timestamp_seconds{kind="api_guardian",account="account"} ${seconds(nowMs - 30_000)}`,
    'found_targets{kind="shield_zone",account="account"} 5',
    'found_targets{kind="rate_limit",account="account"} 5',
    'found_targets{kind="api_guardian",account="account"} 7',
    'excluded_targets{kind="shield_zone",account="account"} 0',
    'excluded_targets{kind="rate_limit",account="account"} 2',
    'excluded_targets{kind="api_guardian",account="account"} 0',
    'failing_listings{kind="shield_zone",account="account"} 0',
    'failing_listings{kind="rate_limit",account="account"} 0',
    'failing_listings{kind="api_guardian",account="account"} 1',
  ]);
  listings = [];
  expect(await discovery()).toEqual([]);
});

it('shows the oldest success of 130,000 listings', async () => {
  const some = Array.from({ length: 100 }, (_, at) =>
    listing('videos', { kind: 'video_storage', found: 1, lastSuccessMs: nowMs - at }),
  );
  const overview = overviewWith({ tallies: tallyOf([], Array.from({ length: 1300 }, () => some).flat()) });
  const telemetry = createTelemetry(resources, { ...inventory, overview: () => overview });
  const labels = '{kind="video_storage",account="account"}';
  const text = await render(telemetry);
  expect(text).toContain(`discovery_last_success_timestamp_seconds${labels} ${(nowMs - 99) / 1000}\n`);
  expect(text).toContain(`discovery_found_targets${labels} 130000\n`);
});

/** The distinct values of a label. */
function valuesOf(label: string, rows: readonly string[]): readonly string[] {
  const values = rows.flatMap((row) => new RegExp(`[{,]${label}="([^"]*)"`).exec(row)?.[1] ?? []);
  return [...new Set(values)].toSorted();
}

describe('the kinds in the metrics', () => {
  it('follow a reload: counters stay, gauges leave with their kind, and new rows start at 0', async () => {
    const [application, script, billing] = ['application', 'edge_script', 'billing'].map(resourceOf);
    if (!application || !script || !billing) throw new Error('a kind is missing');
    const telemetry = createTelemetry([application, script], inventory);
    const poll = (kind: string) => {
      telemetry.polled(kind, 'success', 0.1);
      telemetry.started(kind, 1);
    };
    const gauges = /^bunnynet_exporter_(targets|stale_targets|failing_targets|series|schedule_lag_seconds)\{/;
    const apiGauges = /^bunnynet_exporter_(planned_requests_per_second|refused_keys)\{/;
    poll('application');
    poll('edge_script');
    telemetry.setKinds([application]);
    // It was under way when its kind was turned off.
    telemetry.polled('edge_script', 'success', 0.1);
    telemetry.started('edge_script', 60);
    const rows = await ownRows(render(telemetry));
    expect(
      valuesOf(
        'kind',
        rows.filter((row) => gauges.test(row)),
      ),
    ).toEqual(['application']);
    expect(
      valuesOf(
        'api',
        rows.filter((row) => apiGauges.test(row)),
      ),
    ).toEqual(['application']);
    expect(rows).toContain('bunnynet_exporter_polls_total{kind="edge_script",result="success"} 2');
    telemetry.setKinds([application, script, billing]);
    expect(await ownRows(render(telemetry))).toEqual(
      expect.arrayContaining([
        'bunnynet_exporter_polls_total{kind="application",result="success"} 1',
        'bunnynet_exporter_schedule_lag_seconds{kind="application"} 1',
        'bunnynet_exporter_polls_total{kind="edge_script",result="success"} 2',
        'bunnynet_exporter_poll_duration_seconds_count{kind="edge_script"} 2',
        'bunnynet_exporter_schedule_lag_seconds{kind="edge_script"} 0',
        'bunnynet_exporter_polls_total{kind="billing",result="success"} 0',
      ]),
    );
  });

  it('add no series to a sidecar with one application', async () => {
    const applications = { targets: ['a'] };
    const whole = await startWhole({
      document: { applications },
      routes: { '/mc/apps/a/summary': () => ({ monthlyCost: 1 }) },
    });
    await whole.poll();
    const namesOfRows = async () => (await ownRows(whole.page())).map((row) => row.replace(/ [^ ]+$/, ''));
    const rows = await namesOfRows();
    expect(valuesOf('kind', rows)).toEqual(['application']);
    expect(valuesOf('api', rows)).toEqual(['application']);
    whole.document = { applications, billing: { targets: 'all' } };
    await whole.reload();
    expect(valuesOf('kind', await namesOfRows())).toEqual(['application', 'billing']);
  });
});
