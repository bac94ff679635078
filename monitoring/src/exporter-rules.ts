/** The rules about the exporter itself. */
import { resources } from '../../src/resources/kinds/index.ts';
import { type ApiName, apiNames, type Resource } from '../../src/resources/resource.ts';
import { alertRecords } from './alert-records.ts';
import { upOf } from './promql.ts';
import { alertsOf, firstOf, itself, type Rules, upToThree } from './rules.ts';

/** An expression about kinds, with the label `api`: so that the one alert about the API inhibits those about its kinds. */
function withApi(expr: string, apiOf = (resource: Resource): ApiName => resource.api): string {
  return apiNames.reduce(
    (inner, api) => {
      const kinds = resources.filter((resource) => apiOf(resource) === api).map(({ kind }) => kind);
      return `label_replace(\n${inner},\n"api", "${api}", "kind", "${kinds.join('|')}"\n)`;
    },
    expr.trim().replaceAll(/\n */g, '\n  '),
  );
}

/** The last value of one of the exporter's own families, which a missed scrape does not take away. */
function last(family: string): string {
  return `last_over_time(bunnynet_exporter_${family}[3m:1m])`;
}

/** Template text: the values of a label, of the series with value 1 that have the alert's labels. */
function listOf(label: string, expr: string, ids: readonly string[], otherwise: string): string {
  return upToThree(label, `max by (${label}) (${expr}) == 1`, ids, otherwise);
}

/** Template text: the failing targets of the alert's kind and account. */
const failingOf = upToThree(
  'target',
  'max by (target) (bunnynet:failing_targets:unread_seconds{%s})',
  ['kind', 'account'],
  'see the status page',
);

/** Template text: the commonest result of what fails of the alert's kind and account, and where the exporters that say so have their status page. */
const why = `${firstOf(
  'result',
  `topk(1, sum by (result) (${last('failing_targets{%s}')}))`,
  ['kind', 'account'],
  'nothing failed, but no poll was carried out in time',
)}. Status page: ${upToThree(
  'instance',
  `max by (instance) (${last('stale_targets{%s}')}) > 0`,
  ['kind', 'account'],
  'that of the exporter',
)}`;

/** The targets that each exporter has of each kind of each account, with their APIs. */
const kindsRead = 'bunnynet:exporter_kinds:api';
/** Of the past half hour, how much a kind of an account could not be asked because of a 429. */
const paused = 'bunnynet:kind_paused:ratio30m';
/** Each API of each account: 1 while no exporter that has it can read it. */
const apiUnreadable = 'bunnynet:api_unreadable:all';
/** Each account: 1 while no exporter that has it can read it, for another reason than an API that is down. */
const accountUnreadable = 'bunnynet:account_unreadable:all';
/** An account of which all APIs are down, where it uses several. */
const allUnreadable = `min by (account) (${apiUnreadable}) == 1
            and on (account) count by (account) (${apiUnreadable}) > 1`;
/** There was an exporter, however long ago. */
const everSeen = 'bunnynet:exporter_seen:ever';

/** A family that each exporter has for each of its accounts, from its start. */
const accounts = 'bunnynet_exporter_account_last_success_timestamp_seconds';

const ofExporter = 'job, instance, kind, account';
/** What the API does not know is told by its own alert, and is neither stale nor failing. */
const unknownOf = `sum by (${ofExporter}) (${last('failing_targets{result="not_found"}')})`;
const withoutUnknown = (expr: string): string => `(${expr} - ${unknownOf} or ${expr})`;
const staleOf = withoutUnknown(`max by (${ofExporter}) (${last('stale_targets')})`);
const targetsOf = withoutUnknown(`max by (${ofExporter}) (${last('targets')})`);
const failingNow = `sum by (${ofExporter}) (${last('failing_targets{result!="not_found"}')})`;

/** Of each exporter that reads the kind: whether nothing of it is read. */
const allStale = `(${staleOf} >= bool (${targetsOf} > 0))`;
const allFailing = `((${failingNow} or 0 * ${targetsOf}) >= bool (${targetsOf} > 0))`;

