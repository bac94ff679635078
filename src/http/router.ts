/** Finds the route of a request and runs it. */
import { answerText } from './answer.ts';
import type { Route, WebLog, WebRequest, WebResponse } from './route.ts';

/** `target` is the request target as it was sent; headers in `fixed` win over the route's. */
export type Router = (
  request: WebRequest,
  response: WebResponse,
  target: string,
  fixed: ReadonlyMap<string, string>,
) => Promise<void>;

export function createRouter(routes: readonly Route[], log: WebLog): Router {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const pages = [...byPath.keys()].join(', ');

  return async (request, response, target, fixed) => {
    // Only a plain path can name a page: not a URL with a host, not `*`.
    if (!target.startsWith('/')) return answerText(response, 400);
    const queryAt = target.indexOf('?');
    const path = queryAt < 0 ? target : target.slice(0, queryAt);
    // Compared byte for byte, without decoding or normalising.
    const route = byPath.get(path);
    if (!route) return answerText(response, 404, `Not found. Pages: ${pages}`);
    const { method = '' } = request;
    if (!route.methods.some((allowed) => allowed === (method === 'HEAD' ? 'GET' : method))) {
      response.setHeader('Allow', route.methods.join(', ').replace('GET', 'GET, HEAD'));
      return answerText(response, 405);
    }
    try {
      for (const [name, value] of [...Object.entries((await route.headers?.()) ?? {}), ...fixed])
        response.setHeader(name, value);
      await route.handle(request, response, new URLSearchParams(queryAt < 0 ? '' : target.slice(queryAt)));
    } catch (err) {
      log.error({ err, path: route.path }, 'A page failed; the client got a 500 or was cut off');
      if (response.headersSent) response.destroy();
      else {
        for (const name of ['Content-Encoding', 'Content-Length', 'ETag']) response.removeHeader(name);
        for (const [name, value] of fixed) response.setHeader(name, value);
        answerText(response, 500);
      }
    }
  };
}
