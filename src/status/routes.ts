/** The pages beside /metrics: health, readiness, reload, the configuration, the hostnames, and the targets as HTML and as JSON. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerText, answerWhole } from '../http/answer.ts';
import type { Route } from '../http/route.ts';
import { mapParts, send } from '../http/send.ts';
import { nextTurn } from '../turns.ts';
import { statusPageHeaders } from './assets.ts';
import { answerHostnames, type HostnamesOptions } from './hostnames.ts';
import { renderJson } from './json.ts';
import { renderStatusPage } from './page.ts';
import { parseQuery, QueryError, type StatusQuery } from './query.ts';
import { buildView, type StatusSources, type View } from './view.ts';

export interface PagesOptions extends StatusSources, HostnamesOptions {
  /** Whether anything was read, or there was nothing to read. */
  readonly hasRead: () => boolean;
  /** Replaces all known keys in a text. */
  readonly hide: (text: string) => string;
  /** The current configuration, without any secret. */
  readonly config: () => unknown;
  /** Undefined where the lifecycle pages are off. Rejects with what is wrong with the new configuration. */
  readonly reload: (() => Promise<void>) | undefined;
}

type Handler = Route['handle'];

export function createPages(options: PagesOptions): readonly Route[] {
  const { hide, config } = options;
  const about = viewer(options);
  const status = about(async (view, _, response) => {
    // Where thousands fail, to select, to render and to hide take their time each.
    await nextTurn();
    if (response.destroyed) return;
    const text = renderStatusPage(view);
    await nextTurn();
    if (response.destroyed) return;
    await answerWhole(response, 'text/html', hide(text));
  }, 1);
  const json = about((view, { method }, response) => {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    if (method === 'HEAD') return void response.end();
    return send(response, mapParts(renderJson(view), hide));
  });
  const page = (path: string, handle: Handler): Route => ({ path, methods: ['GET'], handle });
  return [
    { ...page('/', status), headers: statusPageHeaders },
    page('/api/v1/targets', json),
    page('/config', (_, response) =>
      answerWhole(response, 'application/json', hide(`${JSON.stringify(config(), undefined, 2)}\n`)),
    ),
    page('/sd/hostnames', (...given) => answerHostnames(options, ...given)),
    page('/-/healthy', (_, response) => answerText(response, 200, 'healthy')),
    page('/-/ready', readiness(options)),
    { path: '/-/reload', methods: ['POST'], handle: (_, response) => answerReload(response, options) },
  ];
}

type ShowView = (view: View, request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** How many may look at the targets at the same time; one more is answered with a 503. */
const maxViewers = 16;
const retryAfterSeconds = 1;

/** Answers with what a query asks for. defaultPage: undefined for all targets. */
function viewer(sources: StatusSources): (show: ShowView, defaultPage?: number) => Handler {
  const kinds = sources.kinds.map(({ kind }) => kind);
  const states = sources.kinds.flatMap(({ condition }) => Object.keys(condition?.states ?? {}));
  const conditions = [...new Set(states)];
  let viewers = 0;
  return (show, defaultPage) => async (request, response, params) => {
    let query: StatusQuery;
    try {
      query = parseQuery(params, kinds, conditions, sources.accounts());
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return answerText(response, 400, error.message);
    }
    if (viewers >= maxViewers) {
      response.setHeader('Retry-After', retryAfterSeconds);
      return answerText(response, 503, `${viewers} queries are being answered, which is the limit`);
    }
    viewers++;
    const paged = { ...query, page: query.page ?? defaultPage };
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    let view: View;
    try {
      view = await buildView(sources, paged, Date.now(), closed.signal);
    } catch (error) {
      if (closed.signal.aborted) return;
      throw error;
    } finally {
      viewers--;
    }
    if (!response.destroyed) await show(view, request, response);
  };
}

/** Polls may still fail: an outage of the API must not take the exporter out of its service. */
const strictlyReady =
  'ready: everything was polled once, and something could be read; what fails is on the status page';

/** With `?strict` it also waits for the first successful read, if there is anything to read. */
function readiness({ isReady, hasRead }: PagesOptions): Handler {
  return (_, response, params) => {
    const isStrict = params.has('strict');
    if (!isReady()) answerText(response, 503, 'not ready: some targets have not been polled yet');
    else if (isStrict && !hasRead())
      answerText(response, 503, 'not ready: nothing could be read yet; the status page says why');
    else answerText(response, 200, isStrict ? strictlyReady : 'ready');
  };
}

async function answerReload(response: ServerResponse, { hide, reload }: PagesOptions): Promise<void> {
  if (!reload) {
    const reason = 'reloading over HTTP is off; start with --web.enable-lifecycle to allow it';
    return answerText(response, 403, reason);
  }
  try {
    await reload();
    answerText(response, 200, 'the configuration was reloaded');
  } catch (error) {
    answerText(response, 400, hide(`keeping the previous configuration:\n${(error as Error).message}`));
  }
}
