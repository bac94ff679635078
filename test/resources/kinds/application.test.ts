import { describe, expect, it } from 'vitest';
import { application } from '../../../src/resources/kinds/application.ts';
import { type About, type Body, expose } from '../expose.ts';

const shop = { ids: { app_id: 'HbqFNk0KZjzYOcp' } };
const read = (answer: Body, about: About = {}) => expose(application, answer, { ...shop, ...about });

it('shows a usage summary', async () => {
  const { rows, asked } = await read(
    `{
      "averageLatency": 41.5,
      "currentLatency": 38,
      "totalVolumeSizeInGb": 12.5,
      "monthlyCost": 23.75,
      "latencyChart": {
        "2026-11-18T00:00:00Z": 40.25,
        "2026-11-20T00:00:00Z": 38.5,
        "2026-11-19T00:00:00Z": 44
      },
      "status": "active"
    }`,
    { name: 'storefront' },
  );
  expect(asked).toEqual(['/apps/HbqFNk0KZjzYOcp/summary']);
  expect(rows).toBe(`\
bunnynet_application_info{app_id="HbqFNk0KZjzYOcp",account="account",name="storefront"} 1
bunnynet_application_status{app_id="HbqFNk0KZjzYOcp",status="unknown"} 0
bunnynet_application_status{app_id="HbqFNk0KZjzYOcp",status="active"} 1
bunnynet_application_status{app_id="HbqFNk0KZjzYOcp",status="progressing"} 0
bunnynet_application_status{app_id="HbqFNk0KZjzYOcp",status="inactive"} 0
bunnynet_application_status{app_id="HbqFNk0KZjzYOcp",status="failing"} 0
bunnynet_application_status{app_id="HbqFNk0KZjzYOcp",status="suspended"} 0
bunnynet_application_average_latency_seconds{app_id="HbqFNk0KZjzYOcp"} 0.0415
bunnynet_application_current_latency_seconds{app_id="HbqFNk0KZjzYOcp"} 0.038
bunnynet_application_volume_size_bytes{app_id="HbqFNk0KZjzYOcp"} 12500000000
bunnynet_application_monthly_cost_dollars{app_id="HbqFNk0KZjzYOcp"} 23.75
bunnynet_application_latency_chart_points{app_id="HbqFNk0KZjzYOcp"} 3
bunnynet_application_latency_chart_latest_seconds{app_id="HbqFNk0KZjzYOcp"} 0.0385
bunnynet_application_latency_chart_latest_timestamp_seconds{app_id="HbqFNk0KZjzYOcp"} 1795132800
`);
});

describe('status', () => {
  const stateOf = async (status: unknown) => {
    const { rows, ...noted } = await read({ status } as object);
    expect(rows.match(/^bunnynet_application_status/gm)).toHaveLength(6);
    expect(rows.match(/ 1$/gm)).toHaveLength(1);
    return { state: /status="(\w+)"} 1/.exec(rows)?.[1], ...noted };
  };

  it.each(['unknown', 'active', 'progressing', 'inactive', 'failing', 'suspended'])(
    '%s is a state, even if it is capitalised',
    async (status) => {
      const capitalised = status.replace(/^./, (letter) => letter.toUpperCase());
      expect(await stateOf(status)).toMatchObject({ state: status, unrecognized: [] });
      expect(await stateOf(capitalised)).toMatchObject({ state: status, unrecognized: [] });
    },
  );

  it.each(['hibernating', 'ACTIVE!', ''])('%j counts as unknown and is noted', async (status) => {
    expect(await stateOf(status)).toMatchObject({
      state: 'unknown',
      unrecognized: [`status: ${status}`],
      mismatched: [],
    });
  });
});

it('encodes the id as one part of the path', async () => {
  const { asked } = await read('{ "status": "active" }', { ids: { app_id: 'a/../b?c' } });
  expect(asked).toEqual(['/apps/a%2F..%2Fb%3Fc/summary']);
});

