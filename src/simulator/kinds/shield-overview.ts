/** What the parts of Shield did for Shield Zones, by days. */
import { doneOf, weekdayShare, windowOf } from '../days.ts';
import { shieldData, shieldEnvelope } from '../forms.ts';
import type { Kind } from '../kind.ts';
import { hash, magnitude, unit } from '../random.ts';
import type { Answer } from '../reply.ts';
import type { Request } from '../request.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

const parts = {
  dDoS: ['loggedRequests', 'verifiedRequests', 'blockedRequests', 'challengedRequests'],
  ratelimit: ['totalBreaches', 'loggedBreaches', 'challengedBreaches', 'blockedBreaches'],
  botDetection: ['loggedRequests', 'challengedRequests'],
  accessList: ['totalActions', 'blockedRequests', 'loggedRequests', 'challengedRequests'],
  uploadScanning: ['loggedRequests', 'blockedRequests', 'filesScanned'],
  apiGuardian: [
    'blockedRequests',
    'loggedRequests',
    'rateLimited',
    'requestsInspected',
    'failedRequestValidation',
    'failedAuthenticationEnforcement',
  ],
} as const;
const events = [
  'dDoSMitigated',
  'wafTriggeredRules',
  'ratelimitBreaches',
  'botDetectionChallenged',
  'accessListActions',
  'uploadScanningBlocks',
  'apiGuardianBlocks',
] as const;

export const shieldOverview = {
  kind: 'shield_overview',
  sizes: { small: {}, medium: {}, full: {} },
  create: () => ({}),
  operations: [
    {
      name: 'shield_overview',
      api: 'shield',
      path: '/shield/metrics/overview/{zone}',
      key: 'account',
      form: shieldEnvelope,
      traits: {
        field: 'data',
        number: 'totalBillableRequests',
        wholeNumbers: true,
        days: [
          'overviewPastTwentyEightDays',
          ...Object.keys(parts).map((part) => `${part}OverviewPastTwentyEightDays`),
        ],
      },
      rejections: ['unknownZone', 'notOnPlan'],
      answers: (dataset) => ofZone(dataset, overview),
    },
  ],
  section: 'shield_overview',
  targets: ({ zones }) => zones.map(({ shieldZoneId: id, name }) => ({ ids: { id }, name })),
} as const satisfies Kind<Record<never, never>, object, Zones>;

function overview(zone: Zone, { nowMs }: Request): Answer {
  const { seed } = zone;
  const perDay = magnitude(20, 40_000, unit(seed, 0xa2));
  const windowOfFields = (fields: readonly string[], part: number) =>
    windowOf(zone, nowMs, Object.fromEntries(fields.map((field) => [field, 0])), (day) =>
      Object.fromEntries(
        fields.map((field, order) => [
          field,
          Math.floor(perDay * weekdayShare(day) * doneOf(day, nowMs) * unit(seed, day, 16 * part + order)),
        ]),
      ),
    );
  const summary = windowOfFields(events, 1);
  const triggered = summary.totals['wafTriggeredRules'] ?? 0;
  return shieldData(seed, {
    overview: summary.totals,
    waf: {
      totalTriggeredRules: triggered,
      blockedRequests: Math.floor(triggered * 0.6),
      loggedRequests: Math.floor(triggered * 0.3),
      challengedRequests: Math.floor(triggered * 0.1),
    },
    overviewPastTwentyEightDays: summary.days,
    ...Object.fromEntries(
      Object.entries(parts).flatMap(([part, fields], order) => {
        const { totals, days } = windowOfFields(fields, order + 2);
        return [
          [part, totals],
          [`${part}OverviewPastTwentyEightDays`, days],
        ];
      }),
    ),
    totalCleanRequestsLimit: 20_000_000 * (1 + zone.planType),
    totalBillableRequests: hash(seed, 0xa3) % 30_000_000,
  });
}
