/** How bot detection of a Shield Zone is set (`/shield/shield-zone/{zone}/bot-detection`). */
import { defineResource } from '../define.ts';
import { enveloped } from '../envelope.ts';
import { coded, type FamilyOf, highestOf, sumOf } from '../families.ts';
import { codeNumber, object, type ValueOf } from '../fields.ts';
import { zones } from './shield-zone.ts';

const sensitivity = codeNumber(['off', 'low', 'medium', 'high']);

const settings = object({
  requestIntegrity: object({ sensitivity }),
  ipAddress: object({ sensitivity }),
  browserFingerprint: object({ sensitivity }).ignoring('aggression complexEnabled'),
  executionMode: coded('execution_mode', 'What bot detection does', ['log', 'challenge']),
}).ignoring('shieldZoneId');
type Settings = ValueOf<typeof settings>;

const enabled: FamilyOf<Settings> = {
  name: 'enabled',
  words:
    'Whether bot detection is enabled: 1 where the sensitivity of a check is not off, 0 where that of each is (%s: sensitivity)',
  fields: ['requestIntegrity', 'ipAddress', 'browserFingerprint'],
  series({ requestIntegrity, ipAddress, browserFingerprint }) {
    const all = [requestIntegrity, ipAddress, browserFingerprint].map((one) => one?.sensitivity);
    // Where one of them is not told, the others can only say that it is on.
    return (highestOf(all) ?? 0) > 0 ? 1 : sumOf(all);
  },
};

export const shieldBotDetection = defineResource({
  kind: 'shield_bot_detection',
  noun: 'Shield bot detection',
  defaultIntervalSeconds: 3600,
  listing: zones,
  path: '/shield/shield-zone/{shieldZoneId}/bot-detection',
  answer: enveloped(settings),
  families: (own) => [enabled, ...own],
});
