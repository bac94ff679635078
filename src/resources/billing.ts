/** The balance of an account and its charges of the month (`/billing`). Payments and cards are not read. Money is US dollars. */
import { boolean, flag, integer, number, object, readFields, text, type ValueOf } from './fields.ts';
import { defineResource, familiesOf, type Sample } from './resource.ts';

/** What is charged for, by the field that has the charge. Fields that are a part of another are left out: the sum is right. */
const services = [
  ['traffic_eu', 'MonthlyChargesEUTraffic'],
  ['traffic_us', 'MonthlyChargesUSTraffic'],
  ['traffic_asia', 'MonthlyChargesASIATraffic'],
  ['traffic_africa', 'MonthlyChargesAFTraffic'],
  ['traffic_south_america', 'MonthlyChargesSATraffic'],
  ['storage', 'MonthlyChargesStorage'],
  ['dns', 'MonthlyChargesDNS'],
  ['optimizer', 'MonthlyChargesOptimizer'],
  ['transcribe', 'MonthlyChargesTranscribe'],
  ['premium_encoding', 'MonthlyChargesPremiumEncoding'],
  ['extra_pull_zones', 'MonthlyChargesExtraPullZones'],
  ['extra_storage_zones', 'MonthlyChargesExtraStorageZones'],
  ['extra_dns_zones', 'MonthlyChargesExtraDnsZones'],
  ['extra_video_libraries', 'MonthlyChargesExtraVideoLibraries'],
  ['scripting', 'MonthlyChargesScripting'],
  ['drm', 'MonthlyChargesDrm'],
  ['magic_containers', 'MonthlyChargesMagicContainers'],
  ['shield', 'MonthlyChargesShield'],
  ['websockets', 'MonthlyChargesWebSockets'],
  ['database', 'MonthlyChargesDB'],
  ['load_balancer', 'MonthlyChargesLoadBalancer'],
  ['taxes', 'MonthlyChargesTaxes'],
] as const;

const resourcesOfContainers = [
  ['cpu', 'MonthlyMcCpu'],
  ['memory', 'MonthlyMcMemory'],
  ['ip', 'MonthlyMcIp'],
  ['ingress_traffic', 'MonthlyMcIngressTraffic'],
  ['egress_traffic', 'MonthlyMcEgressTraffic'],
  ['volumes', 'MonthlyMcVolumes'],
] as const;

const units = object({ Usage: number, TotalUnits: integer, MeasuringUnit: text });

function shapeOf<Field extends string, Schema>(
  fields: readonly (readonly [string, Field])[],
  schema: Schema,
) {
  return Object.fromEntries(fields.map(([, field]) => [field, schema])) as Record<Field, Schema>;
}

const billed = object({
  Balance: number,
  AvailableBalance: number,
  CouponBalance: number,
  ThisMonthCharges: number,
  ...shapeOf(services, number),
  ...shapeOf(resourcesOfContainers, units),
  MonthlyBandwidthUsed: integer,
  MinimumMonthlyCommit: number,
  BillingEnabled: boolean,
  AutomaticRechargeEnabled: boolean,
  AutomaticRechargeTreshold: number,
  AutomaticPaymentAmount: number,
  AutomaticPaymentFailureCount: integer,
});

export type BillingReading = ValueOf<typeof billed>;

const { gauge } = familiesOf<BillingReading>('bunnynet_billing');

/** One series for each resource of Magic Containers that has the figure. */
function ofContainers(name: string, help: string, figure: 'Usage' | 'TotalUnits') {
  const fields = resourcesOfContainers.map(([, field]) => field).join(', ');
  return gauge(
    `magic_containers_${name}`,
    `${help} (API fields ${fields}).`,
    (reading) =>
      resourcesOfContainers.flatMap(([resource, field]): Sample[] => {
        const value = reading[field]?.[figure];
        const unit = reading[field]?.MeasuringUnit ?? '';
        return typeof value === 'number' ? [{ labels: { resource, unit }, value }] : [];
      }),
    ['resource', 'unit'],
  );
}

export const billing = defineResource({
  kind: 'billing',
  api: 'core',
  reference: 'GET /billing',
  noun: "account's billing",
  section: 'billing',
  ids: [{ label: 'account', setting: 'account', form: 'opaque' }],
  defaultIntervalSeconds: 3600,
  fields: billed.names,
  ofAccount: true,

  async read(get, _ids, diagnostics): Promise<BillingReading> {
    return readFields(billed, await get('/billing'), diagnostics);
  },

  families: [
    gauge(
      'balance',
      'Balance of the account in US dollars (API field Balance).',
      ({ Balance }) => Balance ?? undefined,
    ),
    gauge(
      'available_balance',
      'Balance that is available, in US dollars (API field AvailableBalance).',
      ({ AvailableBalance }) => AvailableBalance ?? undefined,
    ),
    gauge(
      'coupon_balance',
      'Balance of coupons in US dollars (API field CouponBalance).',
      ({ CouponBalance }) => CouponBalance ?? undefined,
    ),
    gauge(
      'monthly_charges',
      'Charges of this month so far in US dollars; begins anew with each month (API field ThisMonthCharges).',
      ({ ThisMonthCharges }) => ThisMonthCharges ?? undefined,
    ),
    gauge(
      'monthly_service_charges',
      `Charges of this month so far by service in US dollars; begins anew with each month (API fields ${services.map(([, field]) => field).join(', ')}).`,
      (reading) =>
        services.flatMap(([service, field]): Sample[] => {
          const value = reading[field];
          return typeof value === 'number' ? [{ labels: { service }, value }] : [];
        }),
      ['service'],
    ),
    gauge(
      'minimum_monthly_commit',
      'Charges that each month has at least, in US dollars (API field MinimumMonthlyCommit).',
      ({ MinimumMonthlyCommit }) => MinimumMonthlyCommit ?? undefined,
    ),
    gauge(
      'monthly_bandwidth_bytes',
      'Bandwidth used this month so far; begins anew with each month (API field MonthlyBandwidthUsed).',
      ({ MonthlyBandwidthUsed }) => MonthlyBandwidthUsed ?? undefined,
    ),
    ofContainers('monthly_units', 'Units of Magic Containers billed this month so far', 'TotalUnits'),
    ofContainers('monthly_usage', 'Usage of Magic Containers this month so far', 'Usage'),
    gauge('enabled', 'Whether billing is enabled: 1 or 0 (API field BillingEnabled).', ({ BillingEnabled }) =>
      flag(BillingEnabled),
    ),
    gauge(
      'automatic_recharge_enabled',
      'Whether the account recharges automatically: 1 or 0 (API field AutomaticRechargeEnabled).',
      ({ AutomaticRechargeEnabled }) => flag(AutomaticRechargeEnabled),
    ),
    gauge(
      'automatic_recharge_threshold',
      'Balance below which the account recharges automatically, in US dollars (API field AutomaticRechargeTreshold).',
      ({ AutomaticRechargeTreshold }) => AutomaticRechargeTreshold ?? undefined,
    ),
    gauge(
      'automatic_recharge_amount',
      'Amount of an automatic recharge in US dollars (API field AutomaticPaymentAmount).',
      ({ AutomaticPaymentAmount }) => AutomaticPaymentAmount ?? undefined,
    ),
    gauge(
      'automatic_payment_failures',
      'Automatic payments that failed in a row (API field AutomaticPaymentFailureCount).',
      ({ AutomaticPaymentFailureCount }) => AutomaticPaymentFailureCount ?? undefined,
    ),
  ],
});
