/** The balance of an account and its charges of the month (`/billing`). Payments and cards are not read. Money is US dollars. */
import { count, gauge, shown } from './families.ts';
import { boolean, integer, number, object, readFields, text } from './fields.ts';
import { defineResource } from './resource.ts';

/** The charge for a service. A field that is a part of another has none: the sum is right. */
function charge(service: string) {
  const words = 'Charges of this month so far by service in US dollars; begins anew with each month';
  return gauge('monthly_service_charges', number, words, { service });
}

const used = object({ Usage: number, TotalUnits: integer, MeasuringUnit: text });

/** What was used of Magic Containers. */
function containers(resource: string) {
  const family = { of: { resource }, labels: ['unit'] };
  const sample = (value: number | undefined, unit = '') =>
    value === undefined ? [] : [{ labels: { unit }, value }];
  return shown(
    used,
    {
      ...family,
      name: 'magic_containers_monthly_units',
      words: 'Units of Magic Containers billed this month so far',
      series: ({ TotalUnits, MeasuringUnit }) => sample(TotalUnits, MeasuringUnit),
    },
    {
      ...family,
      name: 'magic_containers_monthly_usage',
      words: 'Usage of Magic Containers this month so far',
      series: ({ Usage, MeasuringUnit }) => sample(Usage, MeasuringUnit),
    },
  );
}

const billed = object({
  Balance: gauge('balance', number, 'Balance of the account in US dollars'),
  AvailableBalance: gauge('available_balance', number, 'Balance that is available, in US dollars'),
  CouponBalance: gauge('coupon_balance', number, 'Balance of coupons in US dollars'),
  ThisMonthCharges: gauge(
    'monthly_charges',
    number,
    'Charges of this month so far in US dollars; begins anew with each month',
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
  MinimumMonthlyCommit: gauge(
    'minimum_monthly_commit',
    number,
    'Charges that each month has at least, in US dollars',
  ),
  MonthlyBandwidthUsed: count(
    'monthly_bandwidth_bytes',
    'Bandwidth used this month so far; begins anew with each month',
  ),
  MonthlyMcCpu: containers('cpu'),
  MonthlyMcMemory: containers('memory'),
  MonthlyMcIp: containers('ip'),
  MonthlyMcIngressTraffic: containers('ingress_traffic'),
  MonthlyMcEgressTraffic: containers('egress_traffic'),
  MonthlyMcVolumes: containers('volumes'),
  BillingEnabled: gauge('enabled', boolean, 'Whether billing is enabled: 1 or 0'),
  AutomaticRechargeEnabled: gauge(
    'automatic_recharge_enabled',
    boolean,
    'Whether the account recharges automatically: 1 or 0',
  ),
  AutomaticRechargeTreshold: gauge(
    'automatic_recharge_threshold',
    number,
    'Balance below which the account recharges automatically, in US dollars',
  ),
  AutomaticPaymentAmount: gauge(
    'automatic_recharge_amount',
    number,
    'Amount of an automatic recharge in US dollars',
  ),
  AutomaticPaymentFailureCount: count(
    'automatic_payment_failures',
    'Automatic payments that failed in a row',
  ),
});

export const billing = defineResource({
  kind: 'billing',
  reference: 'GET /billing',
  noun: "account's billing",
  ofAccount: true,
  defaultIntervalSeconds: 3600,
  answer: billed,
  read: async (get, _ids, diagnostics) => readFields(billed, await get('/billing'), diagnostics),
});
