/** The account: its balance, its charges by service, and what the month will come to. */
import { type Dashboard, type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { linkTo } from '../links.ts';
import { overviewDashboard } from '../overview.ts';
import { lines, numbers, textOf } from '../panels.ts';
import { anywhere, type Entity, entityOf, seriesOf, values } from '../promql.ts';
import { rankedBy } from '../rankings.ts';
import { presence, type Rules } from '../rules.ts';
import { grid } from '../tables.ts';

/** An account is called what the configuration calls its credential. */
export const account = entityOf({
  ids: ['account'],
  info: undefined,
  // The scope picks accounts already.
  selection: [],
});

/** For every kind that is read for an account, and for what costs. */
export const accountDashboard: Dashboard = {
  uid: 'bunnynet-account',
  title: 'Account',
  description: 'Balance, cost by service, forecast of the month, and limits.',
  details: ['Edge scripts', 'Limits'],
  accounts: 'bunnynet_billing_up',
  variables: () => [],
};

export const rowToAccount = linkTo(accountDashboard.uid, 'Open the account', {
  account: '${__data.fields.account}',
});
const toAccount = linkTo(accountDashboard.uid, 'Open the account');
const toCdn = linkTo('bunnynet-cdn', 'Open the pull zones');

const field = (name: string): string => values(account, `bunnynet_billing_${name}`);

/** Seconds until the month ends, UTC, in which bunny.net counts. */
const leftOfMonth = '(86400 * (days_in_month() - day_of_month() + 1) - time() % 86400)';

/** Not before 03:00 on the second day of a month: until then there can be a reading of the month before in the past day. */
const hasForecast = '24 * day_of_month() + hour() > 50';

/** What the charges of the month will come to if they go on as in the past day. */
function forecast(charges: string): string {
  return `max by (account) (predict_linear(${charges}[1d], scalar${leftOfMonth})) and on () ${hasForecast}`;
}

const charges = seriesOf(account, 'bunnynet_billing_monthly_charges');
const services = values(account, 'bunnynet_billing_monthly_service_charges', { by: ['service'] });

/** A product of an account, such as the memory of Magic Containers. */
const product: Entity = { ...account, ids: ['account', 'product'] };
/** A product in its unit. */
const productInUnit: Entity = { ...account, ids: ['account', 'product', 'unit'] };
const ofProducts = (entity: Entity, name: string): string =>
  values(entity, `bunnynet_billing_product_monthly_${name}`);

const onOff = textOf({ 0: ['off', 'orange'], 1: ['on', 'green'] });

const readable = presence('billing', ['account'], 'bunnynet_billing_up', 'bunnynet_billing_monthly_charges');

const rules: Rules = {
  about: 'The account: balance and recharges.',
  groups: [
    {
      name: 'bunnynet-billing',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          record: 'bunnynet:billing_remaining_charges:forecast',
          comment: `
          What is still to be charged this month if charges go on as in the past day, in US dollars. Not before 03:00 on the second
          day of a month: until then there can be a reading of the month before in the past day.`,
          expr: `
          clamp_min(
            max by (account) (predict_linear(bunnynet_billing_monthly_charges[1d], scalar${leftOfMonth}))
            - max by (account) (last_over_time(bunnynet_billing_monthly_charges[3m])),
            0
          ) and on () ${hasForecast}`,
        },
        {
          alert: 'BunnynetAccountBalanceRunningOut',
          comment: 'An account that recharges automatically does not run out, as long as that works.',
          expr: `
          (
            max by (account) (last_over_time(bunnynet_billing_balance[3m])) < bunnynet:billing_remaining_charges:forecast
            or max by (account) (last_over_time(bunnynet_billing_balance[3m])) <= [[dollars]]
          ) unless max by (account) (last_over_time(bunnynet_billing_automatic_recharge_enabled[3m])) == 1`,
          thresholds: { dollars: 0 },
          for: '1h',
          keepFiringFor: '1h',
          severity: 'warning',
          held: readable,
          summary: 'The balance of {{ $labels.account }} runs out before the month ends',
          description:
            'The balance of the account {{ $labels.account }} is less than what will be charged until the end of the month if it goes on as in the past day, and the account does not recharge automatically.',
        },
        {
          alert: 'BunnynetAccountRechargeFailing',
          expr: `max by (account) (last_over_time(bunnynet_billing_automatic_payment_failures[3m])) > [[failures]]`,
          thresholds: { failures: 0 },
          for: '10m',
          severity: 'critical',
          held: readable,
          summary: 'Automatic recharges of {{ $labels.account }} are failing',
          description:
            '{{ $value }} automatic payments of the account {{ $labels.account }} have failed in a row. When its balance is used up, bunny.net suspends its services.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  return [
    row(overviewDashboard, 'At a glance', [
      numbers({
        link: toAccount,
        alerts: ['BunnynetAccountBalanceRunningOut'],
        title: 'Money',
        description:
          'In US dollars, all accounts together: the balance, and the charges of this calendar month so far (API fields Balance, ThisMonthCharges).',
        unit: 'currencyUSD',
        span: 7,
        steps: ['red', [0, 'text']],
        queries: [
          { expr: `sum(${values(account, 'bunnynet_billing_balance')})`, legend: 'balance' },
          {
            expr: `sum(${values(account, 'bunnynet_billing_monthly_charges')})`,
            legend: 'charged this month',
          },
        ],
        nothing: 'none',
      }),
    ]),
    row(accountDashboard, 'Balance', [
      numbers({
        link: toCdn,
        alerts: ['BunnynetAccountBalanceRunningOut'],
        title: 'Balance',
        description:
          'In US dollars, the selected accounts together: in all, what of it is available, and coupons (API fields Balance, AvailableBalance, CouponBalance).',
        unit: 'currencyUSD',
        span: 12,
        queries: [
          { expr: `sum(${field('balance')})`, legend: 'balance' },
          { expr: `sum(${field('available_balance')})`, legend: 'available' },
          { expr: `sum(${field('coupon_balance')})`, legend: 'coupons' },
        ],
        nothing: 'none',
      }),
      numbers({
        link: toCdn,
        title: 'Month',
        description:
          'In US dollars, the selected accounts together: charges of this calendar month so far, and the least that a month costs (API fields ThisMonthCharges, MinimumMonthlyCommit).',
        unit: 'currencyUSD',
        span: 6,
        queries: [
          { expr: `sum(${field('monthly_charges')})`, legend: 'charges' },
          { expr: `sum(${field('minimum_monthly_commit')})`, legend: 'at least' },
        ],
        nothing: 'none',
      }),
      numbers({
        link: toCdn,
        title: 'Bandwidth of the month',
        description:
          'The selected accounts together, this calendar month so far; begins anew with each month (API field MonthlyBandwidthUsed).',
        unit: 'decbytes',
        span: 6,
        queries: [{ expr: `sum(${field('monthly_bandwidth_bytes')})`, legend: 'bandwidth' }],
        nothing: 'none',
      }),
      lines({
        title: 'Balance over time',
        description: 'In US dollars (API field Balance, as it is at each poll).',
        unit: 'currencyUSD',
        span: 12,
        queries: [{ expr: `topk(20, ${field('balance')})`, legend: '{{account}}' }],
      }),
      lines({
        title: 'The month: so far, and forecast of its end',
        description:
          'Charges of this calendar month so far, and what they will come to if they go on as in the past day, in US dollars; no forecast on the first day of a month (API field ThisMonthCharges).',
        unit: 'currencyUSD',
        span: 12,
        queries: [
          { expr: `topk(15, ${field('monthly_charges')})`, legend: '{{account}} so far' },
          { expr: `topk(15, ${forecast(charges)})`, legend: '{{account}} forecast' },
        ],
      }),
    ]),
    row(accountDashboard, 'Cost', [
      rankedBy('service', services, {
        title: 'Cost by service: the 10 highest',
        description:
          'Charges of this calendar month so far in US dollars, the selected accounts together; begins anew with each month (API fields MonthlyCharges… of each service).',
        unit: 'currencyUSD',
        span: 10,
      }),
      grid({
        title: 'Magic Containers and databases',
        description:
          'Charges in US dollars and units billed of this calendar month so far, by product (API fields MonthlyMc… and MonthlyDB…: Usage and TotalUnits).',
        unit: 'short',
        span: 14,
        height: 8,
        entity: product,
        rows: `topk(100, ${ofProducts(product, 'charges')})`,
        name: 'Account',
        link: rowToAccount,
        labels: [
          { source: 'product', title: 'Product' },
          { source: 'unit', title: 'Unit' },
        ],
        columns: [
          { title: 'Charges', expr: ofProducts(anywhere(product), 'charges'), unit: 'currencyUSD' },
          { title: 'Units billed', expr: ofProducts(anywhere(productInUnit), 'units') },
        ],
        sort: { title: 'Charges', descending: true },
      }),
    ]),
    row(accountDashboard, 'Recharge', [
      grid({
        title: 'Accounts',
        description:
          'Whether an account is billed and recharges automatically, below which balance, by how much, and the automatic payments that failed in a row; money in US dollars (API fields BillingEnabled, AutomaticRechargeEnabled, AutomaticRechargeTreshold, AutomaticPaymentAmount, AutomaticPaymentFailureCount).',
        unit: 'short',
        span: 24,
        height: 5,
        entity: account,
        rows: `topk(100, ${field('up')})`,
        name: 'Account',
        link: rowToAccount,
        alerts: ['BunnynetAccountRechargeFailing'],
        columns: [
          {
            title: 'Failed payments',
            expr: field('automatic_payment_failures'),
            steps: ['text', [1, 'red']],
          },
          { title: 'Billing', expr: field('enabled'), unit: 'none', mappings: [onOff] },
          {
            title: 'Automatic recharge',
            expr: field('automatic_recharge_enabled'),
            unit: 'none',
            mappings: [onOff],
          },
          {
            title: 'Below',
            expr: field('automatic_recharge_threshold'),
            unit: 'currencyUSD',
          },
          { title: 'By', expr: field('automatic_recharge_amount'), unit: 'currencyUSD' },
        ],
        sort: { title: 'Failed payments', descending: true },
      }),
    ]),
  ];
}

export const billingMonitoring: KindMonitoring = { kind: 'billing', panels, rules };
