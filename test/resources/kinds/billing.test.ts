import { expect, it } from 'vitest';
import { billing } from '../../../src/resources/kinds/billing.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(billing, answer, { ids: { account: 'main' } });

it('shows the balance and the charges of the month, in total and by service', async () => {
  const { rows, page, asked } = await read({
    Balance: 120.5,
    ThisMonthCharges: 33.25,
    AvailableBalance: 100.5,
    CouponBalance: 20,
    MonthlyChargesEUTraffic: 12.5,
    MonthlyChargesMagicContainers: 20.75,
    MonthlyChargesScripting: 3,
    MonthlyChargesScriptingRequests: 1,
    MonthlyChargesScriptingCpu: 2,
    MonthlyMcCpu: { Usage: 1.5, TotalUnits: 90000, MeasuringUnit: 'vCPU-seconds' },
    MonthlyMcVolumes: { Usage: null, TotalUnits: 12, MeasuringUnit: null },
    MonthlyTranscriptionMinutes: 40,
    MonthlyScriptingCpuTime: 12_000,
    MonthlyBandwidthUsed: 4000000000000,
    BillingEnabled: true,
    MinimumMonthlyCommit: 1,
    AutomaticRechargeEnabled: false,
    AutomaticRechargeTreshold: 50,
    AutomaticPaymentAmount: 200,
    AutomaticPaymentFailureCount: 2,
    AutomaticPaymentIdentifier: 'jane@example.com',
    SavedPaymentMethods: [{ Token: 'a-secret', LastFour: '4242', Email: 'jane@example.com' }],
    BillingRecords: [{ Id: 1, Payer: 'jane@example.com' }],
  });
  expect(asked).toEqual(['/billing']);
  expect(rows).toBe(`\
bunnynet_billing_balance_dollars{account="main"} 120.5
bunnynet_billing_available_balance_dollars{account="main"} 100.5
bunnynet_billing_coupon_balance_dollars{account="main"} 20
bunnynet_billing_monthly_charges_dollars{account="main"} 33.25
bunnynet_billing_monthly_service_charges_dollars{account="main",billing_service="traffic_eu"} 12.5
bunnynet_billing_monthly_service_charges_dollars{account="main",billing_service="scripting"} 3
bunnynet_billing_monthly_service_charges_dollars{account="main",billing_service="magic_containers"} 20.75
bunnynet_billing_minimum_monthly_commit_dollars{account="main"} 1
bunnynet_billing_monthly_bandwidth_bytes{account="main"} 4000000000000
bunnynet_billing_monthly_product_charges_dollars{account="main",product="cpu"} 1.5
bunnynet_billing_monthly_product_units{account="main",product="cpu",unit="vCPU-seconds"} 90000
bunnynet_billing_monthly_product_units{account="main",product="volumes",unit=""} 12
bunnynet_billing_monthly_product_units{account="main",product="transcription",unit="minutes"} 40
bunnynet_billing_monthly_product_units{account="main",product="scripting_cpu",unit="milliseconds"} 12000
bunnynet_billing_enabled{account="main"} 1
bunnynet_billing_automatic_recharge_enabled{account="main"} 0
bunnynet_billing_automatic_recharge_threshold_dollars{account="main"} 50
bunnynet_billing_automatic_recharge_amount_dollars{account="main"} 200
bunnynet_billing_automatic_payment_failures{account="main"} 2
`);
  expect(page).not.toMatch(/secret|jane|4242/);
});

it.each([
  ['12/29', '2030-01-01T00:00:00Z'],
  ['2/2028', '2028-03-01T00:00:00Z'],
  ['2028-02', '2028-03-01T00:00:00Z'],
  ['2029-12-31T00:00:00Z', '2029-12-31T00:00:00Z'],
])('takes %s for the end of a payment method at %s', async (written, end) => {
  const { rows, mismatched } = await read({ SavedPaymentMethods: [{ ExpirationDate: written }] });
  expect(rows).toBe(
    `bunnynet_billing_payment_method_expiration_timestamp_seconds{account="main"} ${Date.parse(end) / 1000}\n`,
  );
  expect(mismatched).toEqual([]);
});

it('shows when the last payment method expires, and notes a date of another form without showing it', async () => {
  const methods = ['01/27', null, '12/27', 'xx/xx', '13/27'].map((ExpirationDate) => ({ ExpirationDate }));
  const { rows, mismatched } = await read({ SavedPaymentMethods: methods });
  expect(rows).toContain(`${Date.UTC(2028, 0) / 1000}\n`);
  expect(mismatched).toEqual(['SavedPaymentMethods', 'SavedPaymentMethods']);
  expect((await read({ SavedPaymentMethods: [] })).rows).toBe('');
  expect((await read({ SavedPaymentMethods: null })).rows).toBe('');
});

it("shows every charge, also of new services, so that their sum is the month's total", async () => {
  const { rows, mismatched } = await read({
    ThisMonthCharges: 21.5,
    MonthlyChargesEUTraffic: 10,
    MonthlyChargesScripting: 3,
    MonthlyChargesScriptingRequests: 1,
    MonthlyChargesScriptingCpu: 2,
    MonthlyChargesLiveEncoding: 4,
    MonthlyChargesAiGateway: 2,
    MonthlyChargesEdgeSQLRows: 1.5,
    MonthlyChargesQuantum: 1,
    MonthlyChargesNextYear: null,
    MonthlyChargesNote: 'none',
  });
  const charges = [
    ...rows.matchAll(/service_charges_dollars\{account="main",billing_service="(\w+)"\} (\S+)/g),
  ];
  expect(Object.fromEntries(charges.map(([, service, value]) => [service, Number(value)]))).toEqual({
    traffic_eu: 10,
    scripting: 3,
    live_encoding: 4,
    ai_gateway: 2,
    edge_sql_rows: 1.5,
    quantum: 1,
  });
  expect(mismatched).toEqual([]);
});

it('includes every charge in the sum, even if two names are alike', async () => {
  const { rows } = await expose(
    billing,
    { MonthlyChargesDB: 2, MonthlyChargesDatabase: 3, MonthlyChargesSSLCerts: 4, MonthlyChargesSslCerts: 5 },
    { ids: { account: 'main' } },
  );
  expect(rows.match(/(?<=service=").*$/gm)).toEqual(['database"} 2', 'other_database"} 3', 'ssl_certs"} 9']);
});
