/** The account: its balance, its charges by service, and a forecast for the month. */

import { markAt } from '../annotations.ts';
import { type Dashboard, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { bars, lines, numbers, textOf } from '../panels.ts';
import {
  all,
  anywhere,
  beganNow,
  byAccount,
  entityOf,
  perSecond,
  seriesOf,
  targets,
  topBy,
  values,
} from '../promql.ts';
import { grid } from '../tables.ts';

/** Named after its credential in the configuration. The scope already picks accounts. */
export const account = all(
  entityOf({
    ids: ['account'],
    noun: 'account',
    picks: { account: 'account' },
    dashboard: 'bunnynet-account',
  }),
);

/** A mark in the charts when a script was released. */
const releases = markAt(
  'Script releases',
  'blue',
  seriesOf(account, 'bunnynet_edge_script_usage_last_modified_timestamp_seconds'),
  'script {{script_id}}',
);

/** Shared by all kinds about accounts, and about cost. */
export const accountDashboard: Dashboard = {
  uid: 'bunnynet-account',
  title: 'Account',
  description: 'Balance, cost by service, forecast of the month, and limits.',
  details: ['By account', 'Edge scripts', 'Limits'],
  annotations: [releases],
};

const toCdn = linkTo('bunnynet-cdn', 'Open the pull zones');

const family = (name: string): string => `bunnynet_billing_${name}`;
const field = (name: string): string => values(account, family(name));

/** Seconds until the month ends, in UTC as bunny.net counts. */
const leftOfMonth = '(86400 * (days_in_month() - day_of_month() + 1) - time() % 86400)';

/** From 03:00 on the second day of a month. */
const hasForecast = '24 * day_of_month() + hour() > 50';

const dayCost = 'bunnynet:billing_day_cost_dollars:last';
const remaining = 'bunnynet:billing_remaining_charges_dollars:forecast';
const chargesNow = `max by (account) (last_over_time(${family('monthly_charges_dollars')}[3m:1m]))`;
const chargesDayAgo = `max by (account) (last_over_time(${family('monthly_charges_dollars')}[2h] offset 1d))`;
const balance = `(
              min by (account) (last_over_time(bunnynet_billing_balance_dollars[3m:1m]))
              unless max by (account) (last_over_time(bunnynet_billing_automatic_recharge_enabled[3m:1m])) == 1
            )`;
/** For how many days the balance lasts; 0 where it is used up. */
const daysLeft = `(clamp(${balance} <= [[dollars]], 0, 0) or ${balance} / (${dayCost} > 0))`;

/** A product of an account, such as the memory of Magic Containers. */
const product = { ...account, ids: ['account', 'product'] };
const productInUnit = { ...account, ids: ['account', 'product', 'unit'] };
const productCharges = family('monthly_product_charges_dollars');

/** Every account with a target. */
const accounts = `topk(100, count by (account) (${targets()}))`;

const onOff = textOf({ 0: ['off', 'orange'], 1: ['on', 'green'] });

export const billing: KindMonitoring = {
  kind: 'billing',
  rules: {
    about: `
    The account: balance and recharges.`,
    reading: family('monthly_charges_dollars'),
    records: [
      {
        record: dayCost,
        comment: `
          What a day costs, in US dollars: today's charges less those of a day ago, which may be corrected a little. Charges begin anew with
          the month: until 02:00 on its second day the cost of the day before counts.`,
        expr: `
          clamp_min(${chargesNow} - ${chargesDayAgo}, 0) unless on () ${beganNow}
          or last_over_time(${dayCost}[6h]) and on () ${beganNow}`,
      },
      {
        record: remaining,
        comment: 'For the dashboards: what is still to be charged this month if each day costs as much.',
        expr: `${dayCost} / 86400 * scalar${leftOfMonth} and on () ${hasForecast}`,
      },
    ],
    alerts: {
      BunnynetAccountBalanceRunningOut: {
        comment: `
          An account that recharges automatically does not run out, as long as that works. The critical one inhibits the warning: see
          docs/alerts.md.`,
        expr: `
          label_replace(${daysLeft} < [[urgent]], "severity", "critical", "", "")
          or label_replace(${daysLeft} < [[days]], "severity", "warning", "", "")`,
        thresholds: { days: 7, urgent: 1, dollars: 0 },
        for: '1h',
        keepFiringFor: '1h',
        severity: '{{ or $labels.severity "warning" }}',
        summary: 'The balance of {{ $labels.account }} runs out',
        description:
          'The balance of the account {{ $labels.account }} is used up in less than {{ if eq $labels.severity "critical" }}[[urgent]]d{{ else }}[[days]]d{{ end }} if each costs as much as the past one, and the account does not recharge automatically. Days that it lasts: {{ $value | printf "%.1f" }}.',
      },
      BunnynetAccountPaymentMethodExpiring: {
        comment: 'The last of the saved methods: the API does not say which one it charges.',
        expr: `min by (account) (last_over_time(bunnynet_billing_payment_method_expiration_timestamp_seconds[3m:1m])) - time() < [[days]] * 86400`,
        thresholds: { days: 14 },
        for: '1h',
        summary: 'The payment method of {{ $labels.account }} expires',
        description:
          'The last payment method of the account {{ $labels.account }} expires within [[days]]d, or has expired. Without one automatic recharges fail.',
      },
      BunnynetAccountRechargeFailing: {
        expr: `max by (account) (last_over_time(bunnynet_billing_automatic_payment_failures[3m:1m])) > [[failures]]`,
        thresholds: { failures: 0 },
        for: '10m',
        severity: 'critical',
        summary: 'Automatic recharges of {{ $labels.account }} are failing',
        description:
          'The last automatic payments of the account {{ $labels.account }} have failed: {{ $value }} in a row. When its balance is used up, bunny.net suspends its services.',
      },
    },
  },
  rows: [
    row(overviewDashboard, 'At a glance', [
      numbers('Money', 'currencyUSD', 7, {
        description:
          'In US dollars, all accounts together: the balance, and the charges of this calendar month so far (API fields Balance, ThisMonthCharges).',
        steps: ['red', [0, 'text']],
        queries: {
          balance: `sum(${field('balance_dollars')})`,
          'charged this month': `sum(${field('monthly_charges_dollars')})`,
        },
        link: linkTo(accountDashboard.uid, 'Open the account'),
        alerts: ['BunnynetAccountBalanceRunningOut'],
      }),
    ]),
    row(overviewDashboard, 'Accounts', [
      grid('Accounts', 'short', 24, {
        description:
          "Targets, those whose last poll failed, and for each account what it is charged this calendar month and what its pull zones serve (the exporter's own; API fields Balance, ThisMonthCharges, RequestsServedChart, BandwidthUsedChart).",
        height: 6,
        entity: account,
        rows: accounts,
        columns: [
          { title: 'Targets', expr: `count by (account) (${targets()})` },
          {
            title: 'Failing',
            expr: `(count by (account) (${targets()}) - sum by (account) (${targets()}))`,
            steps: ['green', [1, 'red']],
          },
          { title: 'Charged this month', expr: field('monthly_charges_dollars'), unit: 'currencyUSD' },
          { title: 'Balance', expr: field('balance_dollars'), unit: 'currencyUSD' },
          {
            title: 'Requests',
            expr: byAccount('bunnynet_pull_zone_requests_total', perSecond),
            unit: 'reqps',
          },
          {
            title: 'Traffic',
            expr: byAccount('bunnynet_pull_zone_bandwidth_bytes_total', perSecond),
            unit: 'Bps',
          },
        ],
      }),
    ]),
    row(accountDashboard, 'Balance', [
      numbers('Balance', 'currencyUSD', 12, {
        description:
          'In US dollars, the selected accounts together: the total, the part that is available, and coupons (API fields Balance, AvailableBalance, CouponBalance).',
        queries: {
          balance: `sum(${field('balance_dollars')})`,
          available: `sum(${field('available_balance_dollars')})`,
          coupons: `sum(${field('coupon_balance_dollars')})`,
        },
        link: toCdn,
        alerts: ['BunnynetAccountBalanceRunningOut'],
      }),
      numbers('This month', 'currencyUSD', 6, {
        description:
          'In US dollars, the selected accounts together: charges of this calendar month so far, and the least that a month costs (API fields ThisMonthCharges, MinimumMonthlyCommit).',
        queries: {
          charges: `sum(${field('monthly_charges_dollars')})`,
          minimum: `sum(${field('minimum_monthly_commit_dollars')})`,
        },
        link: toCdn,
      }),
      numbers('Bandwidth this month', 'decbytes', 6, {
        description:
          'The selected accounts together, this calendar month so far; starts again each month (API field MonthlyBandwidthUsed).',
        queries: { bandwidth: `sum(${field('monthly_bandwidth_bytes')})` },
        link: toCdn,
      }),
      lines('Balance over time', 'currencyUSD', 12, {
        description: 'In US dollars (API field Balance, as it is at each poll).',
        queries: { '{{account}}': `topk(20, ${field('balance_dollars')})` },
      }),
      lines('Charges this month and forecast', 'currencyUSD', 12, {
        description:
          'Charges of this calendar month so far, and what they will come to if they go on as in the past day, in US dollars; no forecast on the first day of a month (API field ThisMonthCharges).',
        queries: {
          '{{account}} so far': `topk(15, ${field('monthly_charges_dollars')})`,
          '{{account}} forecast': `topk(15, ${field('monthly_charges_dollars')} + max by (account) (${remaining}))`,
        },
      }),
    ]),
    row(accountDashboard, 'Cost', [
      bars('Cost by service (top 10)', 'currencyUSD', 9, {
        description:
          'Charges of this calendar month so far in US dollars, the selected accounts together; starts again each month (API fields MonthlyCharges… of each service).',
        queries: topBy(
          'billing_service',
          values(account, family('monthly_service_charges_dollars'), ['billing_service']),
        ),
      }),
      grid('Magic Containers and databases', 'short', 15, {
        description:
          'Charges in US dollars and units billed of this calendar month so far, by product (API fields MonthlyMc… and MonthlyDB…: Usage and TotalUnits).',
        height: 8,
        entity: product,
        rows: `topk(100, ${values(product, productCharges)})`,
        labels: { product: 'Product', unit: 'Unit' },
        columns: [
          { title: 'Charges', expr: values(anywhere(product), productCharges), unit: 'currencyUSD' },
          { title: 'Units billed', expr: values(anywhere(productInUnit), family('monthly_product_units')) },
        ],
      }),
    ]),
    row(accountDashboard, 'By account', [
      grid('Cost by account', 'currencyUSD', 24, {
        description:
          'This calendar month so far, in US dollars: all charges of an account, and what its pull zones, applications and edge scripts cost (API fields ThisMonthCharges, MonthlyCharges, monthlyCost, MonthlyCost), and its bandwidth (API field MonthlyBandwidthUsed).',
        height: 6,
        entity: account,
        rows: accounts,
        columns: [
          { title: 'All charges', expr: field('monthly_charges_dollars') },
          { title: 'Pull zones', expr: byAccount('bunnynet_pull_zone_monthly_charges_dollars') },
          { title: 'Applications', expr: byAccount('bunnynet_application_monthly_cost_dollars') },
          { title: 'Edge scripts', expr: byAccount('bunnynet_edge_script_usage_monthly_cost_dollars') },
          { title: 'Bandwidth', expr: field('monthly_bandwidth_bytes'), unit: 'decbytes' },
        ],
      }),
    ]),
    row(accountDashboard, 'Automatic recharge', [
      grid('Accounts', 'short', 24, {
        description:
          'Whether an account is billed and recharges automatically, below which balance and by how much, and the automatic payments that failed in a row; amounts in US dollars (API fields BillingEnabled, AutomaticRechargeEnabled, AutomaticRechargeTreshold, AutomaticPaymentAmount, AutomaticPaymentFailureCount; SavedPaymentMethods, ExpirationDate of the last).',
        height: 5,
        entity: account,
        rows: `topk(100, ${field('up')})`,
        columns: [
          {
            title: 'Failed payments',
            expr: field('automatic_payment_failures'),
            steps: ['text', [1, 'red']],
          },
          { title: 'Billing', expr: field('enabled'), text: onOff },
          { title: 'Automatic recharge', expr: field('automatic_recharge_enabled'), text: onOff },
          {
            title: 'Recharge below',
            expr: field('automatic_recharge_threshold_dollars'),
            unit: 'currencyUSD',
          },
          { title: 'Recharge amount', expr: field('automatic_recharge_amount_dollars'), unit: 'currencyUSD' },
          {
            title: 'Card expires in',
            expr: `${field('payment_method_expiration_timestamp_seconds')} - time()`,
            unit: 's',
            steps: ['red', [1_209_600, 'text']],
          },
        ],
        alerts: ['BunnynetAccountRechargeFailing', 'BunnynetAccountPaymentMethodExpiring'],
      }),
    ]),
  ],
};
