/** The WAF rules of a Shield Zone that wait for a review (`/shield/waf/rules/review-triggered/{zone}`). */
import { defineResource } from '../define.ts';
import { besideError } from '../envelope.ts';
import { count, shown } from '../families.ts';
import { integer, listOf, mapped, object, text, type ValueOf } from '../fields.ts';
import { zones } from './shield-zone.ts';

const maxRules = 50;
const window = 'the API documents no window, and a rule leaves the list once it has been reviewed';

const ruleId = mapped(text, (value, notes) =>
  /^[\w-]{1,64}$/.test(value) ? value : notes.mismatch('the id of a rule', value),
);

/** The logs and the addresses are not read: they tell what visitors sent. */
const rule = object({ ruleId, totalTriggeredRequests: integer }).ignoring(
  'ruleDescription topTargetedUrls{*} ruleLogs[]',
);

/** The requests of each rule, the most first. */
function ranked(all: readonly (ValueOf<typeof rule> | undefined)[]): readonly (readonly [string, number])[] {
  const requests = new Map<string, number>();
  for (const { ruleId: id, totalTriggeredRequests: more } of all.flatMap((one) => one ?? [])) {
    if (id !== undefined && more !== undefined) requests.set(id, (requests.get(id) ?? 0) + more);
  }
  return [...requests].toSorted(([a, most], [b, least]) => least - most || (a < b ? -1 : 1));
}

const triggered = object({
  totalTriggeredRules: count(
    'triggered_rules',
    `Number of WAF rules that requests have triggered and nobody has reviewed; ${window}`,
  ),
  triggeredRules: shown(listOf(rule), {
    name: 'triggered_rule_requests',
    words: `Requests that triggered each of these rules, at most the ${maxRules} rules with the most; ${window} (%s, totalTriggeredRequests)`,
    labels: ['rule_id'],
    series: (all) =>
      ranked(all)
        .slice(0, maxRules)
        .map(([rule_id, value]) => ({ labels: { rule_id }, value })),
  }),
});

export const shieldTriggeredRules = defineResource({
  kind: 'shield_triggered_rules',
  noun: 'Shield triggered rules',
  familyPrefix: 'bunnynet_shield',
  defaultIntervalSeconds: 900,
  listing: zones,
  path: '/shield/waf/rules/review-triggered/{shieldZoneId}',
  answer: besideError(triggered, 'errorResponse'),
});
