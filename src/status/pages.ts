/** The pages beside /metrics: health, readiness, reload, the configuration, and the targets as HTML and as JSON. */
import type { ServerResponse } from 'node:http';
import { answerText, answerWhole } from '../http/answer.ts';
import type { Route } from '../http/route.ts';
import { createTargetPages, type TargetPagesOptions } from './target-pages.ts';

export interface PagesOptions extends TargetPagesOptions {
  readonly isReady: () => boolean;
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
    createReadyPage(options),
    { path: '/-/reload', methods: ['POST'], handle: (_, response) => answerReload(response, options.reload) },
  ];
}

/** Strictly ready does not mean that nothing fails: an outage of the API must not take the exporter out of its service. */
const strictlyReady =
  'ready: everything was polled once, and something could be read; what fails is on the status page';

/** With `?strict` it also waits for the first successful read, if there is anything to read. */
function createReadyPage({ isReady, targets, listings }: PagesOptions): Route {
  let wasRead = false;
  const isRead = () => {
    const statuses = targets();
    wasRead ||=
      statuses.length === 0
        ? listings().every(({ state }) => state !== 'failing')
        : statuses.some(({ lastSuccessMs }) => lastSuccessMs !== undefined);
    return wasRead;
  };
  return {
    path: '/-/ready',
    methods: ['GET'],
    handle(_, response, query) {
      if (!isReady()) answerText(response, 503, 'not ready: some targets have not been polled yet');
      else if (query.has('strict') && !isRead())
        answerText(response, 503, 'not ready: nothing could be read yet; the status page says why');
      else answerText(response, 200, query.has('strict') ? strictlyReady : 'ready');
    },
  };
}

function answerConfig(response: ServerResponse, config: unknown): void {
  answerWhole(response, 'application/json', `${JSON.stringify(config, undefined, 2)}\n`);
}

async function answerReload(response: ServerResponse, reload: PagesOptions['reload']): Promise<void> {
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
