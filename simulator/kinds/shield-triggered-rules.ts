/** The WAF rules of Shield Zones that wait for a review, with what visitors sent (`/shield/waf/rules/review-triggered/{zone}`). */
import { dayMs, hourMs } from '../days.ts';
import { count, drift, hash, secret } from '../entities.ts';
import { shieldApi, shieldBesideError } from '../forms.ts';
import { type Kind, ok, type Request } from '../kind.ts';
import { ofZone, type Zone } from './shield-zone.ts';

export const shieldTriggeredRules = {
  kind: 'shield_triggered_rules',
  section: 'shield_triggered_rules',
  ...shieldApi,
  form: shieldBesideError,
  path: '/shield/waf/rules/review-triggered/{zone}',
  traits: { integer: 'totalTriggeredRules' },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofZone(triggered),
} as const satisfies Kind;

/** The answer has no `data`, and names its error `errorResponse`. A zone with nothing to review has null as its rules. */
function triggered({ seed, name }: Zone, { nowMs }: Request) {
  // Somebody reviews the rules every few days.
  const turn = Math.floor(nowMs / (3 * dayMs));
  const rules = count(hash(seed, turn, 0x71) % 6, (place) => {
    const totalTriggeredRequests = Math.floor(400 * drift(hash(seed, place, turn), nowMs, 6 * hourMs));
    const url = `https://${name}.example/login?token=${secret('visitor', hash(seed, place))}`;
    return {
      ruleId: String(941_100 + 10 * (hash(seed, place, turn) % 80)),
      ruleDescription: 'XSS Attack Detected via libinjection',
      totalTriggeredRequests,
      topTargetedUrls: { [url]: totalTriggeredRequests },
      ruleLogs: [{ logId: '1', log: url, remoteIp: '203.0.113.7', timestamp: nowMs }],
    };
  });
  return ok({
    errorResponse: null,
    totalTriggeredRules: rules.length,
    triggeredRules: rules.length === 0 ? null : rules,
  });
}
