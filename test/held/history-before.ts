/** A history of steady figures, and an exporter that is started after it with the state that the history wrote. */
import { join } from 'node:path';
import { vi } from 'vitest';
import type { BackfillOptions } from '../../src/backfill/backfill.ts';
import { load } from '../../src/demo.ts';
import { Collected, parse, writeTo } from '../backfill/writing.ts';
import { answerInProcess, createSender } from './api-in-process.ts';
import { dayMs, document, everIn, kinds, minuteMs, routesOf } from './steady.ts';
import { startWhole, type Whole, type WholeOptions } from './whole.ts';

const apiUrl = 'https://api.test';
/** As the API has it: a load balancer sums up to the very end of what is asked for. */
export const routes: WholeOptions['routes'] = {
  ...routesOf(),
  '/loadbalancer/7/statistics': ({ query }) => {
    const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
    return { Summary: { TotalRequests: everIn(from ?? 0, (to ?? 0) + 1, 0) } };
  },
};

export interface Run {
  readonly folder: string;
  readonly nowMs: number;
  readonly routes?: WholeOptions['routes'];
  readonly document?: WholeOptions['document'];
}

export const stateIn = ({ folder }: Run) => join(folder, 'state.json');

/** Writes the history before an exporter runs. */
export async function writeHistory(run: Run, more: Partial<BackfillOptions> = {}) {
  const output = new Collected();
  const now = vi.spyOn(Date, 'now').mockReturnValue(run.nowMs);
  const answers = { ...routes, ...run.routes };
  const stop = answerInProcess(apiUrl, ({ url }, response) => {
    const { pathname: path, searchParams: query } = new URL(url, apiUrl);
    const answer = answers[path]?.({ path, query, atMs: 0, key: undefined }) ?? { data: [] };
    response.writeHead(200).end(JSON.stringify(answer));
  });
  const api = { base_url: apiUrl, requests_per_second: 500, max_concurrency: 8, max_retries: 0 };
  try {
    const setup = await load({
      document: {
        credentials: { account: { env: 'KEY' } },
        apis: { core: api, shield: api },
        ...(run.document ?? document),
      },
      env: { KEY: 'the-key-of-the-account' },
    });
    const written = await writeTo(output, setup, {
      durationMs: 5 * dayMs,
      stateFile: stateIn(run),
      createSender,
      now: () => run.nowMs,
      ...more,
    });
    return { ...written, ...parse(output.text) };
  } finally {
    stop();
    now.mockRestore();
  }
}

export async function startExporter(run: Run): Promise<Whole> {
  const whole = await startWhole({
    apiUrl,
    routes,
    ...run,
    document: { ...(run.document ?? document), state: { file: stateIn(run) } },
  });
  await whole.exporter.start();
  await whole.pass(minuteMs);
  return whole;
}

export type History = Awaited<ReturnType<typeof writeHistory>>;

/** The last value of each kind in a history, and when it began. */
export function endsOf(history: History) {
  return kinds.map(({ section, counter }) => {
    const all = history.series.filter(({ name }) => name === counter);
    const samples = all.flatMap((one) => one.samples);
    return {
      section,
      beganMs: Math.min(...samples.map(([atMs]) => atMs)),
      value: all.reduce((sum, one) => sum + (one.samples.at(-1)?.[1] ?? 0), 0),
    };
  });
}
