/** What every protection of a Shield Zone has done over the past 28 days (`/shield/metrics/overview/{zone}`). */
import { familiesByDay, familiesOf28Days, mapOfDays, newestDay, withoutCounts } from '../charts.ts';
import { defineResource } from '../define.ts';
import { enveloped } from '../envelope.ts';
import { count, type FamilyOf, shown } from '../families.ts';
import { type ObjectType, object } from '../fields.ts';
import { zones } from './shield-zone.ts';

function event(protection: string) {
  const words = 'Events by protection: rules triggered, breaches, challenges, blocks';
  return count('events', words, { protection });
}

function request(protection: string, action: string) {
  const words = 'Requests by protection and action';
  return count('requests', words, { protection, action });
}

/** A field for each action: `blockedRequests` for `blocked`. */
function requests(protection: string, actions: readonly string[], ending = 'Requests') {
  return Object.fromEntries(actions.map((action) => [`${action}${ending}`, request(protection, action)]));
}

function failed(check: string) {
  return count('failed_requests', 'Requests that failed a check of API Guardian', { check });
}

const overview = object({
  wafTriggeredRules: event('waf'),
  dDoSMitigated: event('ddos'),
  ratelimitBreaches: event('rate_limit'),
  botDetectionChallenged: event('bot_detection'),
  accessListActions: event('access_lists'),
  uploadScanningBlocks: event('upload_scanning'),
  apiGuardianBlocks: event('api_guardian'),
});
const usual = ['blocked', 'logged', 'challenged'];
const waf = object(requests('waf', usual)).ignoring('totalTriggeredRules');
const dDoS = object(requests('ddos', [...usual, 'verified']));
const ratelimit = object(requests('rate_limit', usual, 'Breaches')).ignoring('totalBreaches');
const botDetection = object(requests('bot_detection', ['logged', 'challenged']));
const accessList = object(requests('access_lists', usual)).ignoring('totalActions');
const uploadScanning = object({
  ...requests('upload_scanning', ['blocked', 'logged']),
  filesScanned: count('scanned_files', 'Uploaded files that were scanned'),
});
const apiGuardian = object({
  ...requests('api_guardian', ['blocked', 'logged']),
  rateLimited: request('api_guardian', 'rate_limited'),
  requestsInspected: count('inspected_requests', 'Requests that API Guardian inspected'),
  failedRequestValidation: failed('validation'),
  failedAuthenticationEnforcement: failed('authentication'),
});

/** For families of several protections: the HELP names the protections' fields, not those inside them. */
function ofProtection<Value>(family: FamilyOf<Value>): FamilyOf<Value> {
  return { ...family, fields: undefined };
}

function rolling<Figures>(figures: ObjectType<Figures>) {
  return shown(figures, ...familiesOf28Days(figures).map(ofProtection));
}

/** The newest day is the newest that any protection has: a single protection can be behind. */
function byDay<Figures>(figures: ObjectType<Figures>) {
  const families = familiesByDay(figures, 'the zone').flatMap(({ newest, total }) => [
    { ...newest, series: total.series },
    total,
  ]);
  return shown(mapOfDays(figures), ...families.map(ofProtection));
}

const figuresOfZone = object({
  overview: rolling(overview),
  overviewPastTwentyEightDays: byDay(overview),
  // Only the WAF has no field with its days.
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
  totalBillableRequests: count(
    'monthly_billable_requests',
    'Billed requests in this calendar month; resets with the next',
  ),
  totalCleanRequestsLimit: count(
    'clean_requests_limit',
    'Clean requests per month that the plan of the zone includes',
  ),
});

const metrics = withoutCounts(figuresOfZone, [
  ['overviewPastTwentyEightDays', 'overview'],
  ['dDoSOverviewPastTwentyEightDays', 'dDoS'],
  ['ratelimitOverviewPastTwentyEightDays', 'ratelimit'],
  ['botDetectionOverviewPastTwentyEightDays', 'botDetection'],
  ['accessListOverviewPastTwentyEightDays', 'accessList'],
  ['uploadScanningOverviewPastTwentyEightDays', 'uploadScanning'],
  ['apiGuardianOverviewPastTwentyEightDays', 'apiGuardian'],
]);

const figures = ['events', 'requests', 'scanned_files', 'inspected_requests', 'failed_requests'];

/** Keeps the families of a figure together. The HELP says `fields` even for a single one. */
function byFigure<Reading>(own: readonly FamilyOf<Reading>[]): readonly FamilyOf<Reading>[] {
  const ofFigures = figures.flatMap((figure) => own.filter(({ name }) => name.startsWith(`${figure}_`)));
  const others = own.filter((family) => !ofFigures.includes(family));
  const withFields = (family: FamilyOf<Reading>) => ({
    ...family,
    words: family.words.replace('%s', `API fields ${family.fields?.join(', ')}`),
  });
  return [...ofFigures.map(withFields), ...others];
}

export const shieldOverview = defineResource({
  kind: 'shield_overview',
  noun: 'Shield overview',
  defaultIntervalSeconds: 300,
  listing: zones,
  path: '/shield/metrics/overview/{shieldZoneId}',
  answer: enveloped(metrics),
  families: (own) => [...byFigure(own), newestDay(metrics, ['overviewPastTwentyEightDays'])],
});
