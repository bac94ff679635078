/** The rules about the exporter itself. */
import { resources } from '../../src/resources/kinds/index.ts';
import { apiNames } from '../../src/resources/resource.ts';
import { alertRecords } from './alert-records.ts';
import { upOf } from './promql.ts';
import { alertsOf, itself, type Rules, upToThree } from './rules.ts';

/** An expression about kinds, with the label `api`: so that the one alert about the API inhibits those about its kinds. */
function withApi(expr: string): string {
  return apiNames.reduce(
    (inner, api) => {
      const kinds = resources.filter((resource) => resource.api === api).map(({ kind }) => kind);
      return `label_replace(\n${inner},\n"api", "${api}", "kind", "${kinds.join('|')}"\n)`;
    },
    expr.trim().replaceAll(/\n */g, '\n  '),
  );
}

/** The last value of one of the exporter's own families, which a missed scrape does not take away. */
function last(family: string): string {
  return `last_over_time(bunnynet_exporter_${family}[3m:1m])`;
}

/** Nothing of an account can be read. The reason may change meanwhile, so the last value is taken of what is aggregated. */
const unreadableAccount =
  'last_over_time((max by (job, instance, account) (bunnynet_exporter_account_failing{reason!="api_down"}))[3m:1m]) == 1';

/** Template text: the values of a label, of the exporter's own series with value 1 that have the alert's labels. */
function listOf(label: string, family: string, ids: readonly string[]): string {
  const labels = ['namespace', ...ids];
  const matchers = labels.map((id) => `${id}=%q`).join(',');
  const values = labels.map((id) => `$labels.${id}`).join(' ');
  const asked = `query (printf "max by (namespace, ${label}) (${last(`${family}{${matchers}}`)}) == 1" ${values}) | sortByLabel "${label}"`;
  return `{{ range $at, $one := ${asked} }}{{ if $at }}, {{ end }}{{ $one.Labels.${label} }}{{ end }}`;
}

/** Template text: the failing targets of the alert's kind and account. */
const failingOf = upToThree(
  'target',
  'max by (namespace, target) (bunnynet:failing_targets:unread_seconds{namespace=%q,job=%q,instance=%q,kind=%q,account=%q})',
  ['job', 'instance', 'kind', 'account'],
  'see the status page',
);

const ofKey = 'job, instance, account, credential';
const refused = `${last('refused_keys')} == 1`;

/**
 * A counter that gained more than `above`. It has its first sample after its first events, so before there is a longer history the
 * count is taken as it is.
 */
function gained(counter: string, window: string, above: string): string {
  return `increase(${counter}[${window}]) > ${above} or last_over_time(${counter}[3m:1m]) > ${above} unless ${counter} offset ${window}`;
}

/**
 * The same of a counter that has no series before its first event. One at 0 was scraped with `st-synthesis`, which subtracts what a
 * counter began with: how much that was is not known.
 */
function gainedFromNothing(counter: string, window: string, above: string): string {
  return `
            increase(${counter}[${window}]) > ${above}
            or (last_over_time(${counter}[3m:1m]) > ${above} or min_over_time(${counter}[${window}]) == 0) unless ${counter} offset ${window}`;
}

/** The labels that say which exporter a series comes from. */
const kept = 'cluster, namespace, job, account, instance';

/** Seconds since the last successful poll of each failing target. */
const failingSeconds = resources
  .map((resource) => {
    const up = upOf(resource);
    const lastSuccess = up.replace(/_up$/, '_last_success_timestamp_seconds');
    const labels = resource.ids.map(({ label }) => label);
    const ids = labels.map((label) => `"${label}"`).join(', ');
    // Only `_up`, which is 0 here, says whose a target is.
    const plus = labels.includes('account') ? '+' : '+ ignoring (account) group_left ()';
    return `label_replace(label_join((${up} == 0) ${plus} (time() - (${lastSuccess} > 0)), "target", "/", ${ids}), "kind", "${resource.kind}", "", "")`;
  })
  .join('\nor ');

