/** The traffic of a Magic Containers application by days (`/apps/{app}/statistics`). Its other charts are in the summary and the overview. */
import { applicationPath, applications } from './application.ts';
import { daily, newestDay } from './daily.ts';
import { instantQuery } from './days.ts';
import { object } from './fields.ts';
import { defineResource } from './resource.ts';

const statistics = object(
  {
    trafficChart: daily('traffic', 'Traffic of the application', {
      since: 'it',
      place: '(%s, in the unit of the API, which is not documented)',
    }),
  },
  'targetLatencyChart',
  'activeRegionsChart',
  'latencyChart',
  'instancesChart',
  'cpuUsageChart',
  'ramUsageChart',
  'volumesSplitUsageChart',
  'volumesSplitCapacityChart',
  'volumesUsageChart',
  'volumesCapacityChart',
);

export const applicationStatistics = defineResource({
  kind: 'application_statistics',
  product: 'Magic Containers',
  reference: 'GET /apps/{appId}/statistics',
  noun: 'statistics of the application',
  familyPrefix: 'bunnynet_application',
  defaultIntervalSeconds: 600,
  listing: applications,
  answer: statistics,
  families: [
    {
      ...newestDay(['trafficChart'], 'API field trafficChart'),
      name: 'traffic_latest_day_timestamp_seconds',
    },
  ],
  path: (ids, context) =>
    `${applicationPath(ids)}/statistics?${instantQuery(context, 'fromDate', 'toDate')}&granularity=Daily`,
});