/** Whether something of a kind of an account is stale, minute by minute; and whether a 429 keeps it from being asked. */
const staleNow = 'bunnynet:kind_stale:now';
const pausedNow = 'bunnynet:kind_paused:now';
/** For half an hour something of the kind has been stale; with a scrape each five minutes, some of 36 minutes have no sample. */
const staleForLong = `sum_over_time(${staleNow}[36m]) >= 30`;
/** What is stale because of a pause, for so short that it may have caught up before anybody looks. */
const pausedBriefly = `(${paused} > 0.25 unless on (kind, account) ${staleForLong})`;

const refused = `${last('refused_keys')} == 1`;
const ofKey = 'account, credential';
const unreadableNow = `last_over_time(${accountUnreadable}[3m:1m]) == 1`;

/**
 * Keeps a warning about a kind from beginning while nothing of the account can be read, or all APIs are down: the alert about that waits
 * longer, or begins later, and cannot inhibit it yet. One that fires goes on, and is inhibited.
 */
function unlessOfAccount(alert: string): string {
  const going = itself(alert, 'alertstate="firing"');
  return `and on (kind, account) (${kindsRead} unless on (account) ${unreadableNow} unless on (account) (${allUnreadable}) or on (kind, account) ${going})`;
}

/** Exporters that Prometheus cannot scrape. */
const cannotScrape = 'max by (job, instance) (up or up offset 1m) == 0';
/** The accounts of each exporter, also of one that is down since less than six hours. */
const accountsOfSixHours = `group by (job, instance, account) (last_over_time(${accounts}[6h]))`;
/** Those that an exporter which is scraped has. */
const accountsRead = `last_over_time(${accounts}[3m:1m]) unless on (job, instance) ${cannotScrape}`;

