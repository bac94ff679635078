/** What the vendor asks an account to pay (`/billing/payment-requests`). Invoices and bank references are not read. Money is US dollars. */
import type { Shown } from './families.ts';
import { boolean, id, instant, number, object, readElements, type ValueOf } from './fields.ts';
import { defineResource } from './resource.ts';

const request = object({
  Id: id,
  Amount: number,
  TaxedAmount: number,
  DateDue: instant,
  DatePaid: instant,
  Paid: boolean,
});
type Requests = readonly ValueOf<typeof request>[];

function unpaidOf(requests: Requests): Requests {
  return requests.filter(({ Paid, DatePaid }) => !(Paid ?? DatePaid !== undefined));
}

const families: readonly Shown<Requests>[] = [
  {
    name: 'unpaid',
    words: 'Number of payment requests that have not been paid',
    fields: ['Paid', 'DatePaid'],
    series: (requests) => unpaidOf(requests).length,
  },
  {
    name: 'unpaid_amount',
    words:
      'Sum of the payment requests that have not been paid, in US dollars (%s: the second where the first is missing); nothing where one has neither',
    fields: ['TaxedAmount', 'Amount'],
    series(requests) {
      const unpaid = unpaidOf(requests);
      const amounts = unpaid.flatMap(({ TaxedAmount, Amount }) => TaxedAmount ?? Amount ?? []);
      // A part of the sum would look like the whole.
      return amounts.length === unpaid.length ? amounts.reduce((sum, amount) => sum + amount, 0) : undefined;
    },
  },
  {
    name: 'next_due_timestamp_seconds',
    words: 'When the first unpaid payment request is due, as Unix time; nothing while none is unpaid (%s)',
    fields: ['DateDue'],
    series(requests) {
      const due = unpaidOf(requests).flatMap(({ DateDue }) => DateDue ?? []);
      return due.length > 0 ? Math.min(...due) : undefined;
    },
  },
];

export const paymentRequests = defineResource<Requests>({
  kind: 'payment_requests',
  product: 'Account',
  reference: 'GET /billing/payment-requests',
  noun: 'payment requests of the account',
  ofAccount: true,
  defaultIntervalSeconds: 21_600,
  fields: request.names,
  families,
  read: async (get, _ids, diagnostics) =>
    readElements(request, 'Id', await get('/billing/payment-requests'), diagnostics),
});
