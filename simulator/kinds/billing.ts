/** The bill of the account: balances, the charges of the month and payments (`/billing`). */
import { ofAccount } from '../answers.ts';
import { dayMs, monthStartMs } from '../days.ts';
import { hash, magnitude, round, secret, unit } from '../entities.ts';
import { coreApi } from '../forms.ts';
import type { Kind } from '../kind.ts';

interface Bill {
  readonly billingSeed: number;
}

export const billing = {
  kind: 'billing',
  section: 'billing',
  create: (seed): Bill => ({ billingSeed: hash(seed, 10) }),
  ...coreApi,
  path: '/billing',
  traits: { number: 'Balance' },
  ...ofAccount(({ billingSeed }: Bill, { nowMs }) => bill(billingSeed, nowMs)),
} as const satisfies Kind;

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

/** What is used a day of what is billed by units. */
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
  ['MonthlyAiGatewayInputTokens', 40_000, 'tokens'],
  ['MonthlyAiGatewayOutputTokens', 9_000, 'tokens'],
  ['MonthlyAiGatewayCachedTokens', 0, 'tokens'],
] as const;

function bill(seed: number, nowMs: number): object {
  const days = (nowMs - monthStartMs(nowMs)) / dayMs;
  const size = magnitude(0.3, 3, unit(seed, 1));
  const charged = Object.entries(charges).map(
    ([name, perDay], index) =>
      [`MonthlyCharges${name}`, round(perDay * size * days * (0.8 + 0.4 * unit(seed, index, 2)), 6)] as const,
  );
  const used = units.map(([name, perDay, MeasuringUnit]) => {
    const amount = perDay * size * days;
    return { [name]: { Usage: round(amount * 1e-5, 6), TotalUnits: Math.floor(amount), MeasuringUnit } };
  });
  const ThisMonthCharges = round(
    charged.reduce((sum, [, charge]) => sum + charge, 0),
    6,
  );
  const Balance = round(5_000 * size - ThisMonthCharges, 6);
  return {
    Balance,
    ThisMonthCharges,
    LastRechargeBalance: 5_000,
    AvailableBalance: Balance,
    CouponBalance: 0,
    BillingRecords: [{ Payer: 'jane@example.com', DocumentDownloadUrl: 'https://example.com/invoice/1' }],
    ...Object.fromEntries(charged),
    MonthlyChargesScriptingRequests: null,
    ...(Object.assign({}, ...used) as object),
    MonthlyBandwidthUsed: Math.floor(4e12 * size * days),
    MonthlyDnsNormalQueriesServed: Math.floor(9e6 * days),
    MonthlyTranscriptionMinutes: Math.floor(40 * days),
    MonthlyScriptingRequests: Math.floor(2e6 * days),
    MonthlyScriptingCpuTime: Math.floor(3e6 * days),
    BillingEnabled: true,
    MinimumMonthlyCommit: 1,
    VATRate: 0.22,
    AutomaticPaymentIdentifier: 'jane@example.com',
    AutomaticPaymentAmount: 500,
    AutomaticRechargeTreshold: 100,
    AutomaticRechargeEnabled: true,
    AutomaticPaymentFailureCount: 0,
    SavedPaymentMethods: [
      {
        Token: secret('payment-token', hash(seed, 9)),
        ImageUrl: null,
        ExpirationDate: '12/29',
        LastFour: secret('last-four', hash(seed, 11)),
        Email: 'jane@example.com',
      },
    ],
  };
}
