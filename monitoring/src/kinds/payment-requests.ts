/** What an account is asked to pay, and by when. */
import { type Row, row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { anywhere, values } from '../promql.ts';
import { presence, type Rules } from '../rules.ts';
import { grid } from '../tables.ts';
import { account, accountDashboard, rowToAccount } from './billing.ts';

const family = (name: string): string => `bunnynet_payment_requests_${name}`;
const field = (name: string): string => values(anywhere(account), family(name));

const readable = presence('payment_requests', ['account'], family('up'), family('unpaid'));

const rules: Rules = {
  about: 'Payment requests of an account.',
  groups: [
    {
      name: 'bunnynet-payment-requests',
      interval: '2m',
      rules: [
        ...readable.records,
        {
          alert: 'BunnynetPaymentDue',
          expr: `
          min by (account) (last_over_time(bunnynet_payment_requests_next_due_timestamp_seconds[3m])) - time() < [[seconds]]`,
          thresholds: { seconds: 259_200 },
          for: '10m',
          severity: 'warning',
          held: readable,
          summary: 'A payment of {{ $labels.account }} is due',
          description:
            'A payment request of the account {{ $labels.account }} that has not been paid is due in less than three days, or was due already.',
        },
      ],
    },
  ],
};

function panels(): readonly Row[] {
  return [
    row(accountDashboard, 'Payment requests', [
      grid({
        title: 'Payment requests',
        description:
          'What has not been paid, in US dollars, and when the first of it is due (API fields Paid, TaxedAmount, DateDue, as they are at each poll).',
        unit: 'short',
        span: 24,
        height: 5,
        entity: account,
        rows: `topk(100, ${values(account, family('unpaid'))})`,
        name: 'Account',
        link: rowToAccount,
        alerts: ['BunnynetPaymentDue'],
        columns: [
          { title: 'Unpaid', expr: field('unpaid') },
          { title: 'Amount', expr: field('unpaid_amount'), unit: 'currencyUSD' },
          {
            title: 'Due in',
            expr: `${field('next_due_timestamp_seconds')} - time()`,
            unit: 's',
            steps: ['red', [259_200, 'text']],
          },
        ],
        sort: { title: 'Unpaid', descending: true },
      }),
    ]),
  ];
}

export const paymentRequestsMonitoring: KindMonitoring = { kind: 'payment_requests', panels, rules };