/** The listings of an account. */
const listed = 'bunnynet_exporter_discovery_up';

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
    metrics vanish with it, that is covered by BunnynetExporterDown and BunnynetExporterAbsent. Who says it does not matter: only alerts
    about the process have job and instance.`,
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
        {
          record: kindsRead,
          comment: 'How many targets each exporter has of each kind of each account, with its API.',
          expr: withApi(`max by (job, instance, kind, account) (${last('targets')})`),
        },
        {
          record: apiUnreadable,
          comment: `
          Each API that an account uses: 1 while every exporter that reads the account says that the API is down. One is used if there is a
          target, or if it is down and has listings of its own: an exporter that begins in an outage does not know its targets.`,
          expr: `
          min by (account, api) (
            group by (job, instance, account, api) (
              ${kindsRead} > 0
              or ${kindsRead} and on (job, instance, api) ${last('api_unreadable{api=~"application|core|shield"}')} == 1
            )
            * on (job, instance, api) group_left () max by (job, instance, api) (${last('api_unreadable')})
          )`,
        },
        {
          record: accountUnreadable,
          comment: `
          1 while every exporter that reads the account reads nothing of it. The series of an exporter change with the reason, so whoever
          looks back takes the last value of this record.`,
          expr: `min by (account) (max by (job, instance, account) (bunnynet_exporter_account_failing{reason!="api_down"}))`,
        },
        {
          record: staleNow,
          comment: 'Each kind of each account: 1 while something of it is stale.',
          expr: `max by (kind, account) (${staleOf} > bool 0)`,
        },
        {
          record: pausedNow,
          comment: `
          Each kind of each account: 1 while it cannot be asked because of a 429: of the kind, of a key, or of the API as a whole. A kind, and
          a key that came with a listing, have a series only while they are paused.`,
          expr: `
          max by (kind, account, api) (
            label_replace(
              group by (job, instance, kind, account, api) (${kindsRead} > 0) * on (job, instance, account, api) group_left ()
              max by (job, instance, account, api) (bunnynet_exporter_api_paused_until_timestamp_seconds > bool timestamp(bunnynet_exporter_api_paused_until_timestamp_seconds)),
              "of", "key", "", ""
            )
            or label_replace(
              group by (job, instance, kind, account, api) (${kindsRead} > 0) * on (job, instance, api) group_left ()
              max by (job, instance, api) (bunnynet_exporter_api_paused_until_timestamp_seconds{account=""} > bool timestamp(bunnynet_exporter_api_paused_until_timestamp_seconds{account=""})),
              "of", "api", "", ""
            )
            or label_replace(
              bunnynet_exporter_kind_paused_until_timestamp_seconds > bool timestamp(bunnynet_exporter_kind_paused_until_timestamp_seconds),
              "of", "kind", "", ""
            )
          )`,
        },
        {
          record: paused,
          comment:
            'The same of the past half hour. Minutes are counted, so that the interval of scrapes does not matter.',
          expr: `clamp_max(sum_over_time(${pausedNow}[30m]) / 30, 1)`,
        },
        {
          record: everSeen,
          comment:
            'That there ever was an exporter: where one is gone for good, nothing is to be told for ever.',
          expr: `group (bunnynet_exporter_build_info) or on () last_over_time(${everSeen}[1d])`,
        },
        ...alertRecords,
      ],
      alerts: alertsOf({
        BunnynetExporterDown: {
          sort: 'process',
          comment: `
          Exporters are recognized by their metrics, not by the job. It is a warning where other exporters read all its accounts. What it
          read was on its page for the last time up to six hours ago; from then on its own series keeps the alert and its severity. One that
          fires as critical stays so.`,
          expr: `
          label_replace(
            ${cannotScrape}
            and on (job, instance) (
              ${accountsOfSixHours}
              or on (job, instance) ${itself('BunnynetExporterDown', 'severity="warning"')}
            )
            unless on (job, instance) (
              ${accountsOfSixHours}
              unless on (account) (${accountsRead})
            )
            unless on (job, instance) ${itself('BunnynetExporterDown', 'alertstate="firing"', 'severity="critical"')},
            "severity", "warning", "", ""
          )
          or on (job, instance) (
            ${cannotScrape}
            and on (job, instance) (
              last_over_time(bunnynet_exporter_build_info[6h])
              or on (job, instance) ${itself('BunnynetExporterDown')}
            )
          )`,
          for: '5m',
          severity: '{{ or $labels.severity "critical" }}',
          summary: 'Exporter {{ $labels.instance }} cannot be scraped',
          description:
            'Prometheus has not been able to scrape the exporter {{ $labels.instance }} (job {{ $labels.job }}) for [[for]].{{ if $labels.severity }} Other exporters read its accounts.{{ else }} Nothing is known about its targets until it can.{{ end }}',
        },
        BunnynetExporterAbsent: {
          sort: 'account',
          comment: `
          An account that an exporter listed within a day, and none has now, although it was neither taken out of an exporter that still is a
          target, nor is that one down. Then: where there never was an exporter.`,
          expr: `
          group by (account) (last_over_time(${listed}[24h]))
          unless on (account) group by (account) (last_over_time(${listed}[10m]))
          unless on (account) group by (account) (
            last_over_time(${listed}[24h]) and on (job, instance) last_over_time(up[3m:1m])
          )
          or on (account) (absent_over_time(bunnynet_exporter_build_info[6h]) unless on () ${everSeen})`,
          for: '10m',
          severity: 'critical',
          isAbsence: true,
          isOfAccount: true,
          summary:
            '{{ if $labels.account }}No exporter reads the account any more{{ else }}No exporter is being scraped{{ end }}',
          description:
            '{{ with $labels.account }}Prometheus scrapes no exporter any more that reads the account {{ . }}, and none is known to be down: it is not running, or is no longer discovered. This ends by itself after 24 h; that is no recovery.{{ else }}Prometheus has never scraped an exporter: it is not running, or is not discovered.{{ end }}',
        },
        BunnynetApiUnreadable: {
          sort: 'account',
          comment: `
          The one alert of an outage: of each API that an account uses or, without the label api, of all, while every exporter of the account
          says so. It inhibits the warnings about kinds and listings of the same API: see docs/alerts.md. After the outage it keeps firing
          until all that it inhibits has ended. Where only a small API is down it is a warning.`,
          expr: `
          label_replace(
            ${allUnreadable}
            or on (account) ${apiUnreadable} == 1,
            "severity", "warning", "api", "origin_errors|video"
          )`,
          for: '10m',
          keepFiringFor: '25m',
          severity: '{{ or $labels.severity "critical" }}',
          isOfAccount: true,
          summary: 'Nothing can be read from {{ with $labels.api }}the {{ . }} API{{ else }}any API{{ end }}',
          description: `Every request to {{ with $labels.api }}the {{ . }} API{{ else }}any of the APIs that the account {{ $labels.account }} uses{{ end }} has failed for [[for]]: the API or the connection to it is down. Status page: ${upToThree('instance', `max by (instance) (${kindsRead}{%s})`, ['account'], 'that of the exporter')}.`,
        },
        BunnynetReadingsStale: {
          sort: 'account',
          comment: `
          Also what only one of several exporters cannot read. What began as stale stays so over a restart, after which nothing is stale at
          first, while polls fail. What a 429 delays is left to BunnynetApiPaused for half an hour.`,
          expr: withApi(`
          (
            max by (kind, account) (${staleOf}) > [[targets]]
            or on (kind, account) max by (kind, account) (${failingNow}) > [[targets]]
              and on (kind, account) ${itself('BunnynetReadingsStale', 'alertstate="firing"')}
          )
          unless on (kind, account) min by (kind, account) (${allStale}) == 1
          unless on (kind, account) ${pausedBriefly}
          ${unlessOfAccount('BunnynetReadingsStale')}`),
          thresholds: { targets: 0 },
          for: '15m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'Targets of kind {{ $labels.kind }} have no fresh reading',
          description: `Targets of kind {{ $labels.kind }} of the account {{ $labels.account }} whose last good reading is older than stale_after, so that their values are no longer exported: {{ $value }} (failing: ${failingOf}). The commonest reason: ${why}.`,
        },
        BunnynetKindUnreadable: {
          sort: 'account',
          comment: `
          While every exporter of the account says so; over a restart as the one before. It does not begin while nothing of the account can be
          read at all, or all its APIs are down, of which another alert tells later.`,
          expr: withApi(`
          (
            max by (kind, account) (${targetsOf} > 0)
            and on (kind, account) (
              min by (kind, account) (${allStale}) == 1
              or on (kind, account) min by (kind, account) (${allFailing}) == 1
                and on (kind, account) ${itself('BunnynetKindUnreadable', 'alertstate="firing"')}
            )
          )
          unless on (kind, account) ${pausedBriefly}
          ${unlessOfAccount('BunnynetKindUnreadable')}`),
          for: '10m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'Nothing of kind {{ $labels.kind }} can be read',
          description: `No target of kind {{ $labels.kind }} of the account {{ $labels.account }} has a fresh reading. Targets: {{ $value }}. The commonest reason: ${why}.`,
        },
        BunnynetAccountUnreadable: {
          sort: 'account',
          comment: `
          Whatever the reason, but for an API that is down. It inhibits the warnings about kinds and listings of the account, and after it
          keeps firing until these have ended; the alert about its key inhibits it: see docs/alerts.md.`,
          expr: unreadableNow,
          for: '15m',
          keepFiringFor: '15m',
          severity: 'critical',
          summary: 'Nothing of the account {{ $labels.account }} can be read',
          description: `Nothing has been read with the key of the account {{ $labels.account }} for [[for]] or more: all that was tried has failed. The commonest reason: ${listOf('reason', last('account_failing{%s}'), ['account'], 'see the status page')}. Status page: ${upToThree('instance', `max by (instance) (last_over_time(${accounts}{%s}[3m:1m]))`, ['account'], 'that of the exporter')}.`,
        },
        BunnynetKeyRefused: {
          sort: 'account',
          comment: `
          A key is refused if the API answers 401 and nothing was read with it since. One alert for each key; if a single API refuses
          it, with the label api. Critical if an account's own key is refused and no exporter can read anything of the account; that is
          another alert than the warning, which waits for its end: the last API is asked some minutes after the first. The keys of libraries, which come with a listing, have a slash in their names.`,
          expr: `
          label_replace(
            max by (${ofKey}) (${last('refused_keys{credential!~".+/.+"}')} == 1)
            and on (account) ${unreadableNow},
            "severity", "critical", "", ""
          )
          or on (${ofKey}) (
            (
              max by (${ofKey}, api) (${refused})
              and on (${ofKey}) count by (${ofKey}) (group by (${ofKey}, api) (${refused})) == 1
              or on (${ofKey}) max by (${ofKey}) (${refused})
            )
            unless on (${ofKey}) ${itself('BunnynetKeyRefused', 'alertstate="firing"', 'severity="critical"')}
          )`,
          for: '5m',
          keepFiringFor: '25m',
          severity: '{{ or $labels.severity "warning" }}',
          isOfAccount: true,
          summary: 'The key of {{ $labels.credential }} is refused',
          description: `These APIs answer 401 to what is read with the key of {{ $labels.credential }} (account {{ $labels.account }}): ${listOf('api', last('refused_keys{%s}'), ['credential', 'account'], 'none any more')}.{{ if $labels.severity }} Nothing of the account could be read with it for [[for]].{{ end }} The log and the status page say where the key came from: ${upToThree('instance', `max by (instance) (${last('refused_keys{%s}')} == 1)`, ['credential', 'account'], 'those of the exporter')}.`,
        },
        BunnynetTargetNotFound: {
          sort: 'account',
          expr: `max by (kind, account) (sum by (job, instance, kind, account) (${last('failing_targets{result="not_found"}')})) > 0`,
          for: '15m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'A target of kind {{ $labels.kind }} does not exist',
          description: `The API does not know targets of kind {{ $labels.kind }} of the account {{ $labels.account }} that are configured: they were deleted, or their ids are wrong. How many: {{ $value }} (failing: ${failingOf}).`,
        },
        BunnynetApiPaused: {
          sort: 'account',
          comment: `
          One for each account, and only where something has been stale for half an hour: a pause that polls catch up after harms nobody. It
          inhibits the warnings about what is stale of the account.`,
          expr: `
          max by (account) (${paused} > [[share]] and on (kind, account) ${staleForLong})
          unless on (account) ${unreadableNow}`,
          thresholds: { share: 0.25 },
          for: '5m',
          keepFiringFor: '15m',
          isOfAccount: true,
          summary: 'The API keeps pausing what reads the account',
          description: `The API has asked to wait (429) with what is read of the account {{ $labels.account }}, for {{ $value | humanizePercentage }} of the past half hour, and something has had no fresh reading for half an hour. Of these APIs: ${upToThree('api', `max by (api) (${paused}{%s} > [[share]])`, ['account'], 'see the status page')}. Kinds: ${upToThree('kind', `max by (kind) (${paused}{%s} > [[share]])`, ['account'], 'see the status page')}.`,
        },
        BunnynetDiscoveryFailing: {
          sort: 'account',
          comment: `
          With the API of the listing, which may be another than that of the kind. Half an hour is three listings at the default discovery.interval. A restart removes the last result for a moment. What a 429 delays is
          left to BunnynetApiPaused.`,
          expr: withApi(
            `
          max by (kind, account) (last_over_time(bunnynet_exporter_discovery_failing_listings[10m])) > [[listings]]
          unless on (kind, account) ${pausedBriefly}`,
            ({ listing, api }) => listing?.api ?? api,
          ),
          thresholds: { listings: 0 },
          for: '30m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'Discovery of {{ $labels.kind }} is failing',
          description:
            'Listings of kind {{ $labels.kind }}, read with the key of {{ $labels.account }}, that have been failing for [[for]]: {{ $value }}. Known targets are still polled, but new ones are not found and deleted ones not removed.',
        },
        BunnynetNothingFound: {
          sort: 'account',
          comment: `
          First: a key that sees nothing of any kind. Then: a kind that had something within the past day and has nothing now.
          Neither a kind that the account does not use nor a listing that fails is a reason to alert.`,
          expr: `
          (
            sum by (account) (last_over_time(bunnynet_exporter_discovery_found_targets[3m:1m])) == 0
            and on (account) min by (account) (last_over_time(bunnynet_exporter_discovery_up[3m:1m])) == 1
          )
          or (
            max by (kind, account) (last_over_time(bunnynet_exporter_discovery_found_targets[3m:1m])) == 0
            and on (kind, account) max by (kind, account) (max_over_time(bunnynet_exporter_discovery_found_targets[1d])) > 0
            and on (kind, account) min by (kind, account) (last_over_time(bunnynet_exporter_discovery_up[3m:1m])) == 1
            unless on (account) sum by (account) (last_over_time(bunnynet_exporter_discovery_found_targets[3m:1m])) == 0
          )`,
          for: '30m',
          keepFiringFor: '5m',
          summary:
            'The key of {{ $labels.account }} finds nothing{{ with $labels.kind }} of kind {{ . }} any more{{ end }}',
          description:
            'The listings{{ with $labels.kind }} of kind {{ . }}{{ end }} that are read with the key of {{ $labels.account }} succeed, but have had nothing in them for [[for]]{{ if $labels.kind }}; in the past day there was something{{ end }}. Either everything was deleted, or the key belongs to another account.',
        },
        BunnynetSameKeyTwice: {
          sort: 'account',
          expr: `max by (account) (${last('account_key_shared')}) == 1`,
          for: '10m',
          keepFiringFor: '5m',
          isOfAccount: true,
          summary: 'The account has the key of another account and is not read',
          description:
            'The key of the account {{ $labels.account }} is that of an account before it in the configuration, so nothing is read as {{ $labels.account }}. Either it is one account with two names, or the wrong key was put in place. The log and the status page of the exporter name the other one.',
        },
        BunnynetRequestRateTooLow: {
          sort: 'process',
          comment: 'What is late because answers are slow is told by BunnynetReadingsStale.',
          expr: `
          max by (job, instance, api) (${last('planned_requests_per_second')})
          / max by (job, instance, api) (${last('allowed_requests_per_second')}) > [[share]]`,
          thresholds: { share: 0.95 },
          for: '30m',
          keepFiringFor: '15m',
          summary: 'The request rate is too low for what is to be read from the {{ $labels.api }} API',
          description:
            'What {{ $labels.instance }} is to read from the {{ $labels.api }} API at its intervals takes {{ $value | humanizePercentage }} of requests_per_second. Polls start late, the later the more targets there are.',
        },
        BunnynetStateNotSaved: {
          sort: 'process',
          expr: `time() - max by (job, instance) (${last('state_write_failing_since_timestamp_seconds')}) > [[seconds]]`,
          thresholds: { seconds: 3600 },
          for: '5m',
          keepFiringFor: '5m',
          summary: 'The counters are not saved',
          description:
            '{{ $labels.instance }} has not been able to write its state for {{ $value | humanizeDuration }}. After a restart counters that began since the last write would begin anew; the others count what came since by the figures of the days.',
        },
        BunnynetReloadFailed: {
          sort: 'process',
          expr: `min by (job, instance) (last_over_time(bunnynet_exporter_config_last_reload_successful[3m:1m])) == 0`,
          for: '5m',
          summary: 'The configuration could not be reloaded',
          description:
            'The last reload of {{ $labels.instance }} failed; it keeps running with the previous configuration.',
        },
        BunnynetSchemaDrift: {
          sort: 'field',
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
