import { expect, test } from 'vitest';
import { summary } from '../../src/cli/summary.ts';
import { plain } from '../../src/cli/terminal.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { account, load } from '../config/fixtures.ts';

test('the summary is one table by kind, one by account and one by API', async () => {
  const { config } = await load(`
credentials: { account: { env: BUNNYNET_ACCESS_KEY }, video: { env: BUNNYNET_VIDEO_ACCESS_KEY } }
applications: { credential: account, targets: [a, { id: b, interval: 30s }] }
shield_zones: { credential: account, targets: all }
video_storage:
  credential: video
  interval: 1s
  targets:
    - 1/0f8c3f9e-1b2a-4c3d-8e4f-000000000001
    - 1/0f8c3f9e-1b2a-4c3d-8e4f-000000000002
    - 1/0f8c3f9e-1b2a-4c3d-8e4f-000000000003
`);
  expect(summary(config, resources, plain)).toBe(`\
kind           credential  interval   targets
application    account     30s to 1m  2
shield_zone    account     10m        all
video_storage  video       1s         3

How many targets \`all\` stands for is known after the first poll of their listing.

account  kinds                                    requests/s needed
account  application, shield_zone, video_storage  at least 3.1

API          requests/s needed  allowed  address
application  at least 0.05      10       https://api.bunny.net/mc
shield       at least 0.002     10       https://api.bunny.net
core         at least 0.002     10       https://api.bunny.net
video        at least 3         2        https://video.bunnycdn.com

video: 3 polls need 3 requests/s, requests_per_second is 2: a round takes 2s; raise interval_factor, apis.video.requests_per_second, or interval and stale_after (video_storage needs most)

✓ the configuration is valid
`);
});

test('it says what the storage of videos costs, whose requests nobody can know', async () => {
  for (const [videos, cost] of [
    ['{ targets: all }', 'video_storage: a request for each video and hour'],
    ['{ targets: all, interval: 30m }', 'video_storage: a request for each video and 30m'],
  ]) {
    const { config } = await load(`${account}discovery: { kinds: all }\nvideo_storage: ${videos}\n`);
    expect(summary(config, resources, plain)).toContain(`\n\n${cost}\n\n`);
  }
  const { config } = await load(`${account}discovery: { kinds: all }\n`);
  expect(summary(config, resources, plain)).not.toContain('a request for each');
});

test('it says which kinds are narrowed down, and how far overrides change the interval', async () => {
  const { config } = await load(`${account}
applications: { targets: all, include: prod-.*, overrides: [{ id: q7TzVb2, interval: 30s }] }
shield_zones: { targets: all }
api_guardian: { targets: all, parents: { exclude: www } }
`);
  const [kinds] = summary(config, resources, plain).split('\n\n');
  expect(kinds).toBe(`\
kind          credential  interval   targets
application   account     30s to 1m  all that are selected
shield_zone   account     10m        all
api_guardian  account     5m         all that are selected`);
});
