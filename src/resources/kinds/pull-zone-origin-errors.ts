/** Why the origin of a pull zone failed, by the vendor's codes and days (`/{zone}/{MM-dd-yyyy}` of an API of its own). */
import { newestAndTotal } from '../charts.ts';
import { defineResource } from '../define.ts';
import { flag, shown } from '../families.ts';
import { listOf, mapped, object, text, type ValueOf } from '../fields.ts';
import { eachDate } from '../queries.ts';
import type { Labels } from '../resource.ts';
import { tallyOf, withRest } from '../tallies.ts';
import { pullZones } from './pull-zone.ts';

const maxSeries = 50;
const other = 'other';
const rest = { error: other, code: other };

const code = mapped(text, (value) => (/^[\w.-]{1,64}$/.test(value) ? value : other));

/** Of an error only its labels are read: its log holds the address that a visitor requested. */
const entry = object({
  labels: object({ ErrorCode: code, StatusCode: code }).ignoring('ServerZone'),
}).ignoring('logId timestamp log');

/** How many errors there are of each sort, on the day that was requested. */
const errors = mapped(listOf(entry), (all, { requested }) => {
  const labels: Labels[] = [];
  for (const one of all) if (one) labels.push(labelsOf(one));
  return tallyOf(labels, requested?.startSeconds ?? 0);
});

function labelsOf({ labels: { ErrorCode = '', StatusCode = '' } = {} }: ValueOf<typeof entry>): Labels {
  return { error: ErrorCode, code: StatusCode };
}

const [newest, total] = newestAndTotal<ValueOf<typeof errors>>(
  'origin_errors',
  "Errors of the origin by the vendor's code and the status that the visitor was answered; too few while the API does not give all of them",
  {
    labels: ['error', 'code'],
    bound: { most: maxSeries, rest },
    series: (all) => withRest(rest, all),
  },
  'none',
);

export const pullZoneOriginErrors = defineResource({
  kind: 'pull_zone_origin_errors',
  api: 'origin_errors',
  noun: 'pull zone origin errors',
  familyPrefix: 'bunnynet_pull_zone',
  listing: pullZones,
  path: '/{pullZoneId}/{date}',
  cutOff: 'hasMoreData',
  query: eachDate((date) => date.replace(/(\d+)-(\d+)-(\d+)/, '$2-$3-$1')),
  answer: object({
    logs: shown(errors, newest, total),
    hasMoreData: flag(
      'origin_errors_truncated',
      'Whether the API has more errors of the UTC day than it gives, so that the counts are too low',
    ),
  }).ignoring('continuationToken startToken'),
});
