/** The balance of an account and its charges of the month (`/billing`). Payments and cards are not read. Money is US dollars. */
import { defineResource } from '../define.ts';
import { count, flag, gauge, highestOf, shown } from '../families.ts';
import {
  type Answer,
  entriesOf,
  instant,
  integer,
  isObject,
  listOf,
  mapped,
  number,
  object,
  snakeCased,
  text,
  type ValueOf,
} from '../fields.ts';

const chargeWords =
  'Charges of this month so far by service in US dollars: every field that begins with MonthlyCharges (%s); resets each month';

const services = new Set<string>();

/** The charge for a service. Fields that are part of another are left out, so that the sum is right. */
function charge(billing_service: string) {
  services.add(billing_service);
  return gauge('monthly_service_charges_dollars', chargeWords, number, { billing_service });
}

/** Charges for services that are not listed below. */
const otherCharges = shown(entriesOf(number), {
  name: 'monthly_service_charges_dollars',
  words: chargeWords,
  labels: ['billing_service'],
  series: (charges) =>
    charges.flatMap(([billing_service, value]) =>
      value === undefined ? [] : [{ labels: { billing_service }, value }],
    ),
});

const unitWords =
  'Units of each product used this month so far; resets each month (%s: a number, or TotalUnits in the unit of MeasuringUnit)';

/** What was used of a product, and what it costs. */
function used(product: string) {
  return shown(
    object({ Usage: number, TotalUnits: integer, MeasuringUnit: text }),
    {
      name: 'monthly_product_charges_dollars',
      words: 'Charges of this month so far by product in US dollars; resets each month (%s: Usage)',
      fixed: { product },
      series: ({ Usage }) => Usage,
    },
    {
      name: 'monthly_product_units',
      words: unitWords,
      fixed: { product },
      labels: ['unit'],
      series: ({ TotalUnits, MeasuringUnit: unit = '' }) =>
        TotalUnits === undefined ? [] : [{ labels: { unit }, value: TotalUnits }],
    },
  );
}

/** What was used of a product, which the API gives as a number alone. */
function usedUnits(product: string, unit: string) {
  return shown(number, {
    name: 'monthly_product_units',
    words: unitWords,
    fixed: { product },
    labels: ['unit'],
    series: (value) => [{ labels: { unit }, value }],
  });
}

/** The end of a card: its month is `MM/YY`, `MM/YYYY` or `YYYY-MM`, in UTC. The form is not documented. */
const expiration = mapped(text, (written, notes) => {
  const [, month, year] = /^(\d{1,2})\s*\/\s*(\d{2}|\d{4})$/.exec(written.trim()) ?? [];
  const [, isoYear = year, isoMonth = month] = /^(\d{4})-(\d{2})$/.exec(written.trim()) ?? [];
  if (isoYear === undefined || isoMonth === undefined) return instant.read(written, notes);
  const inMonths = Number(isoMonth);
  if (inMonths < 1 || inMonths > 12) return notes.mismatch('a month', written);
  return Date.UTC(Number(isoYear.padStart(4, '20')), inMonths) / 1000;
});

/** The token, the last digits and the e-mail address stay behind. */
const paymentMethod = object({ ExpirationDate: expiration }).ignoring('Token ImageUrl LastFour Email');

