/** The bill of the account: balances, the charges of the month and payments (`/billing`). */
import { dayMs } from '../days.ts';
import { round, streams } from '../entities.ts';
import { coreApi } from '../forms.ts';
import type { Kind } from '../kind.ts';
import { hash, magnitude, unit } from '../random.ts';
import { monthStart } from './application.ts';

export interface Bill {
  readonly billingSeed: number;
}

/** What is charged a day, in dollars, by the last part of the field's name. */
const charges = {
  EUTraffic: 20,
  USTraffic: 15,
  ASIATraffic: 5,
  AFTraffic: 1,
  SATraffic: 2,
  Storage: 4,
  DNS: 0.5,
  Optimizer: 1,
  Transcribe: 0.4,
  PremiumEncoding: 0.3,
  ExtraPullZones: 0,
  ExtraStorageZones: 0,
  ExtraDnsZones: 0,
  ExtraVideoLibraries: 0,
  Scripting: 2,
  Drm: 3,
  MagicContainers: 30,
  Shield: 6,
  Taxes: 0,
  WebSockets: 0.1,
  DB: 0.7,
  LoadBalancer: 0.2,
  LiveEncoding: 0.3,
  AiGateway: 0.2,
};

const units = [
  ['MonthlyMcCpu', 90_000, 'vCPU-seconds'],
  ['MonthlyMcMemory', 200_000, 'MB-hours'],
  ['MonthlyMcIp', 24, 'hours'],
  ['MonthlyMcIngressTraffic', 12_000, 'MB'],
  ['MonthlyMcEgressTraffic', 50_000, 'MB'],
  ['MonthlyMcVolumes', 1_200, 'GB-hours'],
  ['MonthlyDBWrites', 10_000, 'rows'],
  ['MonthlyDBReads', 1_000_000, 'rows'],
  ['MonthlyDBStorage', 10, 'GB'],
  ['MonthlyDBReplica', 1, 'replicas'],
] as const;

export const billing = {
  kind: 'billing',
  create: (seed) => ({ billingSeed: hash(seed, streams.billing) }),
  ...coreApi,
  path: '/billing',
  traits: { number: 'Balance' },
  answers:
    ({ billingSeed }) =>
    ({ nowMs }) => ({ status: 200, body: bill(billingSeed, nowMs) }),
  section: 'billing',
  targets: () => [{ ids: {} }],
} as const satisfies Kind<unknown, Bill>;

function bill(seed: number, nowMs: number): object {
  const days = (nowMs - monthStart(nowMs)) / dayMs;
  const size = magnitude(0.3, 3, unit(seed, 1));
  const charged = Object.entries(charges).map(([name, perDay], index): [string, number] => [
    `MonthlyCharges${name}`,
    round(perDay * size * days * (0.8 + 0.4 * unit(seed, index, 2)), 6),
  ]);
  const charge = charged.reduce((sum, [, one]) => sum + one, 0);
  const total = round(charge, 6);
  const used = units.map(([name, perDay, MeasuringUnit]): [string, object] => [
    name,
    {
      Usage: round(perDay * size * days * 1e-5, 6),
      TotalUnits: Math.floor(perDay * size * days),
      MeasuringUnit,
    },
  ]);
  const balance = round(5_000 * size - total, 6);
  return {
    Balance: balance,
    ThisMonthCharges: total,
    LastRechargeBalance: 5_000,
    AvailableBalance: balance,
    CouponBalance: 0,
    MonthlyCouponUsage: 0,
    BillingRecords: [
      {
        Id: 1,
        PaymentId: 'PAY-1',
        Amount: 5_000,
        Payer: 'jane@example.com',
        Timestamp: '2026-01-02T03:04:05',
        Type: 2,
        InvoiceAvailable: true,
        DocumentDownloadUrl: 'https://example.com/invoice/1',
        DetailedDocumentDownloadUrl: null,
      },
    ],
    BillingHistoryChart: {},
    ...Object.fromEntries(charged),
    MonthlyChargesScriptingRequests: null,
    MonthlyChargesScriptingCpu: null,
    ...Object.fromEntries(used),
    MonthlyBandwidthUsed: Math.floor(4e12 * size * days),
    MonthlyDnsSmartQueriesServed: Math.floor(1e6 * days),
    MonthlyDnsNormalQueriesServed: Math.floor(9e6 * days),
    MonthlyScriptingRequests: Math.floor(5e6 * days),
    MonthlyScriptingCpuTime: Math.floor(1e7 * days),
    BillingEnabled: true,
    MinimumMonthlyCommit: 1,
    VATRate: 0.22,
    NextMonthVATRate: 0.22,
    AutomaticPaymentImageUrl: null,
    AutomaticPaymentCardType: 'visa',
    AutomaticPaymentIdentifier: 'jane@example.com',
    AutomaticPaymentAmount: 500,
    AutomaticRechargeTreshold: 100,
    AutomaticRechargeEnabled: true,
    AutomaticPaymentFailureCount: 0,
    SavedPaymentMethods: [
      {
        Token: `sim-payment-token-${hash(seed, 9)}`,
        ImageUrl: null,
        ExpirationDate: '12/29',
        LastFour: '4242',
        Email: 'jane@example.com',
      },
    ],
  };
}
