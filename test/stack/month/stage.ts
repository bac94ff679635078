/** Exporters in this process, and the Prometheus that scrapes them once a minute; time passes as fast as they can work. */
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { everything } from '../../../simulator/everything.ts';
import { baseUrlsOf } from '../../../simulator/simulator.ts';
import { stopTime } from '../../held/clock.ts';
import { startWhole, type Whole } from '../../held/whole.ts';
import { type AccountName, accountNames, datasets, keysOf } from './accounts.ts';
import type { Labels, Samples } from './samples.ts';
import { createWorld } from './world.ts';

export const minuteMs = 60_000;

export interface ExporterOptions {
  /** By the name that each has in the configuration. Default: all, by their own names. */
  readonly accounts?: Readonly<Record<string, AccountName>>;
  /** Default: those of the day. */
  readonly kinds?: readonly string[];
  /** Sections of the file beside those of everything, or in their place. */
  readonly sections?: Readonly<Record<string, unknown>>;
  /** Default: one of its own. Two with the same one are the same Pod of a StatefulSet. */
  readonly instance?: string;
  readonly job?: string;
  readonly hasState?: boolean;
}

interface Target {
  readonly options: ExporterOptions;
  labels: Labels;
  /** Undefined while it does not run. */
  whole: Whole | undefined;
}

export interface StageOptions {
  readonly beginsMs: number;
  /** For the state of exporters. */
  readonly folder: string;
  /** Default: all. */
  readonly kinds?: readonly string[] | undefined;
  readonly samples: Samples;
}

export type Stage = ReturnType<typeof openStage>;

/** Ends with the test. */
export function openStage({ beginsMs, folder, kinds, samples }: StageOptions) {
  const clock = stopTime(beginsMs);
  const world = createWorld();
  const targets = new Map<string, Target>();
  let isScraping = true;
  let started = 0;
  const beganMs = performance.now();
  let minutes = 0;

  /**
   * Waits for the end of what needs files and sockets, which take real time: time passes here only if it waits for that, too. All timers of
   * an hour would be over before a server has closed.
   */
  const ended = async (work: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    while (!isOver) {
      for (let turns = 0; turns < 1000 && !isOver; turns++) await turn();
      if (!isOver) await clock.pass(100);
    }
    await work;
  };

  const stateFile = (name: string) => join(folder, name, 'state.json');

  const settingsOf = (name: string, options: ExporterOptions) => {
    const { accounts = { acme: 'acme', umbrella: 'umbrella' }, sections, hasState = true } = options;
    const [[first, account], ...others] = Object.entries(accounts) as [
      [string, AccountName],
      ...[string, AccountName][],
    ];
    const simulated = (one: AccountName) => ({ ...datasets[one], keys: keysOf(one) });
    const { document, env } = everything(
      { ...simulated(account), baseUrls: baseUrlsOf('') },
      {
        name: first,
        ...(others.length > 0 && {
          others: Object.fromEntries(others.map(([other, one]) => [other, simulated(one)])),
        }),
        ...((options.kinds ?? kinds) && { kinds: options.kinds ?? kinds ?? [] }),
      },
    );
    const { apis: _, ...rest } = document;
    const state = hasState && { state: { file: stateFile(name) } };
    return { document: { ...rest, ...state, ...sections }, env: { ...env } };
  };

  const run = async (name: string, options: ExporterOptions): Promise<Whole> => {
    mkdirSync(join(folder, name), { recursive: true });
    const whole = await startWhole({ ...settingsOf(name, options), routes: world.routes } as never);
    await whole.exporter.start();
    return whole;
  };
  const targetOf = (name: string): Target => {
    const target = targets.get(name);
    if (!target) throw new Error(`there is no exporter ${name}`);
    return target;
  };

  const stage = {
    world,
    /** Starts an exporter, which Prometheus scrapes from the next minute on. */
    async add(name: string, options: ExporterOptions = {}) {
      const { job = 'bunnynet', instance = `${name}-${started++}:10057` } = options;
      targets.set(name, {
        options,
        labels: { namespace: 'edge', job, instance },
        whole: await run(name, options),
      });
    },
    /** It ends, and Prometheus forgets it. */
    async remove(name: string) {
      const { whole } = targetOf(name);
      targets.delete(name);
      await ended(Promise.resolve(whole?.stop()));
    },
    /** It ends, and Prometheus goes on to scrape it. */
    async stop(name: string) {
      const target = targetOf(name);
      const { whole } = target;
      target.whole = undefined;
      await ended(Promise.resolve(whole?.stop()));
    },
    /** It begins again at the same address. */
    async restart(name: string) {
      const target = targetOf(name);
      target.whole = await run(name, target.options);
    },
    /** A new Pod in place of the old one: another address, other settings. */
    async replace(name: string, options?: ExporterOptions) {
      const { options: was } = targetOf(name);
      await stage.remove(name);
      await stage.add(name, options ?? was);
    },
    /** Other settings of one that runs. */
    async reload(name: string, options: ExporterOptions) {
      const { whole } = targetOf(name);
      if (!whole) throw new Error(`${name} does not run`);
      const { document, env } = settingsOf(name, options);
      whole.document = document as typeof whole.document;
      Object.assign(whole.env, env);
      await ended(whole.reload()).catch(() => undefined);
    },
    /** The key that an exporter has for an account. */
    async setKey(name: string, account: string, key: string) {
      const { whole } = targetOf(name);
      if (!whole) throw new Error(`${name} does not run`);
      whole.env[`${account.toUpperCase()}_KEY`] = key;
      await ended(whole.reload());
    },
    /** How many requests a second an exporter may make to each API. */
    async allow(name: string, perSecond: number) {
      const { whole } = targetOf(name);
      if (!whole) throw new Error(`${name} does not run`);
      const { requests_per_second: usual } = whole.api;
      whole.api.requests_per_second = perSecond;
      await ended(whole.reload());
      return () => {
        whole.api.requests_per_second = usual;
        return ended(whole.reload());
      };
    },
    /** The folder of its state is there, or it is not: nothing can be written. */
    hideState(name: string) {
      renameSync(join(folder, name), join(folder, `${name}-away`));
      return () => renameSync(join(folder, `${name}-away`), join(folder, name));
    },
    /** Prometheus itself does not run. */
    stopPrometheus() {
      isScraping = false;
      return () => {
        isScraping = true;
      };
    },
    /** Lets a minute pass, and has all exporters scraped at its end; resolves with whether they were. */
    async passMinute() {
      minutes++;
      await clock.pass(Math.max(1, beganMs + minutes * minuteMs - performance.now()));
      if (!isScraping) {
        samples.miss();
        return false;
      }
      const scraped: { labels: Labels; page: string | undefined }[] = [];
      for (const { labels, whole } of targets.values()) scraped.push({ labels, page: await whole?.page() });
      samples.scrape(scraped);
      return true;
    },
    accounts: accountNames,
  };
  return stage;
}
