/** The pages beside /metrics: health, readiness, reload, the configuration, and the targets as HTML and as JSON. */
import { once } from 'node:events';
import { answerText } from '../http/answer.ts';
import { Readers } from '../http/readers.ts';
import type { Route, WebRequest, WebResponse } from '../http/route.ts';
import type { TargetStatus } from '../polling/target-states.ts';
import { renderTargets } from './json.ts';
import {
  type BuildInfo,
  type ExporterStatus,
  type KindNames,
  renderStatusPage,
  statusPageHeaders,
  targetsPerPage,
} from './page.ts';
import { parseQuery, QueryError, type StatusQuery } from './query.ts';
import { type NextPoll, pageOf, queryTargets, type TargetQueryResult } from './query-targets.ts';

export interface PagesOptions {
  readonly telemetryPath: string;
  /** In the order in which they are shown. */
  readonly kinds: readonly KindNames[];
  readonly build: BuildInfo;
  readonly exporterStatus: () => ExporterStatus;
  readonly isReady: () => boolean;
  readonly targets: () => readonly TargetStatus[];
  readonly nextPollInMs: NextPoll;
  /** The current configuration, without any secret. */
  readonly config: () => unknown;
  /** Undefined where the lifecycle pages are off. Rejects with what is wrong with the new configuration. */
  readonly reload: (() => Promise<void>) | undefined;
}

export function createPages(options: PagesOptions): readonly Route[] {
  return [
    ...createTargetPages(options),
    { path: '/config', methods: ['GET'], handle: (_, response) => answerConfig(response, options.config()) },
    { path: '/-/healthy', methods: ['GET'], handle: (_, response) => answerText(response, 200, 'healthy') },
    {
      path: '/-/ready',
      methods: ['GET'],
      handle: (_, response) =>
        options.isReady()
          ? answerText(response, 200, 'ready')
          : answerText(response, 503, 'not ready: some targets have not been polled yet'),
    },
    { path: '/-/reload', methods: ['POST'], handle: (_, response) => answerReload(response, options.reload) },
  ];
}

function answerConfig(response: WebResponse, config: unknown): void {
  answerWhole(response, 'application/json', `${JSON.stringify(config, undefined, 2)}\n`);
}

async function answerReload(response: WebResponse, reload: PagesOptions['reload']): Promise<void> {
  if (!reload) {
    const reason = 'reloading over HTTP is off; start with --web.enable-lifecycle to allow it';
    return answerText(response, 403, reason);
  }
  try {
    await reload();
  } catch (error) {
    return answerText(response, 400, `keeping the previous configuration:\n${(error as Error).message}`);
  }
  answerText(response, 200, 'the configuration was reloaded');
}

function answerWhole(response: WebResponse, contentType: string, text: string): void {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

/** Queries of the targets at the same time; one more is answered with a 503. */
const maxConcurrentQueries = 16;
const retryAfterSeconds = 1;

type AnswerTargets = (
  query: StatusQuery,
  result: TargetQueryResult,
  request: WebRequest,
  response: WebResponse,
) => void | Promise<void>;

function createTargetPages({ targets, ...options }: PagesOptions): readonly Route[] {
  const kinds = options.kinds.map(({ kind }) => kind);
  const readers = new Readers();
  let queries = 0;

  const handle =
    (answer: AnswerTargets): Route['handle'] =>
    async (request, response, url) => {
      let query: StatusQuery;
      try {
        query = parseQuery(url.searchParams, kinds);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        return answerText(response, 400, error.message);
      }
      if (queries >= maxConcurrentQueries) {
        response.setHeader('Retry-After', retryAfterSeconds);
        return answerText(response, 503, `${queries} queries are being answered, which is the limit`);
      }
      queries++;
      const result = await queryTargets(targets(), kinds, query, options.nextPollInMs).finally(() => {
        queries--;
      });
      if (!response.destroyed) await answer(query, result, request, response);
    };

  return [
    {
      path: '/',
      methods: ['GET'],
      headers: statusPageHeaders,
      handle: handle((query, result, _, response) => {
        const { kinds: names, build, nextPollInMs, telemetryPath } = options;
        const exporter = options.exporterStatus();
        const links = linksOf(telemetryPath);
        const nowMs = Date.now();
        const page = { kinds: names, build, exporter, result, query, nextPollInMs, links, nowMs };
        answerWhole(response, 'text/html', renderStatusPage(page));
      }),
    },
    {
      path: '/api/v1/targets',
      methods: ['GET'],
      handle: handle((query, result, { method }, response) => {
        const { matching } = result;
        const shown =
          query.page === undefined
            ? { items: matching, page: 1, pages: 1 }
            : pageOf(matching, query.page, targetsPerPage);
        response.setHeader('Content-Type', 'application/json; charset=utf-8');
        if (method === 'HEAD') return void response.end();
        const parts = renderTargets(result, shown, options.nextPollInMs, Date.now());
        return readers.serve(response, () => send(response, parts));
      }),
    },
  ];
}

/** Links are relative, so that they hold behind a proxy that serves the pages under a path of its own. */
function linksOf(telemetryPath: string) {
  return [
    { href: `.${telemetryPath}`, text: 'Metrics' },
    { href: './api/v1/targets', text: 'JSON' },
    { href: './config', text: 'Config' },
    { href: './-/healthy', text: 'Health' },
    { href: './-/ready', text: 'Ready' },
  ];
}

/** Sends the parts at the pace of the reader; resolves when the response closed. */
async function send(response: WebResponse, parts: AsyncIterable<string>): Promise<void> {
  const closed = once(response, 'close');
  for await (const part of parts) {
    if (response.destroyed) return;
    if (!response.write(part)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
  await closed;
}
