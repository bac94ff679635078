/** What the account is asked to pay: the last request is due early in the next month (`/billing/payment-requests`). */
import { dayMs } from '../days.ts';
import { coreApi } from '../forms.ts';
import { type Kind, ok } from '../kind.ts';
import { monthStart } from './application.ts';

export const paymentRequests = {
  kind: 'payment_requests',
  ...coreApi,
  path: '/billing/payment-requests',
  traits: {
    isStill: true,
    list: true,
    ids: ['Id'],
    instants: ['DateGenerated', 'DateDue'],
    number: 'Amount',
  },
  answers:
    () =>
    ({ nowMs }) =>
      ok([0, 1, 2].map((back) => request(back, nowMs))),
  section: 'payment_requests',
  targets: () => [{ ids: {} }],
} as const satisfies Kind<unknown, object>;

/** back: how many months ago it was written. */
function request(back: number, nowMs: number): object {
  const written = monthStart(nowMs) - back * 30 * dayMs;
  const at = (days: number) => new Date(written + days * dayMs).toISOString().slice(0, 19);
  return {
    Id: 9100 + back,
    Amount: 120.5,
    TaxRate: 0.22,
    TaxedAmount: 147.01,
    DateGenerated: at(0),
    DateDue: at(40),
    DatePaid: back > 0 ? at(3) : null,
    Paid: back > 0,
    Description: 'Services of last month',
    BillingInvoiceId: back > 0 ? 7100 + back : null,
    BillingInvoiceDownloadLink: 'https://example.com/invoice/9100',
    BankTransferReference: 'SI00 9100',
  };
}
