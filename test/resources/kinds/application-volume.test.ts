import { expect, it } from 'vitest';
import { applicationVolume } from '../../../src/resources/kinds/application-volume.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(applicationVolume, answer, { ids: { app_id: 'HbqFNk0' } });

it('shows the size, the use and the instances of each volume', async () => {
  const { rows, asked } = await read({
    items: [
      {
        name: 'data',
        id: '0f8c',
        size: 10,
        totalUsage: 2.5,
        totalInstancesCount: 3,
        containersCount: 2,
        volumeInstances: [
          { id: '1', status: 'Attached' },
          { id: '2', status: 'attached' },
          { id: '3', status: 'failed' },
        ],
      },
      { name: 'cache', size: 0.5, volumeInstances: null },
    ],
    meta: { totalItems: 2 },
    cursor: null,
  });
  expect(asked).toEqual(['/apps/HbqFNk0/volumes']);
  expect(rows.replaceAll(/^.*instances.* 0\n/gm, '')).toBe(`\
bunnynet_application_volume_capacity_bytes{app_id="HbqFNk0",volume="data",volume_id="0f8c"} 10000000000
bunnynet_application_volume_capacity_bytes{app_id="HbqFNk0",volume="cache",volume_id=""} 500000000
bunnynet_application_volume_usage_bytes{app_id="HbqFNk0",volume="data",volume_id="0f8c"} 2500000000
bunnynet_application_volume_containers{app_id="HbqFNk0",volume="data",volume_id="0f8c"} 2
bunnynet_application_volume_instances{app_id="HbqFNk0",volume="data",volume_id="0f8c",status="attached"} 2
bunnynet_application_volume_instances{app_id="HbqFNk0",volume="data",volume_id="0f8c",status="failed"} 1
`);
  expect(rows.match(/instances/g)).toHaveLength(10);
});

it('keeps two volumes of one name apart by id, and ignores a cursor if all volumes have come', async () => {
  const { rows, asked } = await read({
    items: [
      { id: 'a', name: 'data', size: 10, totalUsage: 2 },
      { id: 'b', name: 'data', size: 5, totalUsage: 1 },
    ],
    meta: { totalItems: 2 },
    cursor: 'more',
  });
  expect(asked).toHaveLength(1);
  expect(rows).toBe(`\
bunnynet_application_volume_capacity_bytes{app_id="HbqFNk0",volume="data",volume_id="a"} 10000000000
bunnynet_application_volume_capacity_bytes{app_id="HbqFNk0",volume="data",volume_id="b"} 5000000000
bunnynet_application_volume_usage_bytes{app_id="HbqFNk0",volume="data",volume_id="a"} 2000000000
bunnynet_application_volume_usage_bytes{app_id="HbqFNk0",volume="data",volume_id="b"} 1000000000
`);
});

it('adds up two volumes of one name without ids', async () => {
  const { rows } = await read({
    items: [
      { name: 'data', size: 10 },
      { name: 'data', size: 5 },
    ],
  });
  expect(rows).toBe(
    'bunnynet_application_volume_capacity_bytes{app_id="HbqFNk0",volume="data",volume_id=""} 15000000000\n',
  );
});

it('counts an unlisted state as unknown', async () => {
  const { rows, unrecognized } = await read({
    items: [{ name: 'data', volumeInstances: [{ status: 'melting' }] }],
  });
  expect(rows).toContain('instances{app_id="HbqFNk0",volume="data",volume_id="",status="unknown"} 1\n');
  expect(unrecognized).toEqual(['volumeInstances: status melting']);
});

it('fails if no volume can be identified', async () => {
  await expect(read({ items: [{ size: 1 }] })).rejects.toThrow('no element of the array has a usable name');
});