const billed = object({
  Balance: gauge('balance_dollars', 'Balance of the account in US dollars'),
  AvailableBalance: gauge('available_balance_dollars', 'Available balance in US dollars'),
  CouponBalance: gauge('coupon_balance_dollars', 'Coupon balance in US dollars'),
  ThisMonthCharges: gauge(
    'monthly_charges_dollars',
    'Charges of this month so far in US dollars; resets each month',
  ),
  MonthlyChargesEUTraffic: charge('traffic_eu'),
  MonthlyChargesUSTraffic: charge('traffic_us'),
  MonthlyChargesASIATraffic: charge('traffic_asia'),
  MonthlyChargesAFTraffic: charge('traffic_africa'),
  MonthlyChargesSATraffic: charge('traffic_south_america'),
  MonthlyChargesStorage: charge('storage'),
  MonthlyChargesDNS: charge('dns'),
  MonthlyChargesOptimizer: charge('optimizer'),
  MonthlyChargesTranscribe: charge('transcribe'),
  MonthlyChargesPremiumEncoding: charge('premium_encoding'),
  MonthlyChargesExtraPullZones: charge('extra_pull_zones'),
  MonthlyChargesExtraStorageZones: charge('extra_storage_zones'),
  MonthlyChargesExtraDnsZones: charge('extra_dns_zones'),
  MonthlyChargesExtraVideoLibraries: charge('extra_video_libraries'),
  MonthlyChargesScripting: charge('scripting'),
  MonthlyChargesDrm: charge('drm'),
  MonthlyChargesMagicContainers: charge('magic_containers'),
  MonthlyChargesShield: charge('shield'),
  MonthlyChargesWebSockets: charge('websockets'),
  MonthlyChargesDB: charge('database'),
  MonthlyChargesLoadBalancer: charge('load_balancer'),
  MonthlyChargesTaxes: charge('taxes'),
  MonthlyChargesLiveEncoding: charge('live_encoding'),
  MonthlyChargesAiGateway: charge('ai_gateway'),
  MonthlyCharges: otherCharges,
  MinimumMonthlyCommit: gauge('minimum_monthly_commit_dollars', 'Minimum charges of a month in US dollars'),
  MonthlyBandwidthUsed: count(
    'monthly_bandwidth_bytes',
    'Bandwidth used this month so far; resets each month',
  ),
  MonthlyMcCpu: used('cpu'),
  MonthlyMcMemory: used('memory'),
  MonthlyMcIp: used('ip'),
  MonthlyMcIngressTraffic: used('ingress_traffic'),
  MonthlyMcEgressTraffic: used('egress_traffic'),
  MonthlyMcVolumes: used('volumes'),
  MonthlyDBReads: used('db_reads'),
  MonthlyDBWrites: used('db_writes'),
  MonthlyDBStorage: used('db_storage'),
  MonthlyDBReplica: used('db_replica'),
  MonthlyAiGatewayInputTokens: used('ai_gateway_input_tokens'),
  MonthlyAiGatewayOutputTokens: used('ai_gateway_output_tokens'),
  MonthlyAiGatewayCachedTokens: used('ai_gateway_cached_tokens'),
  MonthlyTranscriptionMinutes: usedUnits('transcription', 'minutes'),
  MonthlyPremiumEncodingBillableMinutes: usedUnits('premium_encoding', 'minutes'),
  MonthlyDRMLicensesIssued: usedUnits('drm_licenses', 'licenses'),
  MonthlyDnsNormalQueriesServed: usedUnits('dns_normal_queries', 'queries'),
  MonthlyDnsSmartQueriesServed: usedUnits('dns_smart_queries', 'queries'),
  MonthlyScriptingRequests: usedUnits('scripting_requests', 'requests'),
  MonthlyScriptingCpuTime: usedUnits('scripting_cpu', 'milliseconds'),
  BillingEnabled: flag('enabled', 'Whether billing is enabled', '1 or 0'),
  AutomaticRechargeEnabled: flag(
    'automatic_recharge_enabled',
    'Whether the account recharges automatically',
    '1 or 0',
  ),
  AutomaticRechargeTreshold: gauge(
    'automatic_recharge_threshold_dollars',
    'Balance below which the account recharges automatically, in US dollars',
  ),
  AutomaticPaymentAmount: gauge(
    'automatic_recharge_amount_dollars',
    'Amount of an automatic recharge in US dollars',
  ),
  AutomaticPaymentFailureCount: count(
    'automatic_payment_failures',
    'Automatic payments that failed in a row',
  ),
  SavedPaymentMethods: shown(listOf(paymentMethod), {
    name: 'payment_method_expiration_timestamp_seconds',
    words:
      'When the last of the saved payment methods expires, as Unix time (%s: ExpirationDate); the API does not say which one it charges',
    series: (all) => highestOf(all.map((one) => one?.ExpirationDate)),
  }),
}).ignoring(`LastRechargeBalance MonthlyCouponUsage BillingRecords[Id PaymentId Amount Payer Timestamp Type
  InvoiceAvailable DocumentDownloadUrl DetailedDocumentDownloadUrl] BillingHistoryChart{*}
  MonthlyChargesScriptingRequests MonthlyChargesScriptingCpu VATRate NextMonthVATRate
  AutomaticPaymentImageUrl AutomaticPaymentCardType AutomaticPaymentIdentifier MonthlyLiveEncodingSDSeconds MonthlyLiveEncodingHDSeconds
  MonthlyLiveEncoding4KSeconds EUUSDiscount SouthAmericaDiscount AfricaDiscount
  AsiaOceaniaDiscount OptimizerMonthlyPrice DrmBaseMonthlyPrice DrmCostPerLicense`);
type Billed = ValueOf<typeof billed>;

/** Included in `MonthlyChargesScripting`. */
const parts = ['MonthlyChargesScriptingRequests', 'MonthlyChargesScriptingCpu'];

/** Collects all other charges in one field, so that the sum is right when bunny.net adds a service. */
function withOtherCharges(body: unknown): unknown {
  if (!isObject(body)) return body;
  const others = new Map<string, number>();
  for (const [field, value] of Object.entries(body)) {
    const [, name] = /^[Mm]onthlyCharges(.+)$/.exec(field) ?? [];
    const known = `MonthlyCharges${name}`;
    const isOther = name !== undefined && !(known in billed.shape) && !parts.includes(known);
    if (!isOther || typeof value !== 'number') continue;
    const service = services.has(snakeCased(name)) ? `other_${snakeCased(name)}` : snakeCased(name);
    others.set(service, (others.get(service) ?? 0) + value);
  }
  return others.size > 0 ? { ...body, MonthlyCharges: Object.fromEntries(others) } : body;
}

// Our own field, which no body has.
const { MonthlyCharges: _, ...documented } = Object.fromEntries(billed.documented.fields ?? []);

const answer: Answer<Billed> = {
  ...billed,
  documented: { fields: new Map(Object.entries(documented)) },
  from: (body, diagnostics) => billed.from(withOtherCharges(body), diagnostics),
};

export const billing = defineResource({
  kind: 'billing',
  noun: 'account billing',
  ofAccount: true,
  defaultIntervalSeconds: 3600,
  path: '/billing',
  answer,
});
