/** Between how many instances a Magic Containers application scales by itself (`/apps/{app}/autoscaling`). */
import { defineResource } from '../define.ts';
import { count } from '../families.ts';
import { object } from '../fields.ts';
import { applications } from './application.ts';

export const applicationAutoscaling = defineResource({
  kind: 'application_autoscaling',
  noun: 'application autoscaling',
  defaultIntervalSeconds: 3600,
  listing: applications,
  path: '/apps/{appId}/autoscaling',
  answer: object({
    min: count('min_instances', 'Fewest instances that the application has in each region'),
    max: count('max_instances', 'Most instances that the application may have in each region'),
  }),
});
