/** Pull zones: what they are, what they used this month, and how close they are to their limits. */
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { toExporter } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, numbers, onOff, textOf, yesNo } from '../panels.ts';
import { all, anywhere, entityOf, highest, hundred, peaks, seriesOf, share, top, values } from '../promql.ts';
import { eitherOr, upToThree } from '../rules.ts';
import { grid } from '../tables.ts';
import { pickByName } from '../variables.ts';

export const pullZone = entityOf({
  ids: ['pull_zone_id'],
  noun: 'pull zone',
  picks: { pullzone: 'pull_zone_id' },
  info: 'bunnynet_pull_zone_info',
  dashboard: 'bunnynet-cdn',
});

/** Shared by all kinds about pull zones. */
export const cdnDashboard: Dashboard = {
  uid: 'bunnynet-cdn',
  title: 'CDN',
  description: 'Pull zones: traffic, cache, origin and errors, and what they cost.',
  picked: ['pull_zone_id=~"$pullzone|"'],
  details: ['Settings', 'Load balancers', 'Optimizer', 'Origin Shield and SafeHop', 'Readings'],
  variables: [pickByName(pullZone, 'Pull zone')],
};

const network = textOf({ 0: ['premium', 'text'], 1: ['volume', 'text'] });
const tlsLevel = textOf({ 0: ['legacy', 'text'], 1: ['compatible', 'text'], 2: ['modern', 'text'] });
const yesIsBad = textOf({ 0: ['no', 'text'], 1: ['yes', 'red'] });

const family = (name: string): string => `bunnynet_pull_zone_${name}`;
const field = (name: string): string => values(anywhere(pullZone), family(name));
const count = (expr: string): string => `count(${highest(pullZone, expr)}) or vector(0)`;

const bandwidth = family('monthly_bandwidth_bytes');
const bandwidthLimit = family('monthly_bandwidth_limit_bytes');
const isSuspended = 'max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_suspended[3m:1m])) == 1';
const uncertified = family('hostnames_without_certificate');

const uncertifiedHostnames = upToThree(
  'hostname',
  'max by (hostname) (last_over_time(bunnynet_pull_zone_hostname_info{certificate="none",%s}[3m:1m]))',
  ['pull_zone_id'],
  '{{ $value }}',
);

/** Of a pull zone that is not told, nothing is said. */
const renewal = eitherOr(
  ['auto_ssl_enabled', 'lets_encrypt_enabled']
    .map((name) => `max(last_over_time(${family(name)}{%s}[3m:1m]))`)
    .join(' * '),
  ['pull_zone_id'],
  {
    yes: ' bunny.net issues and renews certificates of this pull zone, as soon as the DNS record of the hostname points to it.',
    no: " Nobody issues or renews one: automatic certificates or Let's Encrypt are switched off in this pull zone.",
  },
);

/** A hostname is shown with the name of its pull zone. */
const hostname = { ...pullZone, ids: ['pull_zone_id', 'hostname'] };

