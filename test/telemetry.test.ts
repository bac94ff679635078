import { expect, it } from 'vitest';
import { resources } from '../src/resources/index.ts';
import { createTelemetry } from '../src/telemetry.ts';

const inventory = { targets: () => 1, staleTargets: () => 0, series: () => 2, droppedSeries: () => 0 };

it.each(['text', 'openmetrics'] as const)('renders the format %s without an empty line', async (format) => {
  const text = await createTelemetry(resources, inventory).render(format);
  expect(text).not.toMatch(/^$\n/m);
  expect(text.endsWith('\n')).toBe(true);
});

it('renders OpenMetrics with info types, units, counters less their _total, and an end', async () => {
  const text = await createTelemetry(resources, inventory).render('openmetrics');
  expect(text).toMatch(/^# TYPE bunnynet_exporter_build info\nbunnynet_exporter_build_info\{/m);
  expect(text).toMatch(/^# TYPE bunnynet_exporter_polls counter\nbunnynet_exporter_polls_total\{/m);
  expect(text).toMatch(/^# UNIT bunnynet_exporter_poll_duration_seconds seconds$/m);
  expect(text.endsWith('\n# EOF\n')).toBe(true);
  for (const [, name = '', unit = ''] of text.matchAll(/^# UNIT (\w+) (\w+)$/gm)) {
    expect(name.endsWith(`_${unit}`)).toBe(true);
  }
});

it('renders the text format as ever after OpenMetrics was asked for', async () => {
  const telemetry = createTelemetry(resources, inventory);
  const headers = async () =>
    (await telemetry.render('text')).split('\n').filter((line) => line.startsWith('#'));
  const before = await headers();
  await telemetry.render('openmetrics');
  expect(await headers()).toEqual(before);
  expect(before).toContain('# TYPE bunnynet_exporter_polls_total counter');
});

it('has the counters of every kind, result and field from the start, at 0', async () => {
  const text = await createTelemetry(resources, inventory).render('text');
  expect(text).toContain('bunnynet_exporter_polls_total{kind="video_storage",result="schema"} 0');
  expect(text).toContain(
    'bunnynet_exporter_schema_mismatches_total{kind="application",field="monthlyCost"} 0',
  );
  expect(text).toContain('bunnynet_exporter_unrecognized_values_total{kind="application",field="status"} 0');
});
