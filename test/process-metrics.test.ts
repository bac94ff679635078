import { describe, expect, it } from 'vitest';
import { createProcessMetrics } from '../src/process-metrics.ts';

const namesOf = (text: string) => [...text.matchAll(/^# TYPE (\w+) \w+$/gm)].map(([, name]) => name);

describe('what is told of the process', () => {
  it.each(['text', 'openmetrics'] as const)(
    'is with basic a part of what it is with full, by the same names, as %s',
    async (format) => {
      const basic = await (await createProcessMetrics('basic'))(format);
      const full = await (await createProcessMetrics('full'))(format);
      expect(namesOf(full)).toEqual(expect.arrayContaining(namesOf(basic)));
      expect(namesOf(full).length).toBeGreaterThan(namesOf(basic).length);
      for (const text of [basic, full]) expect(text).not.toMatch(/^$\n/m);
    },
  );

  it('is as it is now', async () => {
    const render = await createProcessMetrics('basic');
    const cpu = async () => Number(/^process_cpu_seconds_total (\S+)$/m.exec(await render('text'))?.[1]);
    const before = await cpu();
    const until = process.cpuUsage().user + 20_000;
    while (process.cpuUsage().user < until);
    expect(await cpu()).toBeGreaterThan(before);
    expect(await render('text')).toMatch(/^process_resident_memory_bytes [1-9]\d{6,}$/m);
  });
});
