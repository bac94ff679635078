import { expect, test } from 'vitest';
import { summary } from '../../src/cli/summary.ts';
import { colours } from '../../src/cli/terminal.ts';
import { resources } from '../../src/resources/index.ts';
import { account, load } from '../config/fixtures.ts';

test('the summary is one table by kind and one by API', async () => {
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
  expect(await summary(config, resources, () => true)).toBe(`\
kind           interval   targets
application    30s to 1m  2
shield_zone    10m        all
video_storage  1s         3

How many targets \`all\` stands for is known after the first poll of their listing.

API          requests/s needed  allowed  address
application  at least 0.05      10       https://api.bunny.net/mc
shield       at least <0.01     10       https://api.bunny.net
core         at least <0.01     10       https://api.bunny.net
video        at least 3         2        https://video.bunnycdn.com

video: 3 polls at 1s need 3 requests/s, requests_per_second is 2: a round takes 2s, values go stale after 3s; raise the interval of video_storage or apis.video.requests_per_second
`);
});

test('on a terminal it dims the headers, marks warnings and ends with a verdict', async () => {
  const { config } = await load(
    `${account}applications: { interval: 1s, targets: [${Array.from({ length: 11 }, (_, i) => `a${i}`).join()}] }`,
  );
  const [kinds, apis, warning, verdict] = (await summary(config, resources, () => true, colours)).split(
    '\n\n',
  );
  expect(kinds).toBe(`${colours('dim', 'kind         interval  targets')}\napplication  1s        11`);
  expect(apis?.startsWith(colours('dim', 'API          requests/s needed  allowed  address'))).toBe(true);
  expect(warning).toMatch(/^\S+!\S+ application: 11 polls at 1s need 11 requests\/s/);
  expect(verdict).toBe(`${colours('green', '✓')} the configuration is good\n`);
});

test('it says in words what a selection means', async () => {
  const { config } = await load(`${account}
applications:
  targets: all
  include: prod-.*
  exclude: .*-preview
  overrides: [{ id: q7TzVb2, interval: 30s }]
shield_zones: { targets: all, exclude: ["50.", staging] }
api_guardian:
  targets: all
  include: [GET .*, POST .*]
  parents: { include: shop|www, exclude: "\u202e" }
  overrides: [{ shield_zone_id: 1, endpoint_id: 2, name: a }, { shield_zone_id: 1, endpoint_id: 3, name: b }]
`);
  const [kinds] = (await summary(config, resources, () => true)).split('\n\n');
  expect(kinds).toBe(`\
kind          interval   targets
application   30s to 1m  all, name or id matches prod-.*, not .*-preview; 1 override
shield_zone   10m        all, neither name nor id matches 50. or staging
api_guardian  5m         all, name or id matches GET .* or POST .*; of Shield Zones, name or id matches shop|www, not  ; 2 overrides`);
});
