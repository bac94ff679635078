/** What an account has to pay, and by when. */
import { row } from '../dashboard.ts';
import type { KindMonitoring } from '../kind.ts';
import { anywhere, values } from '../promql.ts';
import { grid } from '../tables.ts';
import { account, accountDashboard } from './billing.ts';

const family = (name: string): string => `bunnynet_payment_requests_${name}`;
const field = (name: string): string => values(anywhere(account), family(name));

export const paymentRequests: KindMonitoring = {
  kind: 'payment_requests',
  rules: {
    about: 'Payment requests of an account.',
    reading: family('unpaid'),
    alerts: {
      BunnynetPaymentDue: {
        expr: `
          min by (account) (last_over_time(bunnynet_payment_requests_next_due_timestamp_seconds[3m:1m])) - time() < [[days]] * 86400`,
        thresholds: { days: 3 },
        for: '10m',
        summary: 'A payment of {{ $labels.account }} is due',
        description:
          'A payment request of the account {{ $labels.account }} that has not been paid is due within [[days]]d, or was due already.',
      },
    },
  },
  rows: [
    row(accountDashboard, 'Payment requests', [
      grid('Payment requests', 'short', 24, {
        description:
          'What has not been paid, in US dollars, and when the first of it is due (API fields Paid, TaxedAmount, DateDue, as they are at each poll).',
        height: 5,
        entity: account,
        rows: `topk(100, ${values(account, family('unpaid'))})`,
        columns: [
          { title: 'Unpaid', expr: field('unpaid') },
          { title: 'Amount', expr: field('unpaid_amount_dollars'), unit: 'currencyUSD' },
          {
            title: 'Due in',
            expr: `${field('next_due_timestamp_seconds')} - time()`,
            unit: 's',
            steps: ['red', [259_200, 'text']],
          },
        ],
        alerts: ['BunnynetPaymentDue'],
      }),
    ]),
  ],
};
