import { expect, it } from 'vitest';
import { shieldBotDetection } from '../../../src/resources/kinds/shield-bot-detection.ts';
import { expose } from '../expose.ts';

const ids = { shield_zone_id: '501' };
const read = (data: object) => expose(shieldBotDetection, { error: null, data }, { ids });
const sensitivity = (requestIntegrity: unknown, ipAddress: unknown, browserFingerprint: unknown) => ({
  requestIntegrity: { sensitivity: requestIntegrity },
  ipAddress: { sensitivity: ipAddress },
  browserFingerprint: { sensitivity: browserFingerprint, aggression: 1, complexEnabled: true },
});

it('shows whether bot detection is on, and what it does', async () => {
  const { rows, asked, mismatched } = await read({
    shieldZoneId: 501,
    executionMode: 1,
    ...sensitivity(0, 2, 0),
  });
  expect(asked).toEqual(['/shield/shield-zone/501/bot-detection']);
  expect(rows).toBe(`\
bunnynet_shield_bot_detection_enabled{shield_zone_id="501"} 1
bunnynet_shield_bot_detection_execution_mode{shield_zone_id="501"} 1
`);
  expect(mismatched).toEqual([]);
});

it.each([
  ['off where each check is', sensitivity(0, 0, 0), ' 0\n'],
  ['on where one check is, whatever is known of the others', sensitivity(null, 1, null), ' 1\n'],
  ['unknown where a check is, and the others are off', sensitivity(0, null, 0), undefined],
  ['unknown where nothing is told', { requestIntegrity: null, executionMode: null }, undefined],
])('is %s', async (_, data, value) => {
  const { rows } = await read(data);
  expect(rows).toBe(
    value === undefined ? '' : `bunnynet_shield_bot_detection_enabled{shield_zone_id="501"}${value}`,
  );
});
