/** Days on which something is wrong with what the accounts have and pay for, or only looks like it. */
import type { Body } from './accounts.ts';
import { charged } from './calm.ts';
import {
  atOnce,
  both,
  type Change,
  type Day,
  edit,
  fail,
  happens,
  hours,
  idOf,
  instances,
  late,
  mails,
  nothing,
  ofApplication,
  type Pod,
  pages,
  pullZone,
  records,
  set,
  shield,
  slowOrigin,
  status,
  traffic,
} from './happenings.ts';

const zone = (account: 'acme' | 'umbrella', place: number) => ({
  account,
  pull_zone_id: idOf(account, 'pullZones', place),
});
const shieldZone = (account: 'acme' | 'umbrella', place = 0) => ({
  account,
  shield_zone_id: idOf(account, 'zones', place),
});
const app = (account: 'acme' | 'umbrella', place = 0) => ({
  account,
  app_id: idOf(account, 'applications', place),
});
const waf = (account: 'acme' | 'umbrella', place: number, fields: object) =>
  set(account, 'shield_zone', fields as never, 'data', place);
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19);

/** A container that ends again and again, so many minutes apart. */
const restarting =
  (account: 'acme' | 'umbrella', everyMinutes: number): Change =>
  (stage) => {
    const beganMs = Date.now();
    const restarts = () => Math.floor((Date.now() - beganMs) / 60_000 / everyMinutes);
    const ended = (container: Body, at: number) =>
      at > 0 ? container : { ...container, numberOfRestarts: restarts(), exitCode: 137 };
    const change = (pod: Pod) => [{ ...pod, containers: pod.containers.map(ended) }];
    return instances(account, 0, change, false)(stage);
  };

/** A prepaid balance of so many dollars, of which nobody is charged automatically. */
const prepaid =
  (account: 'acme' | 'umbrella', dollars: number, perDay = 20): Change =>
  (stage) => {
    const beganMs = Date.now();
    return set(account, 'billing', () => ({
      AutomaticRechargeEnabled: false,
      Balance: dollars - (perDay * (Date.now() - beganMs)) / 86_400_000,
    }))(stage);
  };

