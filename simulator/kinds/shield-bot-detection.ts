/** How bot detection of Shield Zones is set (`/shield/shield-zone/{zone}/bot-detection`). */
import { targetOf } from '../answers.ts';
import { hash } from '../entities.ts';
import { rejected, shieldApi, shieldData } from '../forms.ts';
import { jsonInteger } from '../json.ts';
import type { Kind } from '../kind.ts';
import { ofZone, type Zone, type Zones } from './shield-zone.ts';

/** On Basic it was gated. */
const hasBotDetection = ({ planType }: Zone) => planType > 0;

export const shieldBotDetection = {
  kind: 'shield_bot_detection',
  section: 'shield_bot_detection',
  ...shieldApi,
  path: '/shield/shield-zone/{zone}/bot-detection',
  traits: {
    field: 'data',
    ids: ['shieldZoneId'],
    integer: 'executionMode',
    codes: ['executionMode'],
    isStill: true,
  },
  rejections: ['unknownZone', 'notOnPlan'],
  ...ofZone((zone) => {
    if (!hasBotDetection(zone)) return rejected('notOnPlan', zone.id);
    const { seed, index, id } = zone;
    const sensitivityOf = (check: number) => (index % 4 === 3 ? 0 : hash(seed, check, 0x6b) % 4);
    return shieldData(seed, {
      shieldZoneId: jsonInteger(id),
      executionMode: index % 3 === 1 ? 0 : 1,
      requestIntegrity: { sensitivity: sensitivityOf(0) },
      ipAddress: { sensitivity: sensitivityOf(1) },
      browserFingerprint: { sensitivity: sensitivityOf(2), aggression: 1, complexEnabled: false },
    });
  }),
  targets: ({ zones }: Zones) => zones.filter(hasBotDetection).map(targetOf),
  listed: ({ zones }: Zones) => zones.map(targetOf),
} as const satisfies Kind;