describe('latency_unit', () => {
  it('reads latencies as seconds if set to seconds', async () => {
    const { rows } = await read(
      '{ "averageLatency": 0.25, "currentLatency": 2, "latencyChart": { "2026-11-20T00:00:00Z": 3 } }',
      { settings: { latency_unit: 'seconds' } },
    );
    expect(rows).toBe(`\
bunnynet_application_average_latency_seconds{app_id="HbqFNk0KZjzYOcp"} 0.25
bunnynet_application_current_latency_seconds{app_id="HbqFNk0KZjzYOcp"} 2
bunnynet_application_latency_chart_points{app_id="HbqFNk0KZjzYOcp"} 1
bunnynet_application_latency_chart_latest_seconds{app_id="HbqFNk0KZjzYOcp"} 3
bunnynet_application_latency_chart_latest_timestamp_seconds{app_id="HbqFNk0KZjzYOcp"} 1795132800
`);
  });
});

describe('latency_chart', () => {
  const newestOf = async (latencyChart: object) => {
    const { rows } = await read({ latencyChart });
    return /latest_timestamp_seconds\{.*} (.*)\n/.exec(rows)?.[1];
  };

  it('finds the newest entry among seven-digit fractions, zones and instants without a zone, which are UTC', async () => {
    expect(await newestOf({ '2026-11-20T00:00:00.1234567Z': 1 })).toBe('1795132800.1234567');
    expect(await newestOf({ '2026-11-20T01:30:00': 1, '2026-11-20T01:00:00Z': 2 })).toBe('1795138200');
    expect(await newestOf({ '2026-11-20T01:30:00+02:00': 1, '2026-11-20T00:00:00Z': 2 })).toBe('1795132800');
    expect(await newestOf({ '2026-11-20T01:30:00-0200': 1, '2026-11-20T00:00:00Z': 2 })).toBe('1795145400');
  });

  it('leaves out entries without a number, and notes those of the wrong type', async () => {
    const { rows, mismatched } = await read({
      latencyChart: {
        '2026-11-18T00:00:00Z': 7,
        '2026-11-19T00:00:00Z': null,
        '2026-11-20T00:00:00Z': 'fast',
      },
    });
    expect(rows).toBe(`\
bunnynet_application_latency_chart_points{app_id="HbqFNk0KZjzYOcp"} 1
bunnynet_application_latency_chart_latest_seconds{app_id="HbqFNk0KZjzYOcp"} 0.007
bunnynet_application_latency_chart_latest_timestamp_seconds{app_id="HbqFNk0KZjzYOcp"} 1794960000
`);
    expect(mismatched).toEqual(['latencyChart']);
  });

  it('points: shows every entry, the newest first, whatever the keys are', async () => {
    const { rows } = await read(
      { latencyChart: { 'p"95\n': 3, '2026-11-18T00:00:00Z': 1, '2026-11-20T00:00:00Z': 2 } },
      { settings: { latency_chart: 'points' } },
    );
    expect(rows).toBe(`\
bunnynet_application_latency_chart_points{app_id="HbqFNk0KZjzYOcp"} 3
bunnynet_application_latency_chart_seconds{app_id="HbqFNk0KZjzYOcp",key="2026-11-20T00:00:00Z"} 0.002
bunnynet_application_latency_chart_seconds{app_id="HbqFNk0KZjzYOcp",key="2026-11-18T00:00:00Z"} 0.001
bunnynet_application_latency_chart_seconds{app_id="HbqFNk0KZjzYOcp",key="p\\"95\\n"} 0.003
`);
  });

  it('points: shows at most the 100 newest', async () => {
    const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString();
    const chart = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [day(n), n]));
    const { rows } = await read({ latencyChart: chart }, { settings: { latency_chart: 'points' } });
    const keys = [...rows.matchAll(/key="(.*)"/g)].map(([, key]) => key);
    expect(keys).toEqual(Array.from({ length: 100 }, (_, n) => day(149 - n)));
    expect(rows).toContain('latency_chart_points{app_id="HbqFNk0KZjzYOcp"} 150\n');
  });

  it('off: shows no chart', async () => {
    const { rows } = await read(
      { currentLatency: 1, latencyChart: { '2026-11-20T00:00:00Z': 2 } },
      { settings: { latency_chart: 'off' } },
    );
    expect(rows).toBe('bunnynet_application_current_latency_seconds{app_id="HbqFNk0KZjzYOcp"} 0.001\n');
  });
});