export const thingDays: readonly Day[] = [
  {
    name: 'cdn',
    begins: '2026-03-10T00:00Z',
    minutes: hours(37),
    kinds: ['pull_zone', 'pull_zone_statistics', 'pull_zone_origin_errors'],
    happenings: [
      happens(
        '0:00',
        '37:00',
        'a zone of umbrella has some 600 requests a day',
        traffic('umbrella', 2, { requests: 0.2 }),
      ),
      happens(
        '10:00',
        '0:02',
        'a deploy: all answers of a busy zone are 502 for 100 seconds',
        traffic('acme', 0, { errors: 0.83 }),
      ),
      happens('14:00', '4:00', 'figures come three hours late', late(180)),
      happens(
        '20:00',
        '3:00',
        'umbrella disables a zone that hardly anybody visits',
        pullZone('umbrella', 2, { Enabled: false }),
      ),
      happens('24:00', '0:01', 'midnight', nothing),
      happens(
        '25:00',
        '1:30',
        'a fifth of the answers of a busy zone is 5xx',
        traffic('acme', 0, { errors: 0.2 }),
        pages('PullZoneServerErrors', 30, zone('acme', 0), 60),
      ),
      happens(
        '26:00',
        '2:30',
        'all answers of a zone with two requests a minute are 502',
        traffic('acme', 2, { errors: 1 }),
        mails('PullZoneServerErrors', 45, zone('acme', 2), 60),
      ),
      happens(
        '25:30',
        '1:00',
        'a zone of umbrella is suspended',
        pullZone('umbrella', 0, { Suspended: true }),
        pages('PullZoneSuspended', 20, zone('umbrella', 0)),
      ),
      happens(
        '27:30',
        '2:00',
        'somebody disables a busy zone',
        both(pullZone('umbrella', 1, { Enabled: false }), traffic('umbrella', 1, { requests: 0 })),
        mails('PullZoneDisabled', 30, zone('umbrella', 1)),
      ),
      happens(
        '28:00',
        '3:00',
        'the cache of a zone serves 40 % instead of 90 %',
        traffic('acme', 1, { misses: 0.6 }),
        mails('PullZoneHitRatioDrop', 100, zone('acme', 1), 100),
      ),
      happens(
        '30:00',
        '3:00',
        'the origin of a zone takes 900 ms instead of 120',
        slowOrigin('umbrella', 0, 900),
        mails('PullZoneOriginSlow', 80, zone('umbrella', 0), 75),
      ),
      happens(
        '30:30',
        '1:00',
        'a zone has used 95 % of its bandwidth',
        pullZone('umbrella', 1, { MonthlyBandwidthUsed: 95e9, MonthlyBandwidthLimit: 100e9 }),
        mails('PullZoneBandwidthLimitNear', 25, zone('umbrella', 1)),
      ),
      happens(
        '29:00',
        '1:45',
        'a hostname has no certificate',
        pullZone('acme', 0, {
          Hostnames: [{ Value: 'new.example', IsSystemHostname: false, HasCertificate: false }],
        }),
        mails('PullZoneCertificateMissing', 80, zone('acme', 0)),
      ),
      happens(
        '33:00',
        '2:00',
        'the origin of a zone fails five times a minute',
        traffic('acme', 1, { originErrors: 5 }),
        mails('PullZoneOriginErrorsRising', 60, zone('acme', 1), 130),
      ),
      happens(
        '34:00',
        '1:00',
        'a tenth of the answers of a zone with 8 requests a minute is 5xx',
        traffic('umbrella', 3, { errors: 0.1 }),
        pages('PullZoneServerErrors', 45, zone('umbrella', 3), 60),
      ),
    ],
  },
  {
    name: 'weeks',
    begins: '2026-03-02T00:00Z',
    minutes: hours(9 * 24),
    kinds: ['pull_zone', 'pull_zone_statistics'],
    happenings: [
      atOnce(
        happens(
          '34:00',
          '14:00',
          'the core API answers 500 for 14 hours',
          fail({ api: 'core' }, 500),
          pages('ApiUnreadable', 20, { api: 'core' }),
        ),
      ),
      happens('120:00', '48:00', 'a weekend', nothing),
      happens(
        '202:00',
        '5:00',
        'a busy zone has no traffic any more',
        traffic('acme', 0, { requests: 0.01 }),
        mails('PullZoneTrafficStopped', 140, zone('acme', 0), 140),
      ),
      happens(
        '202:00',
        '5:00',
        'both busy zones of umbrella have hardly any traffic',
        both(traffic('umbrella', 0, { requests: 0.01 }), traffic('umbrella', 1, { requests: 0.01 })),
      ),
      happens(
        '203:00',
        '5:00',
        'a zone with two requests a minute has none',
        traffic('acme', 2, { requests: 0 }),
      ),
    ],
  },
  {
    name: 'shield',
    begins: '2026-03-10T00:00Z',
    minutes: hours(36),
    kinds: [
      'shield_zone',
      'shield_overview',
      'shield_statistics',
      'api_guardian_zone',
      'api_guardian',
      'rate_limit',
    ],
    happenings: [
      happens(
        '0:00',
        '36:00',
        'a firewall that was switched off long ago',
        waf('acme', 1, { wafEnabled: false }),
      ),
      happens(
        '26:00',
        '2:00',
        'the firewall blocks sixty times as much',
        shield('acme', 'waf', 30),
        mails('ShieldWafEventsRising', 100, shieldZone('acme'), 150),
      ),
      happens(
        '26:00',
        '1:30',
        'the firewall of a zone is switched off',
        waf('umbrella', 1, { wafEnabled: false }),
        mails('ShieldWafDisabled', 40, shieldZone('umbrella', 1)),
      ),
      happens(
        '28:30',
        '1:30',
        'an attack on a rate limit',
        shield('acme', 'breaches', 20),
        mails('ShieldRateLimitBreachesRising', 60, shieldZone('acme'), 120),
      ),
      happens(
        '28:30',
        '2:00',
        'the firewall of a zone only logs',
        waf('umbrella', 1, { wafExecutionMode: 0 }),
        mails('ShieldWafLogOnly', 90, shieldZone('umbrella', 1)),
      ),
      happens(
        '29:00',
        '1:30',
        'an attack that API Guardian blocks',
        shield('umbrella', 'guarded', 20),
        mails('ShieldBlockedRequestsRising', 60, shieldZone('umbrella'), 120),
      ),
      happens(
        '31:00',
        '2:00',
        'the learning of a zone ends in 30 hours',
        waf('umbrella', 2, {
          learningMode: true,
          learningModeUntil: '2026-03-12T13:00:00Z',
          wafExecutionMode: 0,
        }),
        mails('ShieldLearningModeEnding', 40, shieldZone('umbrella', 2)),
      ),
      happens(
        '31:30',
        '2:00',
        'the clean requests of a plan are used up',
        edit('acme', 'shield_overview', (body, { ids }) =>
          ids.includes(idOf('acme', 'zones'))
            ? { ...body, data: { ...(body['data'] as object), totalBillableRequests: 6e7 } }
            : body,
        ),
        mails('ShieldRequestsUsedUp', 75, shieldZone('acme')),
      ),
      happens(
        '31:30',
        '2:30',
        'a zone has nearly all of its custom rules',
        waf('umbrella', 0, { wafCustomRuleOrder: Array.from({ length: 14 }, (_, at) => at + 1) }),
        mails('ShieldCustomRulesNearLimit', 90, shieldZone('umbrella')),
      ),
    ],
  },
  {
    name: 'things',
    begins: '2026-03-10T06:00Z',
    minutes: hours(12.5),
    kinds: [
      'application',
      'application_overview',
      'application_autoscaling',
      'application_volume',
      'dns_zone',
      'dns_record',
      'database',
      'video_library',
      'video_encoding',
    ],
    happenings: [
      happens(
        '0:30',
        '0:40',
        'an application fails',
        status('acme', 0, 'failing'),
        pages('ApplicationFailing', 12, app('acme')),
      ),
      happens(
        '0:45',
        '1:00',
        'an application is suspended',
        status('umbrella', 0, 'suspended'),
        pages('ApplicationSuspended', 12, app('umbrella')),
      ),
      happens(
        '1:00',
        '1:45',
        'an application is progressing',
        status('acme', 1, 'progressing'),
        mails('ApplicationNotActive', 80, app('acme', 1)),
      ),
      happens('1:00', '2:30', 'umbrella stops an application', status('umbrella', 1, 'inactive')),
      happens(
        '2:30',
        '1:00',
        'a region of an application has no instance',
        instances('acme', 0, () => [], false),
        mails('ApplicationInstancesMissing', 30, app('acme')),
      ),
      happens(
        '3:00',
        '1:00',
        'a container is killed every five minutes',
        restarting('umbrella', 5),
        mails('ApplicationContainerRestarting', 40, app('umbrella'), 60),
      ),
      happens(
        '5:00',
        '1:00',
        'an instance sends no heartbeat',
        instances('acme', 0, (pod) => [{ ...pod, lastHeartBeat: '2026-03-10T10:59:00Z' }], false),
        pages('ApplicationHeartbeatStopped', 25, app('acme')),
      ),
      happens(
        '5:00',
        '1:00',
        'an instance uses 95 % of its memory',
        instances('umbrella', 1, (pod) => [{ ...pod, ramUsageBytes: 0.95 * 2 ** 30 }]),
        mails('ApplicationMemoryNearLimit', 25, app('umbrella', 1)),
      ),
      happens(
        '4:00',
        '1:00',
        'an application takes 900 ms instead of 50',
        ofApplication('acme', 'application', 1, () => ({ currentLatency: 900 })),
        mails('ApplicationLatencyLeap', 25, app('acme', 1)),
      ),
      happens(
        '7:00',
        '2:30',
        'an application runs as many instances as it may',
        both(
          ofApplication('acme', 'application_autoscaling', 0, () => ({ min: 1, max: 2 })),
          instances('acme', 0, (pod) => [pod, { ...pod, name: `second-${String(pod['name'])}` }]),
        ),
        mails('ApplicationAutoscalingAtMaximum', 120, app('acme'), 120),
      ),
      happens(
        '5:30',
        '1:30',
        'a volume is 95 % full',
        ofApplication('umbrella', 'application_volume', 0, (body) => ({
          items: (body['items'] as readonly { size: number }[]).map((one) => ({
            ...one,
            totalUsage: 0.95 * one.size,
          })),
        })),
        mails('ApplicationVolumeNearlyFull', 40, app('umbrella'), 60),
      ),
      happens(
        '1:00',
        '1:00',
        'one of two records of a name is offline',
        records('acme', [0]),
        mails('DnsRecordOffline', 25, { account: 'acme' }),
      ),
      happens(
        '3:00',
        '1:00',
        'both records of a name are offline',
        records('acme', [0, 1]),
        pages('DnsRecordOffline', 25, { account: 'acme' }),
      ),
      happens(
        '5:00',
        '2:00',
        'the nameservers of a domain are others',
        both(
          set('acme', 'dns_zone_listing', { NameserversDetected: false }, 'Items'),
          set('acme', 'dns_record', { NameserversDetected: false }, 'Items'),
        ),
        mails('DnsZoneNameserversNotDetected', 90, { account: 'acme' }),
      ),
      happens(
        '2:00',
        '1:00',
        'a database takes no writes',
        set('acme', 'database', { block_writes: true }, 'databases'),
        pages('DatabaseBlocked', 25, { account: 'acme' }),
      ),
      happens(
        '4:00',
        '1:30',
        'a database is 95 % full',
        set('umbrella', 'database', { current_size_bytes: 95e7 }, 'databases'),
        mails('DatabaseNearlyFull', 40, { account: 'umbrella' }, 60),
      ),
      happens(
        '4:00',
        '1:00',
        'a video cannot be encoded',
        set('acme', 'video_encoding', { status: 5 }, 'items'),
        mails('VideoEncodingFailed', 45, { account: 'acme' }, 400),
      ),
      happens(
        '1:00',
        '3:00',
        'a video is not encoded',
        set('umbrella', 'video_encoding', { status: 3, dateUploaded: '2026-03-10T07:00:00' }, 'items'),
        mails('VideoEncodingSlow', 130, { account: 'umbrella' }, 60),
      ),
      happens(
        '6:00',
        '1:30',
        'a certificate of a library expires in ten days',
        set(
          'acme',
          'video_library',
          { AppleFairPlayDrm: { Enabled: true, CertificateExpirationDate: '2026-03-21T00:00:00' } },
          'Items',
        ),
        mails('VideoLibraryCertificateExpiring', 40, { account: 'acme' }),
      ),
      happens(
        '9:00',
        '2:30',
        'a deploy: an application gets new instances',
        instances('acme', 1, (pod) => [{ ...pod, name: `new-${String(pod['name'])}` }]),
      ),
      happens(
        '10:30',
        '0:05',
        'a region scales, and has its instance five minutes later',
        instances('umbrella', 0, () => [], false),
      ),
    ],
  },
  {
    name: 'replication',
    begins: '2026-03-10T06:00Z',
    minutes: hours(28.5),
    kinds: ['storage_zone'],
    happenings: [
      happens(
        '0:30',
        '27:00',
        'a replication takes more than a day',
        set('umbrella', 'storage_zone', { ReplicationChangeInProgress: true }, 'Items'),
        mails('StorageZoneReplicationSlow', 1500, { account: 'umbrella' }),
      ),
    ],
  },
  {
    name: 'money',
    begins: '2026-01-29T00:00Z',
    minutes: hours(5 * 24),
    hasCalendar: true,
    kinds: ['billing', 'payment_requests', 'edge_script_usage', 'application'],
    happenings: [
      happens('0:00', '60:00', 'acme recharges by hand, and has 900 dollars', prepaid('acme', 900)),
      happens(
        '28:00',
        '92:00',
        'the prepaid balance of umbrella, which will last for a week in a day',
        prepaid('umbrella', 160),
        mails('AccountBalanceRunningOut', hours(28), { account: 'umbrella' }),
      ),
      happens(
        '34:00',
        '3:00',
        'the charges of acme are corrected by a cent',
        set('acme', 'billing', () => ({ ThisMonthCharges: charged(20) - 0.6 })),
      ),
      happens(
        '60:00',
        '60:00',
        'acme has a day and a half left when the month ends',
        prepaid('acme', 30),
        mails('AccountBalanceRunningOut', hours(3), { account: 'acme', severity: 'warning' }),
        pages('AccountBalanceRunningOut', hours(15), { account: 'acme', severity: 'critical' }),
      ),
      happens(
        '36:00',
        '20:00',
        'an application costs 30 dollars more at once',
        ofApplication('umbrella', 'application', 0, () => ({ monthlyCost: charged(2) + 30 })),
        mails('ApplicationCostLeap', 120, app('umbrella'), hours(26)),
      ),
      happens(
        '78:00',
        '30:00',
        'a script costs 20 dollars more at once, on the first of the month',
        set('acme', 'edge_script_usage', () => ({ MonthlyCost: charged(0.5) + 20 }), 'Items'),
        mails('EdgeScriptCostLeap', 120, { account: 'acme' }, hours(26)),
      ),
      happens(
        '40:00',
        '6:00',
        'recharges of acme fail',
        set('acme', 'billing', { AutomaticPaymentFailureCount: 2 }),
        pages('AccountRechargeFailing', 80, { account: 'acme' }, 80),
      ),
      happens(
        '50:00',
        '30:00',
        'a payment of umbrella is due',
        edit('umbrella', 'payment_requests', (body) =>
          (body as unknown as readonly object[]).map((one, at) =>
            at === 0 ? { ...one, Paid: false, DatePaid: null, DateDue: inDays(2) } : one,
          ),
        ),
        mails('PaymentDue', hours(7), { account: 'umbrella' }, hours(7)),
      ),
      happens(
        '52:00',
        '10:00',
        'the card of acme expires',
        set('acme', 'billing', { SavedPaymentMethods: [{ ExpirationDate: '01/26' }] }),
        mails('AccountPaymentMethodExpiring', 140, { account: 'acme' }, 80),
      ),
    ],
  },
];
