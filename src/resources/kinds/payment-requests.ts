/** What the vendor asks an account to pay (`/billing/payment-requests`). Invoices and bank references are not read. Money is US dollars. */
import { defineResource } from '../define.ts';
import { lowestOf, sumOf } from '../families.ts';
import { boolean, elements, id, instant, number, object, type ValueOf } from '../fields.ts';

const request = object({
  Id: id,
  Amount: number,
  TaxedAmount: number,
  DateDue: instant,
  DatePaid: instant,
  Paid: boolean,
}).ignoring(
  'TaxRate DateGenerated Description BillingInvoiceDownloadLink BankTransferReference BillingInvoiceId',
);

function isUnpaid({ Paid, DatePaid }: ValueOf<typeof request>): boolean {
  return !(Paid ?? DatePaid !== undefined);
}

export const paymentRequests = defineResource({
  kind: 'payment_requests',
  noun: 'payment requests',
  ofAccount: true,
  defaultIntervalSeconds: 21_600,
  path: '/billing/payment-requests',
  // One without an id is to be paid all the same.
  answer: elements(request, { identifiers: [] }),
  families: () => [
    {
      name: 'unpaid',
      words: 'Number of unpaid payment requests',
      fields: ['Paid', 'DatePaid'],
      series: (requests) => requests.filter(isUnpaid).length,
    },
    {
      name: 'unpaid_amount_dollars',
      words:
        'Sum of the unpaid payment requests in US dollars (%s: the second where the first is missing); no series while one has neither',
      fields: ['TaxedAmount', 'Amount'],
      series: (requests) =>
        sumOf(requests.filter(isUnpaid).map(({ TaxedAmount, Amount }) => TaxedAmount ?? Amount)),
    },
    {
      name: 'next_due_timestamp_seconds',
      words:
        'Due date of the earliest unpaid payment request, as Unix time; no series while none is unpaid (%s)',
      fields: ['DateDue'],
      series: (requests) => lowestOf(requests.filter(isUnpaid).map(({ DateDue }) => DateDue)),
    },
  ],
});
