/** The pages beside /metrics: health, readiness, reload, what is configured and how each target stands. */
import { once } from 'node:events';
import { answerText } from '../http/answer.ts';
import type { Route, WebRequest, WebResponse } from '../http/route.ts';
import type { TargetStatus } from '../polling/target-states.ts';
import { renderTargets } from './json.ts';
import {
  type About,
  type Condition,
  type KindNames,
  renderStatusPage,
  statusPageHeaders,
  targetsPerPage,
} from './page.ts';
import { parseQuery, QueryError, type StatusQuery } from './query.ts';
import { pageOf, type Survey, survey } from './query-targets.ts';

export interface PagesOptions {
  readonly telemetryPath: string;
  /** In the order in which they are shown. */
  readonly kinds: readonly KindNames[];
  readonly about: About;
  /** How the exporter stands now. */
  readonly condition: () => Condition;
  readonly isReady: () => boolean;
  readonly targets: () => readonly TargetStatus[];
  /** Milliseconds from now; 0 while the target is under way or in line, undefined when it is not known. */
  readonly nextPollInMs: (status: TargetStatus) => number | undefined;
  /** The configuration in force, without any secret. */
  readonly config: () => unknown;
  /** Absent where the lifecycle pages are off. Rejects with what is wrong with the new configuration. */
  readonly reload: (() => Promise<void>) | undefined;
}

function answerJson(response: WebResponse, body: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(body, undefined, 2)}\n`);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
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

/** Sends the parts at the reader's pace. */
async function send(response: WebResponse, parts: AsyncIterable<string>): Promise<void> {
  const closed = once(response, 'close');
  for await (const part of parts) {
    if (response.destroyed) return;
    if (!response.write(part)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}

/** Readers of the targets that are answered at the same time; one more gets a 503. */
const maxConcurrentReaders = 16;
const retryAfterSeconds = 1;

export function createPages(options: PagesOptions): readonly Route[] {
  const { telemetryPath, kinds, about, condition, isReady, targets, nextPollInMs, config, reload } = options;
  const kindNames = kinds.map(({ kind }) => kind);
  const links = linksOf(telemetryPath);
  let readers = 0;

  /** A page about the targets that the query of its URL asks for. */
  function aboutTargets(
    answer: (query: StatusQuery, survey: Survey, request: WebRequest, response: WebResponse) => Promise<void>,
  ): Route['handle'] {
    return async (request, response, url) => {
      let query: StatusQuery;
      try {
        query = parseQuery(url.searchParams, kindNames);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        return answerText(response, 400, error.message);
      }
      if (readers >= maxConcurrentReaders) {
        response.setHeader('Retry-After', retryAfterSeconds);
        return answerText(
          response,
          503,
          `${maxConcurrentReaders} readers are being answered, which is the limit`,
        );
      }
      readers++;
      try {
        const found = await survey(targets(), kindNames, query, nextPollInMs);
        if (!response.destroyed) await answer(query, found, request, response);
      } finally {
        readers--;
      }
    };
  }

  return [
    {
      path: '/',
      methods: ['GET'],
      headers: statusPageHeaders,
      handle: aboutTargets((query, found, _, response) => {
        const nowMs = Date.now();
        const page = {
          kinds,
          about,
          condition: condition(),
          survey: found,
          query,
          nextPollInMs,
          links,
          nowMs,
        };
        const bytes = Buffer.from(renderStatusPage(page));
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.setHeader('Content-Length', bytes.length);
        response.end(bytes);
        return Promise.resolve();
      }),
    },
    {
      path: '/api/v1/targets',
      methods: ['GET'],
      handle: aboutTargets(async (query, found, request, response) => {
        const { matching } = found;
        const shown =
          query.page === undefined
            ? { items: matching, page: 1, pages: 1 }
            : pageOf(matching, query.page, targetsPerPage);
        response.setHeader('Content-Type', 'application/json; charset=utf-8');
        if (request.method === 'HEAD') response.end();
        else await send(response, renderTargets(found, shown, nextPollInMs, Date.now()));
      }),
    },
    { path: '/config', methods: ['GET'], handle: (_, response) => answerJson(response, config()) },
    { path: '/-/healthy', methods: ['GET'], handle: (_, response) => answerText(response, 200, 'healthy') },
    {
      path: '/-/ready',
      methods: ['GET'],
      handle: (_, response) =>
        isReady()
          ? answerText(response, 200, 'ready')
          : answerText(response, 503, 'not ready: some targets were not polled yet'),
    },
    {
      path: '/-/reload',
      methods: ['POST'],
      async handle(_, response) {
        if (!reload) {
          answerText(
            response,
            403,
            'reloading over HTTP is off; start with --web.enable-lifecycle to allow it',
          );
          return;
        }
        try {
          await reload();
          answerText(response, 200, 'the configuration was reloaded');
        } catch (error) {
          answerText(response, 400, `the configuration before stays in force:\n${(error as Error).message}`);
        }
      },
    },
  ];
}