export const exporterRules: Rules = {
  about: `
    The exporter itself: whether it runs, can read, is authorized and keeps up. The rules use its counters and up; when its
    metrics vanish with it, that is covered by BunnynetExporterDown and BunnynetExporterAbsent.`,
  groups: [
    {
      name: 'bunnynet-exporter',
      interval: '1m',
      records: [
        {
          record: 'bunnynet:failing_targets:unread_seconds',
          forDashboards: true,
          comment:
            'For the dashboards: how long the failing targets have had no reading, the fifty worst of each exporter and account.',
          expr: `topk by (${kept}) (50, max by (${kept}, kind, target) (\n${failingSeconds}\n))`,
        },
        ...alertRecords,
      ],
      alerts: alertsOf({
        BunnynetExporterDown: {
          comment:
            'Exporters are recognized by their metrics, not by the job. Once the alert is pending, its own series keeps it going.',
          expr: `
          (up or up offset 1m) == 0
          and on (job, instance) (
            last_over_time(bunnynet_exporter_build_info[1h])
            or on (job, instance) ${itself('BunnynetExporterDown')}
          )`,
          for: '5m',
          severity: 'critical',
          summary: 'Exporter {{ $labels.instance }} cannot be scraped',
          description:
            'Prometheus has not been able to scrape the exporter {{ $labels.instance }} (job {{ $labels.job }}) for [[for]]. Nothing is known about its targets until it can.',
        },
        BunnynetExporterAbsent: {
          expr: `
          absent_over_time(bunnynet_exporter_build_info[15m])
          unless on () ALERTS{alertname="BunnynetExporterDown", alertstate="firing"}`,
          for: '5m',
          severity: 'critical',
          isAbsence: true,
          summary: 'No exporter is being scraped',
          description:
            'Prometheus has not scraped any exporter for more than 15 minutes, and none is known to be down: it is not running, or is no longer discovered.',
        },
        BunnynetApiUnreadable: {
          comment: `
          The one critical alert of an outage: of each API or, without the label api, of all. It inhibits the warnings about kinds and listings of the same API: see docs/alerts.md.
          After the outage it keeps firing until all that it inhibits has ended.`,
          expr: `
          min by (job, instance) (${last('api_unreadable')}) == 1
          and on (job, instance) count by (job, instance) (group by (job, instance, api) (${last('api_unreadable')})) > 1
          or on (job, instance) max by (job, instance, api) (${last('api_unreadable')}) == 1`,
          for: '10m',
          keepFiringFor: '25m',
          severity: 'critical',
          summary: 'Nothing can be read from {{ with $labels.api }}the {{ . }} API{{ else }}any API{{ end }}',
          description: `Every request of {{ $labels.instance }} to {{ with $labels.api }}the {{ . }} API{{ else }}any of these APIs: ${listOf('api', 'api_unreadable', ['job', 'instance'])}{{ end }} has failed for [[for]]: the API or the connection to it is down. The status page of the exporter says why.`,
        },
        BunnynetReadingsStale: {
          expr: withApi(`
          sum by (job, instance, kind, account) (last_over_time(bunnynet_exporter_stale_targets[3m:1m])) > [[targets]]
          unless on (job, instance, kind, account) sum by (job, instance, kind, account) (last_over_time(bunnynet_exporter_stale_targets[3m:1m]))
            >= sum by (job, instance, kind, account) (last_over_time(bunnynet_exporter_targets[3m:1m]))`),
          thresholds: { targets: 0 },
          for: '15m',
          isOfAccount: true,
          summary: 'Targets of kind {{ $labels.kind }} have no fresh reading',
          description: `Targets of kind {{ $labels.kind }} of the account {{ $labels.account }} whose last good reading is older than stale_after, so that {{ $labels.instance }} no longer exports their values: {{ $value }} (failing: ${failingOf}).`,
        },
        BunnynetKindUnreadable: {
          expr: withApi(`
          sum by (job, instance, kind, account) (last_over_time(bunnynet_exporter_stale_targets[3m:1m]))
          >= (sum by (job, instance, kind, account) (last_over_time(bunnynet_exporter_targets[3m:1m])) > 0)`),
          for: '10m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'Nothing of kind {{ $labels.kind }} can be read',
          description:
            'No target of kind {{ $labels.kind }} of the account {{ $labels.account }} at {{ $labels.instance }} has a fresh reading. Targets: {{ $value }}. The status page of the exporter says why.',
        },
        BunnynetAccountUnreadable: {
          comment: `
          Whatever the reason. It inhibits the warnings about kinds and listings of the account, and after it keeps firing until
          these have ended; the alert about its key inhibits it: see docs/alerts.md.`,
          expr: unreadableAccount,
          for: '15m',
          keepFiringFor: '15m',
          severity: 'critical',
          summary: 'Nothing of the account {{ $labels.account }} can be read',
          description: `{{ $labels.instance }} has read nothing with the key of the account {{ $labels.account }} for [[for]] or more: all that was tried failed. The commonest reason: ${listOf('reason', 'account_failing', ['job', 'instance', 'account'])}. The status page of the exporter says more.`,
        },
        BunnynetKeyRefused: {
          comment: `
          A key is refused if the API answers 401 and nothing was read with it since. One alert for each key; if a single API refuses
          it, with the label api. Critical if an account's own key is refused and nothing of the account can be read with it; that is
          another alert than the warning. The keys of libraries, which come with a listing, have a slash in their names.`,
          expr: `
          label_replace(
            max by (${ofKey}) (${last('refused_keys{credential!~".+/.+"}')} == 1)
            and on (job, instance, account) ${unreadableAccount},
            "severity", "critical", "", ""
          )
          or on (${ofKey}) max by (${ofKey}, api) (${refused})
            and on (${ofKey}) count by (${ofKey}) (group by (${ofKey}, api) (${refused})) == 1
          or on (${ofKey}) max by (${ofKey}) (${refused})`,
          for: '5m',
          keepFiringFor: '25m',
          severity: '{{ or $labels.severity "warning" }}',
          isOfAccount: true,
          summary: 'The key of {{ $labels.credential }} is refused',
          description: `These APIs answer 401 to what {{ $labels.instance }} reads with the key of {{ $labels.credential }} (account {{ $labels.account }}): ${listOf('api', 'refused_keys', ['job', 'instance', 'credential'])}.{{ if $labels.severity }} Nothing else is read with it.{{ end }} The status page and the log of the exporter say where the key came from.`,
        },
        BunnynetTargetNotFound: {
          expr: `sum by (job, instance, kind, account) (${last('failing_targets{result="not_found"}')}) > 0`,
          for: '15m',
          isOfAccount: true,
          summary: 'A target of kind {{ $labels.kind }} does not exist',
          description: `The API does not know targets of kind {{ $labels.kind }} of the account {{ $labels.account }} that {{ $labels.instance }} is configured to read: they were deleted, or their ids are wrong. How many: {{ $value }} (failing: ${failingOf}).`,
        },
        BunnynetApiPaused: {
          comment: `
          In how many minutes the API had asked to wait, so that the interval of scrapes does not matter. A key that came with a
          listing has a series only while it is paused.`,
          expr: `
          clamp_max(sum_over_time((max by (job, instance, api, credential, account) (
            bunnynet_exporter_api_paused_until_timestamp_seconds > bool timestamp(bunnynet_exporter_api_paused_until_timestamp_seconds)
          ))[30m:1m]) / 30, 1) > [[share]]`,
          thresholds: { share: 0.25 },
          for: '5m',
          keepFiringFor: '15m',
          isOfAccount: true,
          summary: 'The {{ $labels.api }} API keeps pausing the exporter',
          description:
            'The {{ $labels.api }} API has asked {{ $labels.instance }} to wait (429){{ with $labels.credential }} with what it reads with the key of {{ . }},{{ end }} for {{ $value | humanizePercentage }} of the past half hour; readings are late.',
        },
        BunnynetDiscoveryFailing: {
          comment: `
          Half an hour is three listings at the default discovery.interval. A restart removes the last result for a moment.`,
          expr: withApi(
            `max by (job, instance, kind, account) (last_over_time(bunnynet_exporter_discovery_failing_listings[10m])) > [[listings]]`,
          ),
          thresholds: { listings: 0 },
          for: '30m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'Discovery of {{ $labels.kind }} is failing',
          description:
            'Listings of kind {{ $labels.kind }} at {{ $labels.instance }}, read with the key of {{ $labels.account }}, that have been failing for [[for]]: {{ $value }}. Known targets are still polled, but new ones are not found and deleted ones not removed.',
        },
        BunnynetNothingFound: {
          comment: `
          First: a key that sees nothing of any kind. Then: a kind that had something within the past day and has nothing now.
          Neither a kind that the account does not use nor a listing that fails is a reason to alert.`,
          expr: `
          (
            sum by (job, instance, account) (last_over_time(bunnynet_exporter_discovery_found_targets[3m:1m])) == 0
            and on (job, instance, account) min by (job, instance, account) (last_over_time(bunnynet_exporter_discovery_up[3m:1m])) == 1
          )
          or (
            max by (job, instance, kind, account) (last_over_time(bunnynet_exporter_discovery_found_targets[3m:1m])) == 0
            and on (job, instance, kind, account) max by (job, instance, kind, account) (max_over_time(bunnynet_exporter_discovery_found_targets[1d])) > 0
            and on (job, instance, kind, account) min by (job, instance, kind, account) (last_over_time(bunnynet_exporter_discovery_up[3m:1m])) == 1
            unless on (job, instance, account) sum by (job, instance, account) (last_over_time(bunnynet_exporter_discovery_found_targets[3m:1m])) == 0
          )`,
          for: '30m',
          summary:
            'The key of {{ $labels.account }} finds nothing{{ with $labels.kind }} of kind {{ . }} any more{{ end }}',
          description:
            'The listings{{ with $labels.kind }} of kind {{ . }}{{ end }} that {{ $labels.instance }} reads with the key of {{ $labels.account }} succeed, but have had nothing in them for [[for]]{{ if $labels.kind }}; in the past day there was something{{ end }}. Either everything was deleted, or the key belongs to another account.',
        },
        BunnynetScheduleLag: {
          expr: `max by (job, instance, kind) (avg_over_time(bunnynet_exporter_schedule_lag_seconds[15m])) > [[seconds]]`,
          thresholds: { seconds: 60 },
          for: '10m',
          keepFiringFor: '15m',
          summary: 'Polls of kind {{ $labels.kind }} start late',
          description:
            'Polls of kind {{ $labels.kind }} at {{ $labels.instance }} have started {{ $value | humanizeDuration }} late on average: the allowed request rate is too low for the number of targets.',
        },
        BunnynetReloadFailed: {
          expr: `min by (job, instance) (last_over_time(bunnynet_exporter_config_last_reload_successful[3m:1m])) == 0`,
          for: '5m',
          summary: 'The configuration could not be reloaded',
          description:
            'The last reload of {{ $labels.instance }} failed; it keeps running with the previous configuration.',
        },
        BunnynetSchemaDrift: {
          comment: `
          More than two, so that a single odd answer does not alert. A fresh counter at 0 is one of Prometheus' st-synthesis, which
          subtracts what it began with.`,
          expr: `
          sum by (kind, field) (${gainedFromNothing('bunnynet_exporter_schema_mismatches_total', '6h', '[[answers]]')}
          )
          or sum by (kind, field) (${gainedFromNothing('bunnynet_exporter_unrecognized_values_total', '6h', '[[answers]]')}
          )
          or label_replace(
            sum by (kind) (${gained('bunnynet_exporter_polls_total{result="schema"}', '6h', '[[answers]]')}),
            "field", "the whole answer", "", ""
          )`,
          thresholds: { answers: 2 },
          for: '10m',
          summary: "The API's answers for {{ $labels.kind }} have an unknown shape: {{ $labels.field }}",
          description:
            'Answers of kind {{ $labels.kind }} in the past six hours with a value of the wrong type, or one that the API reference does not list ({{ $labels.field }}): more than [[answers]]. The series is missing, or its status is unknown.',
        },
      }),
    },
  ],
};
