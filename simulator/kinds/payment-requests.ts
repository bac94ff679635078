/** What the account is asked to pay: the last request is due early in the next month (`/billing/payment-requests`). */
import { ofAccount } from '../answers.ts';
import { dayMs, monthStartMs, secondOf } from '../days.ts';
import { coreApi } from '../forms.ts';
import type { Kind } from '../kind.ts';

export const paymentRequests = {
  kind: 'payment_requests',
  section: 'payment_requests',
  ...coreApi,
  path: '/billing/payment-requests',
  traits: { isStill: true, ids: ['Id'], number: 'Amount', instants: true },
  ...ofAccount((_dataset: unknown, { nowMs }) => [0, 1, 2].map((back) => request(back, nowMs))),
} as const satisfies Kind;

/** back: how many months ago it was issued. */
function request(back: number, nowMs: number): object {
  const at = (days: number) => secondOf(monthStartMs(nowMs) + (days - 30 * back) * dayMs);
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
    BillingInvoiceDownloadLink: 'https://example.com/invoice/9100',
    BankTransferReference: 'SI00 9100',
  };
}
