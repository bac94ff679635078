/** The simulated account as a whole exporter reads it in process: every kind, as `everything` configures it. */
import { createApi } from '../../simulator/api.ts';
import { createDataset, createKeys, type Shape, scales } from '../../simulator/dataset.ts';
import { everything } from '../../simulator/everything.ts';
import { bytesOf, replyOf } from '../../simulator/reply.ts';
import { baseUrlsOf } from '../../simulator/simulator.ts';
import { type Request, type Route, reply } from './whole.ts';

interface AccountOptions {
  /** Sizes that replace those of the small scale. */
  readonly shape?: Partial<Shape> | undefined;
  /** Default: every kind. */
  readonly kinds?: readonly string[];
  /** True: targets are named one by one. */
  readonly isNamed?: boolean;
}

/** The document, the environment and the routes of a whole. */
export function simulateAccount({ shape, ...options }: AccountOptions = {}) {
  const dataset = createDataset(1, { ...scales.small, ...shape });
  const keys = createKeys(1, dataset.libraryIds);
  const api = createApi({ dataset, keys, now: () => Date.now(), maxPageSize: 1000 });
  const answer: Route = ({ path, query, key }: Request) => {
    const ask = (prefix: string) =>
      api.handle({ method: 'GET', url: `${prefix}${path}?${query.toString()}`, key });
    // In a whole, the video API has the same address as the others.
    const plain = ask('');
    const { status, headers, body } = replyOf((plain.operation ? plain : ask('/video')).answer);
    return reply(status, bytesOf({ status, headers, body }).toString(), headers as Record<string, string>);
  };
  const { document, env } = everything({ ...dataset, keys, baseUrls: baseUrlsOf('') }, options);
  const { apis: _, ...sections } = document;
  return { document: sections, env, routes: { '*': answer }, answer };
}
