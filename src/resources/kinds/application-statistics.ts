/** The traffic of a Magic Containers application by days (`/apps/{app}/statistics`). Its other charts are in the summary and the overview. */
import { daily, newestDay } from '../charts.ts';
import { defineResource } from '../define.ts';
import { object } from '../fields.ts';
import { instantsInOne } from '../queries.ts';
import { applications } from './application.ts';

const statistics = object({
  trafficChart: daily('traffic', 'Traffic of the application', {
    since: 'it',
    place: '(%s, in the unit of the API, which is not documented)',
  }),
}).ignoring(`targetLatencyChart{*} activeRegionsChart{*} latencyChart{*} instancesChart{*} cpuUsageChart{*}
  ramUsageChart{*} volumesSplitUsageChart{*{*}} volumesSplitCapacityChart{*{*}} volumesUsageChart{*}
  volumesCapacityChart{*}`);

export const applicationStatistics = defineResource({
  kind: 'application_statistics',
  noun: 'application statistics',
  familyPrefix: 'bunnynet_application',
  listing: applications,
  path: '/apps/{appId}/statistics',
  query: instantsInOne('fromDate', 'toDate', 'granularity=Daily'),
  answer: statistics,
  families: (own) => [...own, { ...newestDay(statistics), name: 'traffic_latest_day_timestamp_seconds' }],
});
