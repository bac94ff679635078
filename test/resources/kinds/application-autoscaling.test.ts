import { expect, it } from 'vitest';
import { applicationAutoscaling } from '../../../src/resources/kinds/application-autoscaling.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(applicationAutoscaling, answer, { ids: { app_id: 'a' } });

it('shows between how many instances an application scales in each region', async () => {
  const { rows, asked } = await read({ min: 1, max: 10 });
  expect(asked).toEqual(['/apps/a/autoscaling']);
  expect(rows).toBe(`\
bunnynet_application_autoscaling_min_instances{app_id="a"} 1
bunnynet_application_autoscaling_max_instances{app_id="a"} 10
`);
});
