/** An outage of everything, as the log tells it: the engine and its causes on a clock that the test moves. */
import pino from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { Pacer } from '../../src/api/pacer.ts';
import { CauseLog } from '../../src/causes/cause-log.ts';
import { causesOf } from '../../src/causes/causes.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { configOf, engineWith, sectionConfig, targetConfig } from '../polling/fixtures.ts';
import { runs } from '../runs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const secondMs = 1000;
const minuteMs = 60_000;
const perKind = runs(30, 100);
const downMinutes = runs(3, 5);

/** The targets of a kind. */
const named = (...labels: readonly string[]) =>
  Array.from({ length: perKind }, (_, at) =>
    targetConfig(Object.fromEntries(labels.map((label) => [label, `${at + 1}`]))),
  );

/** Targets at three APIs, each polled every minute. */
const config = configOf([
  sectionConfig('application', named('app_id')),
  sectionConfig('api_guardian', named('shield_zone_id', 'endpoint_id')),
  sectionConfig('pull_zone_statistics', named('pull_zone_id')),
]);
const hosts: Readonly<Record<string, string>> = {
  application: 'apps.example',
  shield: 'api.example',
  core: 'api.example',
};

interface Line {
  readonly atMs: number;
  readonly level: number;
  readonly msg: string;
}

function start() {
  let isDown = false;
  let failures = 0;
  const lines: Line[] = [];
  const beganMs = Date.now();
  const pacers = new Map<string, Pacer>();
  const log = pino(
    { base: null, timestamp: false },
    {
      write(line: string) {
        const { level, msg } = JSON.parse(line) as Line;
        lines.push({ atMs: Date.now() - beganMs, level, msg });
      },
    },
  );
  const answer = async (path: string) => {
    await Promise.resolve();
    if (isDown) {
      // A dead host: some connections are reset, others hang.
      throw failures++ % 2 === 0
        ? new ApiError('network', 'the connection was reset (ECONNRESET)')
        : new ApiError('timeout', 'no whole answer within 10000 ms');
    }
    if (path.startsWith('/statistics')) return { RequestsServedChart: {} };
    return path.startsWith('/apps/') ? { monthlyCost: 1 } : { data: { totalBlockedRequests: 1 } };
  };
  const causeLog = new CauseLog(log);
  const engine = engineWith(
    async ({ path, permit }) => {
      permit?.release();
      return await answer(path);
    },
    {
      paceOf: (api) => {
        const pacer = pacers.get(api) ?? new Pacer({ requestsPerSecond: 10, maxConcurrency: 8 });
        pacers.set(api, pacer);
        return pacer;
      },
      log,
      onSweep: () => {
        const { health, targets, listings, capacities } = engine.overview();
        const causes = causesOf({
          health,
          targets,
          listings,
          kinds: resources,
          baseUrlOf: (api) => `https://${hosts[api] ?? 'other.example'}`,
          addressNameOf: (api) => `apis.${api}.base_url`,
          keySource: () => 'from $KEY',
          noKeyReason: () => undefined,
          exporter: {
            refusedReload: undefined,
            pauses: [],
            capacities,
            schemaDrift: [],
            sameKeys: [],
            formerKeys: [],
            shared: [],
            state: undefined,
          },
          nowMs: Date.now(),
          uptimeMs: performance.now(),
        });
        causeLog.write(causes, Date.now());
      },
    },
  );
  engine.apply(config);
  return {
    engine,
    /** The lines since the last call. */
    said: () => lines.splice(0),
    nowMs: () => Date.now() - beganMs,
    setDown: (down: boolean) => {
      isDown = down;
    },
  };
}

it('of everything is a few lines in the log: each cause within ten seconds, nothing twice, and its end', async () => {
  const { engine, said, nowMs, setDown } = start();
  // The log is written every ten seconds. The outage begins three before, when little can have failed.
  await vi.advanceTimersByTimeAsync(minuteMs - 3 * secondMs);
  expect(said()).toEqual([]);
  setDown(true);
  const downAtMs = nowMs();
  await vi.advanceTimersByTimeAsync(downMinutes * minuteMs);
  const during = said();
  const texts = during.map(({ msg }) => msg);
  // What has failed by then, each as far as it is known.
  expect(during[0]?.atMs).toBe(downAtMs + 3 * secondMs);
  for (const host of Object.values(hosts)) {
    const [first] = during.filter(({ msg }) => msg.includes(`Nothing can be read from ${host}`));
    expect(first?.atMs, texts.join('\n')).toBeLessThanOrEqual(downAtMs + 13 * secondMs);
  }
  expect(new Set(texts).size, texts.join('\n')).toBe(texts.length);
  expect(during.filter(({ level }) => level < 40)).toEqual([]);

  setDown(false);
  await vi.advanceTimersByTimeAsync(2 * minuteMs);
  const ended = said();
  // It ends once for each host. That some were not polled again yet is no news.
  const end = new RegExp(`^this is over after ${downMinutes} m.*: Nothing can be read from ([^ :]+)`);
  expect(ended.map(({ msg }) => end.exec(msg)?.[1] ?? msg).toSorted()).toEqual([
    'api.example',
    'apps.example',
  ]);
  expect(during.length + ended.length).toBeLessThanOrEqual(30);
  await engine.stop();
});
