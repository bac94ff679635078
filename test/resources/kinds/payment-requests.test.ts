import { expect, it } from 'vitest';
import { paymentRequests } from '../../../src/resources/kinds/payment-requests.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(paymentRequests, answer, { ids: { account: 'main' } });
const rowsOf = (rows: string) =>
  rows.replaceAll('bunnynet_payment_requests_', '').replaceAll('account="main"', 'of');

const secret = {
  Description: 'a-secret',
  BankTransferReference: 'a-secret',
  BillingInvoiceDownloadLink: 'a-secret',
};

it('adds up unpaid requests, and shows when the first is due', async () => {
  const { rows, asked, page } = await read([
    { Id: 1, Amount: 100, TaxedAmount: 122, DateDue: '2026-09-20T00:00:00', Paid: false, ...secret },
    { Id: 2, Amount: 10, TaxedAmount: null, DateDue: '2026-09-10T00:00:00', Paid: false, ...secret },
    {
      Id: 3,
      Amount: 50,
      TaxedAmount: 61,
      DateDue: '2026-08-10T00:00:00',
      DatePaid: '2026-08-01T00:00:00',
      Paid: true,
    },
    { Id: 4, Amount: 7, DateDue: '2026-07-10T00:00:00', DatePaid: '2026-07-01T00:00:00' },
  ]);
  expect(asked).toEqual(['/billing/payment-requests']);
  expect(rowsOf(rows)).toBe(`\
unpaid{of} 2
unpaid_amount_dollars{of} 132
next_due_timestamp_seconds{of} 1788998400
`);
  expect(page).not.toContain('a-secret');
});

it('has no sum if the amount of a request is missing', async () => {
  const due = { DateDue: '2026-09-20T00:00:00', Paid: false };
  const { rows } = await read([
    { Id: 1, Amount: 100, ...due },
    { Id: 2, Amount: null, ...due },
  ]);
  expect(rowsOf(rows)).toBe('unpaid{of} 2\nnext_due_timestamp_seconds{of} 1789862400\n');
});

it('shows 0 if there are no requests', async () => {
  expect(rowsOf((await read([])).rows)).toBe('unpaid{of} 0\nunpaid_amount_dollars{of} 0\n');
  await expect(read({ Message: 'no' })).rejects.toMatchObject({ result: 'schema' });
});