export const pullZones: KindMonitoring = {
  kind: 'pull_zone',
  rules: {
    about: 'Pull zones: limits and certificates.',
    reading: bandwidth,
    interval: '1m',
    names: pullZone,
    alerts: {
      BunnynetPullZoneSuspended: {
        comment: 'A warning where it has been so for a day: whoever was to be woken has been.',
        expr: `
          label_replace(
            ${isSuspended}
            and min by (pull_zone_id) (min_over_time(bunnynet_pull_zone_suspended[1d])) == 1
            and max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_suspended[1h] offset 23h)) == 1,
            "severity", "warning", "", ""
          )
          or on (pull_zone_id) ${isSuspended}`,
        for: '5m',
        severity: '{{ or $labels.severity "critical" }}',
        summary: 'Pull zone {{ or $name $labels.pull_zone_id }} is suspended',
        description:
          'The API has reported pull zone {{ $labels.pull_zone_id }} as suspended{{ if eq $labels.severity "warning" }} for a day or more{{ else }} for [[for]] or more{{ end }}: it serves nothing.',
      },
      BunnynetPullZoneDisabled: {
        comment: 'Only within a day of the change, and only where somebody used it.',
        expr: `
          max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_enabled[3m:1m])) == 0
          and max by (pull_zone_id) (max_over_time(bunnynet_pull_zone_enabled[1d])) == 1
          and max by (pull_zone_id) (increase(bunnynet_pull_zone_requests_total[1d])) > [[requests]]`,
        thresholds: { requests: 1000 },
        for: '5m',
        severity: 'info',
        summary: 'Pull zone {{ or $name $labels.pull_zone_id }} was disabled',
        description:
          'Pull zone {{ $labels.pull_zone_id }} has been disabled within the past day, in which its requests were more than [[requests]].',
      },
      BunnynetPullZoneBandwidthLimitNear: {
        comment: 'A limit of 0 means no limit.',
        expr: `
          max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_monthly_bandwidth_bytes[3m:1m]))
          / (max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_monthly_bandwidth_limit_bytes[3m:1m])) > 0)
          >= [[share]]`,
        thresholds: { share: 0.9 },
        for: '10m',
        summary: 'Pull zone {{ or $name $labels.pull_zone_id }} has nearly used up its bandwidth',
        description:
          'Pull zone {{ $labels.pull_zone_id }} has used {{ $value | humanizePercentage }} of the bandwidth that it may use this month.',
      },
      BunnynetPullZoneCertificateMissing: {
        expr: `max by (pull_zone_id) (last_over_time(bunnynet_pull_zone_hostnames_without_certificate[3m:1m])) > [[hostnames]]`,
        thresholds: { hostnames: 0 },
        for: '1h',
        summary: 'Pull zone {{ or $name $labels.pull_zone_id }} has hostnames without a certificate',
        description: `Hostnames of pull zone {{ $labels.pull_zone_id }} that have had no certificate for [[for]]: ${uncertifiedHostnames}.${renewal}`,
      },
    },
  },
  rows: [
    row(overviewDashboard, 'CDN', [
      lines('Bandwidth this month (top 10)', 'decbytes', 8, {
        description:
          'Bandwidth that a pull zone used in this calendar month, which starts from 0 (API field MonthlyBandwidthUsed).',
        queries: peaks(10, all(pullZone), bandwidth),
        link: pullZone.link,
        alerts: ['BunnynetPullZoneBandwidthLimitNear'],
      }),
    ]),
    // Charts come first; their panels are those of the statistics.
    row(cdnDashboard, 'Traffic', []),
    row(cdnDashboard, 'Pull zones', [
      grid('Pull zones', 'short', 24, {
        description:
          'At most 100 of the selected pull zones, those with the most traffic of the month first (API fields MonthlyBandwidthUsed, MonthlyBandwidthLimit, MonthlyCharges, Enabled, Suspended, Hostnames as they are now; RequestsServedChart as "Requests" of the UTC day so far, CacheHitRateChart as "Hit ratio" and OriginResponseTimeChart as "Origin (hour)" of the newest hour, and of the UTC day so far as "Origin (today)").',
        height: 10,
        entity: pullZone,
        rows: hundred(pullZone, family('(up|monthly_bandwidth_bytes)')),
        columns: [
          { title: 'Month', expr: field('monthly_bandwidth_bytes'), unit: 'decbytes' },
          {
            title: 'Of limit',
            expr: share(anywhere(pullZone), bandwidth, bandwidthLimit),
            unit: 'percentunit',
            steps: ['text', [0.9, 'orange'], [1, 'red']],
          },
          { title: 'Charges', expr: field('monthly_charges_dollars'), unit: 'currencyUSD' },
          { title: 'Requests', expr: field('requests_latest_day') },
          { title: 'Hit ratio', expr: field('cache_hit_ratio_latest_hour'), unit: 'percentunit' },
          { title: 'Origin (hour)', expr: field('origin_response_time_latest_hour_seconds'), unit: 's' },
          { title: 'Origin (today)', expr: field('origin_response_time_seconds'), unit: 's' },
          { title: 'Enabled', expr: field('enabled'), text: onOff },
          { title: 'Suspended', expr: field('suspended'), text: yesIsBad },
          {
            title: 'Uncertified',
            expr: field('hostnames_without_certificate'),
            steps: ['text', [1, 'orange']],
          },
        ],
        alerts: [
          'BunnynetPullZoneBandwidthLimitNear',
          'BunnynetPullZoneCertificateMissing',
          'BunnynetPullZoneDisabled',
          'BunnynetPullZoneSuspended',
        ],
      }),
      bars('Bandwidth limit used (top 10)', 'percentunit', 9, {
        description:
          'Share of the bandwidth that a pull zone may use this month (API fields MonthlyBandwidthUsed and MonthlyBandwidthLimit). An alert fires from 90 %.',
        steps: ['green', [0.9, 'orange'], [1, 'red']],
        queries: top(10, pullZone, share(pullZone, bandwidth, bandwidthLimit)),
        link: pullZone.link,
        nothing: 'No pull zone has a limit.',
        alerts: ['BunnynetPullZoneBandwidthLimitNear'],
      }),
      bars('Most expensive pull zones this month (top 10)', 'currencyUSD', 9, {
        description: 'In US dollars, this calendar month so far (API field MonthlyCharges).',
        queries: top(10, pullZone, values(pullZone, family('monthly_charges_dollars'))),
        link: pullZone.link,
      }),
      numbers('Pull zones', 'short', 6, {
        description:
          'How many of the selected pull zones there are, are suspended, and have a hostname without a certificate (API fields Suspended and Hostnames, HasCertificate).',
        height: 8,
        queries: {
          all: `count(${values(pullZone, family('up'))})`,
          suspended: count(`${seriesOf(pullZone, family('suspended'))} == 1`),
          'without a certificate': count(`${seriesOf(pullZone, uncertified)} > 0`),
        },
        wrong: { suspended: 'red', 'without a certificate': 'orange' },
        link: toExporter,
        alerts: ['BunnynetPullZoneCertificateMissing', 'BunnynetPullZoneSuspended'],
      }),
    ]),
    row(cdnDashboard, 'Settings', [
      grid('Hostnames without a certificate', 'none', 24, {
        description:
          'At most 100 hostnames of the selected pull zones, without those of bunny.net (API fields Hostnames: Value, HasCertificate, ForceSSL).',
        entity: hostname,
        rows: `topk(100, ${values(hostname, family('hostname_info'), [], ['certificate="none"'])})`,
        height: 6,
        labels: { hostname: 'Hostname' },
        columns: [
          {
            title: 'Forces HTTPS',
            expr: `(${values(anywhere(hostname), family('hostname_info'), [], ['force_ssl="true"'])} or 0 * ${values(anywhere(hostname), family('hostname_info'))})`,
            text: yesNo,
          },
        ],
        nothing: 'Every hostname has a certificate.',
        alerts: ['BunnynetPullZoneCertificateMissing'],
      }),
      grid('Settings', 'short', 24, {
        description:
          'At most 100 of the selected pull zones (API fields EdgeRules, Type, OptimizerEnabled, EnableOriginShield, EnableSafeHop, EnableLogging, LogForwardingEnabled, VerifyOriginSSL, EnableAutoSSL, DisableLetsEncrypt, TlsSecurityLevel, EnableTLS1, as they are now).',
        height: 9,
        entity: pullZone,
        rows: hundred(pullZone, family('(up|edge_rules)')),
        columns: [
          { title: 'Edge rules', expr: field('edge_rules'), width: 115 },
          { title: 'Enabled', expr: field('edge_rules_enabled') },
          { title: 'Network', expr: field('type'), text: network },
          { title: 'Optimizer', expr: field('optimizer_enabled'), text: yesNo },
          { title: 'Origin Shield', expr: field('origin_shield_enabled'), text: yesNo },
          { title: 'SafeHop', expr: field('safehop_enabled'), text: yesNo },
          { title: 'Logs', expr: field('logging_enabled'), text: yesNo, width: 75 },
          { title: 'Forwarded', expr: field('log_forwarding_enabled'), text: yesNo },
          { title: 'Verifies TLS', expr: field('verify_origin_ssl'), text: yesNo },
          { title: 'Auto SSL', expr: field('auto_ssl_enabled'), text: yesNo },
          { title: "Let's Encrypt", expr: field('lets_encrypt_enabled'), text: yesNo, width: 115 },
          { title: 'TLS', expr: field('tls_security_level'), text: tlsLevel },
          { title: 'TLS 1.0', expr: field('tls1_enabled'), text: yesIsBad },
        ],
        sort: 'Edge rules',
      }),
    ]),
    row(cdnDashboard, 'Origin Shield and SafeHop', [
      grid('Origin Shield limits', 'short', 24, {
        description:
          'At most 100 of the selected pull zones whose Origin Shield limits requests (API fields OriginShieldMaxConcurrentRequests, OriginShieldMaxQueuedRequests and OriginShieldQueueMaxWaitTime, with OriginShieldEnableConcurrencyLimit, as they are now).',
        height: 5,
        entity: pullZone,
        rows: `topk(100, ${values(pullZone, family('origin_shield_max_concurrent_requests'))})`,
        columns: [
          { title: 'Concurrent requests', expr: field('origin_shield_max_concurrent_requests') },
          { title: 'Queued requests', expr: field('origin_shield_max_queued_requests') },
          { title: 'Wait', expr: field('origin_shield_max_queue_wait_seconds'), unit: 's' },
        ],
        nothing: 'No pull zone has such a limit.',
      }),
    ]),
  ],
};
