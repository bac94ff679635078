/** What every protection of a Shield Zone has done over the past 28 days (`/shield/metrics/overview/{zone}`). */
import { familiesByDay, familiesOf28Days, newestDayOfMap } from './daily.ts';
import { mapOfDays } from './days.ts';
import { count, familiesOf, type Shown, shown } from './families.ts';
import { type ObjectType, object, readFields, unwrapData, type ValueOf } from './fields.ts';
import { defineResource } from './resource.ts';
import { withoutProtections, zones } from './shield-zone.ts';

function event(category: string) {
  const words = 'What each protection counts as its own: rules triggered, breaches, blocks';
  return count('events', words, { category });
}

function request(category: string, action: string) {
  return count('requests', 'Requests by the protection that acted on them and by its action', {
    category,
    action,
  });
}

function failed(check: string) {
  return count('failed_requests', 'Requests that failed a check of API Guardian', { check });
}

const overview = object({
  wafTriggeredRules: event('waf'),
  dDoSMitigated: event('ddos'),
  ratelimitBreaches: event('rate_limit'),
  botDetectionChallenged: event('bot_detection'),
  accessListActions: event('access_list'),
  uploadScanningBlocks: event('upload_scanning'),
  apiGuardianBlocks: event('api_guardian'),
});
const waf = object({
  blockedRequests: request('waf', 'blocked'),
  loggedRequests: request('waf', 'logged'),
  challengedRequests: request('waf', 'challenged'),
});
const dDoS = object({
  blockedRequests: request('ddos', 'blocked'),
  loggedRequests: request('ddos', 'logged'),
  challengedRequests: request('ddos', 'challenged'),
  verifiedRequests: request('ddos', 'verified'),
});
const ratelimit = object({
  blockedBreaches: request('rate_limit', 'blocked'),
  loggedBreaches: request('rate_limit', 'logged'),
  challengedBreaches: request('rate_limit', 'challenged'),
});
const botDetection = object({
  loggedRequests: request('bot_detection', 'logged'),
  challengedRequests: request('bot_detection', 'challenged'),
});
const accessList = object({
  blockedRequests: request('access_list', 'blocked'),
  loggedRequests: request('access_list', 'logged'),
  challengedRequests: request('access_list', 'challenged'),
});
const uploadScanning = object({
  blockedRequests: request('upload_scanning', 'blocked'),
  loggedRequests: request('upload_scanning', 'logged'),
  filesScanned: count('scanned_files', 'Uploaded files that were scanned'),
});
const apiGuardian = object({
  blockedRequests: request('api_guardian', 'blocked'),
  loggedRequests: request('api_guardian', 'logged'),
  rateLimited: request('api_guardian', 'rate_limited'),
  requestsInspected: count('inspected_requests', 'Requests that API Guardian inspected'),
  failedRequestValidation: failed('validation'),
  failedAuthenticationEnforcement: failed('authentication'),
});

function rolling<Figures>(figures: ObjectType<Figures>) {
  return shown(figures, ...familiesOf28Days(figures).map((family) => ({ ...family, fields: undefined })));
}

/** The newest day is the newest that any protection has: that of one alone can lie back. */
function byDay<Figures>(figures: ObjectType<Figures>) {
  const families = familiesByDay(figures, 'the zone').flatMap(({ newest, total }) => {
    const counter = { ...total, fields: undefined };
    return [{ ...counter, name: newest.name, words: newest.words }, counter];
  });
  return shown(mapOfDays(figures), ...families);
}

/** The WAF alone has no field with its days. */
const protections = {
  overview: rolling(overview),
  overviewPastTwentyEightDays: byDay(overview),
  waf: rolling(waf),
  dDoS: rolling(dDoS),
  dDoSOverviewPastTwentyEightDays: byDay(dDoS),
  ratelimit: rolling(ratelimit),
  ratelimitOverviewPastTwentyEightDays: byDay(ratelimit),
  botDetection: rolling(botDetection),
  botDetectionOverviewPastTwentyEightDays: byDay(botDetection),
  accessList: rolling(accessList),
  accessListOverviewPastTwentyEightDays: byDay(accessList),
  uploadScanning: rolling(uploadScanning),
  uploadScanningOverviewPastTwentyEightDays: byDay(uploadScanning),
  apiGuardian: rolling(apiGuardian),
  apiGuardianOverviewPastTwentyEightDays: byDay(apiGuardian),
};

const month = {
  totalBillableRequests: count(
    'monthly_billable_requests',
    'Requests of this calendar month that are billed; falls back at its end',
  ),
  totalCleanRequestsLimit: count(
    'clean_requests_limit',
    'Clean requests that the plan of the zone includes in a month',
  ),
};

const metrics = object({ ...protections, ...month });
type ShieldOverviewReading = ValueOf<typeof metrics>;

/** What is told of a figure stands together. The HELP says fields also where it is one. */
function familiesNamed(figure: string): readonly Shown<ShieldOverviewReading>[] {
  return familiesOf(object(protections))
    .filter(({ name }) => name.startsWith(`${figure}_`))
    .map((family) => ({ ...family, words: `${family.words} (API fields ${family.fields?.join(', ')})` }));
}

export const shieldOverview = defineResource<ShieldOverviewReading>({
  kind: 'shield_overview',
  product: 'Shield',
  reference: 'GET /shield/metrics/overview/{shieldZoneId}',
  noun: 'protections of the Shield Zone',
  defaultIntervalSeconds: 300,
  listing: zones,
  fields: metrics.names,
  families: [
    ...['events', 'requests', 'scanned_files', 'inspected_requests', 'failed_requests'].flatMap(
      familiesNamed,
    ),
    ...familiesOf(object(month)),
    {
      ...newestDayOfMap,
      fields: ['overviewPastTwentyEightDays'],
      series: ({ overviewPastTwentyEightDays: days }, target) => days && newestDayOfMap.series(days, target),
    },
  ],

  async read(get, { shield_zone_id }, diagnostics) {
    const body = await get(`/shield/metrics/overview/${shield_zone_id}`);
    return readFields(metrics, unwrapData(body), diagnostics);
  },
  empty: withoutProtections,
});
