/** Days whose times, lengths, sizes and traffic are drawn: a rule that fits only the other days is seen here. */
import { type AccountName, accountNames, usualRequests } from './accounts.ts';
import {
  add,
  atOnce,
  type Change,
  type Day,
  fail,
  type Happening,
  instances,
  late,
  mails,
  ofApp,
  ofApplication,
  ofZone,
  pages,
  pullZone,
  records,
  refuse,
  remove,
  replace,
  set,
  status,
  stop,
  type Told,
  traffic,
} from './happenings.ts';
import type { Failure } from './world.ts';

/** Mulberry32. */
export function createDice(seed: number) {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number) => low + (high - low) * unit();
  return {
    between,
    minutes: (low: number, high: number) => Math.round(between(low, high)),
    pick: <Item>(items: readonly [Item, ...Item[]]): Item =>
      items[Math.floor(unit() * items.length)] ?? items[0],
    shuffled: <Item>(items: readonly Item[]): readonly Item[] =>
      items
        .map((item) => ({ item, at: unit() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
  };
}
type Dice = ReturnType<typeof createDice>;

interface Drawn {
  readonly name: string;
  readonly lasts: number;
  readonly does: Change;
  readonly tells?: readonly Told[];
  readonly isOfBoth?: true;
}
type Draw = (dice: Dice, account: AccountName) => Drawn;

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

const cdn: readonly Draw[] = [
  ({ between, minutes, pick }, account) => {
    const [place, errors, requests] = [pick([0, 1]), between(0.08, 0.9), between(0.5, 3)];
    return {
      name: `${percent(errors)} of a busy zone is 5xx`,
      lasts: minutes(45, 150),
      does: traffic(account, place, { requests, errors }),
      tells: [pages('PullZoneServerErrors', 35, ofZone(account, place), 65)],
    };
  },
  ({ between, minutes }, account) => {
    // Between 40 and 80 requests in half an hour.
    const [errors, perMinute] = [between(0.75, 1), between(1.6, 2.2)];
    return {
      name: `${percent(errors)} of a zone with ${perMinute.toFixed(1)} requests a minute is 5xx`,
      lasts: minutes(100, 200),
      does: traffic(account, 2, { requests: perMinute / usualRequests[2], errors }),
      tells: [mails('PullZoneServerErrors', 50, ofZone(account, 2), 65)],
    };
  },
  ({ between, minutes, pick }, account) => {
    const errors = between(0.002, 0.03);
    return {
      name: `${percent(errors)} of a busy zone is 5xx`,
      lasts: minutes(30, 200),
      does: traffic(account, pick([0, 1]), { errors }),
    };
  },
  ({ between, pick }, account) => {
    const seconds = between(40, 100);
    return {
      name: `a deploy of ${seconds.toFixed()} seconds of 502`,
      lasts: 2,
      does: traffic(account, pick([0, 1]), { errors: seconds / 120 }),
    };
  },
  ({ between, minutes, pick }, account) => {
    const requests = between(2, 10);
    return {
      name: `${requests.toFixed(1)} times the traffic`,
      lasts: minutes(30, 200),
      does: traffic(account, pick([0, 1, 3]), { requests }),
    };
  },
  ({ minutes, pick }, account) => {
    const place = pick([0, 1, 2, 3]);
    return {
      name: 'a zone is suspended',
      lasts: minutes(30, 200),
      does: pullZone(account, place, { Suspended: true }),
      tells: [pages('PullZoneSuspended', 25, ofZone(account, place))],
    };
  },
  ({ between, minutes, pick }, account) => {
    const [place, share] = [pick([0, 1, 2, 3]), between(0.91, 1.3)];
    return {
      name: `a zone has used ${percent(share)} of its bandwidth`,
      lasts: minutes(40, 100),
      does: pullZone(account, place, {
        MonthlyBandwidthUsed: Math.round(share * 1e11),
        MonthlyBandwidthLimit: 1e11,
      }),
      tells: [mails('PullZoneBandwidthLimitNear', 30, ofZone(account, place))],
    };
  },
  ({ between, minutes, pick }, account) => {
    const share = between(0.3, 0.88);
    return {
      name: `a zone has used ${percent(share)} of its bandwidth`,
      lasts: minutes(40, 100),
      does: pullZone(account, pick([0, 1, 2]), {
        MonthlyBandwidthUsed: Math.round(share * 1e11),
        MonthlyBandwidthLimit: 1e11,
      }),
    };
  },
  ({ minutes }) => ({ name: 'figures come late', lasts: minutes(60, 200), does: late(minutes(20, 170)) }),
  ({ minutes }) => ({ name: 'the exporter is restarted', lasts: minutes(1, 3), does: stop('main') }),
  () => ({ name: 'the exporter is rolled out', lasts: 1, does: replace('main') }),
  ({ minutes, pick }) => {
    const failure = pick<Failure>([500, 503, 'reset', 'no answer']);
    return {
      name: `the core API: ${failure}`,
      lasts: minutes(20, 150),
      does: fail({ api: 'core' }, failure),
      tells: [pages('ApiUnreadable', 28, { api: 'core' })],
      isOfBoth: true,
    };
  },
  ({ minutes, pick }) => {
    const failure = pick<Failure>([500, 503, 'reset', 'no answer']);
    return {
      name: `the core API, for some minutes: ${failure}`,
      lasts: minutes(1, 7),
      does: fail({ api: 'core' }, failure),
    };
  },
];

const exporters: readonly Draw[] = [
  ({ minutes }, account) => ({
    name: `the key of ${account} is refused`,
    lasts: minutes(20, 180),
    does: refuse(account),
    tells: [pages('KeyRefused', 18, { account })],
  }),
  ({ minutes }, account) => ({
    name: `all answers for ${account} are 403`,
    lasts: minutes(45, 150),
    does: fail({ account }, 403),
    tells: [pages('AccountUnreadable', 38, { account })],
  }),
  ({ minutes, pick }) => {
    const failure = pick<Failure>([500, 503, 'reset', 'no answer']);
    return {
      name: `all APIs: ${failure}`,
      lasts: minutes(25, 150),
      does: fail({}, failure),
      tells: [pages('ApiUnreadable', 24, { api: '' })],
      isOfBoth: true,
    };
  },
  ({ minutes, pick }) => {
    const api = pick(['core', 'application'] as const);
    return {
      name: `the ${api} API answers 500`,
      lasts: minutes(25, 150),
      does: fail({ api }, 500),
      tells: [pages('ApiUnreadable', 24, { api })],
      isOfBoth: true,
    };
  },
  ({ minutes }, account) => ({
    name: `the exporter of ${account} does not answer`,
    lasts: minutes(15, 100),
    does: stop(account),
    tells: [pages('ExporterDown', 10, { job: 'bunnynet' }, 10)],
  }),
  ({ minutes }, account) => ({
    name: `the exporter of ${account} is no longer found`,
    lasts: minutes(40, 200),
    does: remove(account, { accounts: { [account]: account } }),
    tells: [pages('ExporterAbsent', 30, { account }, 15)],
  }),
  ({ minutes }, account) => ({
    name: `the exporter of ${account} is restarted`,
    lasts: minutes(1, 3),
    does: stop(account),
  }),
  (_, account) => ({ name: `the exporter of ${account} is rolled out`, lasts: 1, does: replace(account) }),
  ({ minutes }, account) => ({
    name: `a second exporter reads ${account}`,
    lasts: minutes(15, 200),
    does: add('second', { accounts: { [account]: account } }),
  }),
  ({ minutes }) => ({
    name: 'some minutes of 429',
    lasts: minutes(2, 10),
    does: fail({}, '429 for a minute'),
  }),
  ({ between, minutes }) => ({
    name: 'some answers are 503',
    lasts: minutes(20, 150),
    does: fail({}, 503, between(0.05, 0.2)),
  }),
];

const things: readonly Draw[] = [
  ({ minutes, pick }, account) => {
    const [place, is] = [pick([0, 1]), pick(['Failing', 'Suspended'] as const)];
    return {
      name: `an application is ${is.toLowerCase()}`,
      lasts: minutes(12, 120),
      does: status(account, place, is.toLowerCase()),
      tells: [pages(`Application${is}`, 12, ofApp(account, place))],
    };
  },
  ({ minutes, pick }, account) => ({
    name: 'an application is failing for a moment',
    lasts: minutes(1, 3),
    does: status(account, pick([0, 1]), 'failing'),
  }),
  ({ minutes, pick }, account) => ({
    name: 'an application is progressing',
    lasts: minutes(5, 45),
    does: status(account, pick([0, 1]), 'progressing'),
  }),
  ({ minutes, pick }, account) => ({
    name: 'somebody stops an application',
    lasts: minutes(60, 300),
    does: status(account, pick([0, 1]), 'inactive'),
  }),
  ({ between, minutes, pick }, account) => {
    const [place, share] = [pick([0, 1]), between(0.92, 1)];
    return {
      name: `instances use ${percent(share)} of their memory`,
      lasts: minutes(30, 120),
      does: instances(account, place, (pod) => [{ ...pod, ramUsageBytes: Math.round(share * 2 ** 30) }]),
      tells: [mails('ApplicationMemoryNearLimit', 25, ofApp(account, place))],
    };
  },
  ({ between, minutes, pick }, account) => {
    const share = between(0.3, 0.88);
    return {
      name: `instances use ${percent(share)} of their memory`,
      lasts: minutes(30, 120),
      does: instances(account, pick([0, 1]), (pod) => [
        { ...pod, ramUsageBytes: Math.round(share * 2 ** 30) },
      ]),
    };
  },
  ({ between, minutes, pick }, account) => {
    const [place, ms] = [pick([0, 1]), between(270, 3000)];
    return {
      name: `an application takes ${ms.toFixed()} ms instead of 50`,
      lasts: minutes(30, 120),
      does: ofApplication(account, 'application', place, () => ({ currentLatency: ms })),
      tells: [mails('ApplicationLatencyLeap', 25, ofApp(account, place))],
    };
  },
  ({ between, minutes, pick }, account) => {
    const ms = between(50, 140);
    return {
      name: `an application takes ${ms.toFixed()} ms instead of 50`,
      lasts: minutes(30, 120),
      does: ofApplication(account, 'application', pick([0, 1]), () => ({ currentLatency: ms })),
    };
  },
  ({ minutes, pick }, account) => {
    const place = pick([0, 1]);
    return {
      name: 'a region of an application has no instance',
      lasts: minutes(40, 120),
      does: instances(account, place, () => [], false),
      tells: [mails('ApplicationInstancesMissing', 30, ofApp(account, place))],
    };
  },
  ({ minutes, pick }, account) => ({
    name: 'a region gets its instances some minutes later',
    lasts: minutes(2, 8),
    does: instances(account, pick([0, 1]), () => [], false),
  }),
  ({ minutes, pick }) => ({
    name: 'one of two records of a name is offline',
    lasts: minutes(20, 120),
    does: records('acme', [pick([0, 1])]),
    tells: [mails('DnsRecordOffline', 25, { account: 'acme' })],
  }),
  ({ minutes }, account) => ({
    name: 'all records of a name are offline',
    lasts: minutes(20, 120),
    does: records(account, [2]),
    tells: [pages('DnsRecordOffline', 25, { account })],
  }),
  ({ between, minutes }, account) => {
    const share = between(0.91, 1);
    return {
      name: `a database is ${percent(share)} full`,
      lasts: minutes(45, 120),
      does: set(account, 'database', { current_size_bytes: Math.round(share * 1e9) }, 'databases'),
      tells: [mails('DatabaseNearlyFull', 40, { account }, 60)],
    };
  },
  ({ minutes, pick }, account) => ({
    name: 'a deploy',
    lasts: minutes(30, 200),
    does: instances(account, pick([0, 1]), (pod) => [{ ...pod, name: `new-${String(pod['name'])}` }]),
  }),
];

/** Each of them once, one after another, from a minute on. */
function drawn(dice: Dice, draws: readonly Draw[], fromMinute: number): readonly Happening[] {
  let at = fromMinute;
  return dice.shuffled(draws).map((draw) => {
    const account = dice.pick(accountNames);
    const { isOfBoth, ...happening } = draw(dice, account);
    const happens = { ...happening, at };
    at += happening.lasts + dice.minutes(95, 200);
    return isOfBoth ? atOnce(happens) : happens;
  });
}

export function randomDays(seed: number): readonly Day[] {
  const dice = createDice(seed);
  const day = (name: string, fromMinute: number, draws: readonly Draw[], more: Partial<Day>): Day => {
    const happenings = drawn(dice, draws, fromMinute);
    const { at = 0, lasts = 0 } = happenings.at(-1) ?? {};
    const hour = String(dice.minutes(0, 23)).padStart(2, '0');
    return {
      name,
      begins: `2026-04-${dice.minutes(10, 25)}T${hour}:00Z`,
      minutes: at + lasts + 100,
      happenings,
      ...more,
    };
  };
  return [
    day('random-cdn', 25 * 60, cdn, {
      kinds: ['pull_zone', 'pull_zone_statistics'],
      evaluatedEach: '2m',
    }),
    day('random-exporters', 60, exporters, {
      kinds: ['application', 'pull_zone', 'pull_zone_statistics', 'dns_record'],
      exporters: { acme: { accounts: { acme: 'acme' } }, umbrella: { accounts: { umbrella: 'umbrella' } } },
    }),
    day('random-things', 60, things, {
      kinds: ['application', 'application_overview', 'dns_record', 'database'],
    }),
  ];
}
