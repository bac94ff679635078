/** The pages beside /metrics: health, readiness, reload, what is configured and how each target stands. */
import type { TargetStatus } from '../polling/board.ts';
import { answerText } from './answer.ts';
import type { Route, WebResponse } from './route.ts';

export interface PagesOptions {
  readonly telemetryPath: string;
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

function toIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

/** A target as the JSON page tells of it. */
function describeTarget(status: TargetStatus, nextPollInMs: number | undefined) {
  const { target, state, stale, lastSuccessMs, lastDurationSeconds, lastFailure } = status;
  return {
    kind: target.kind,
    ids: target.ids,
    name: target.name ?? null,
    credential: target.credential,
    state,
    stale,
    interval_seconds: target.intervalMs / 1000,
    last_success: toIso(lastSuccessMs),
    last_duration_seconds: lastDurationSeconds ?? null,
    next_poll: nextPollInMs === undefined ? null : toIso(Date.now() + nextPollInMs),
    last_failure: lastFailure
      ? { result: lastFailure.result, reason: lastFailure.message, at: toIso(lastFailure.atMs) }
      : null,
  };
}

const landing = (telemetryPath: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>bunnynet-exporter</title>
<h1>bunnynet-exporter</h1>
<p>Prometheus exporter for bunny.net.</p>
<ul>
<li><a href="${telemetryPath}">${telemetryPath}</a>: the metrics</li>
<li><a href="/api/v1/targets">/api/v1/targets</a>: every target, how it stands and why</li>
<li><a href="/config">/config</a>: the configuration in force</li>
<li><a href="/-/healthy">/-/healthy</a>, <a href="/-/ready">/-/ready</a></li>
</ul>
</html>
`;

export function createPages(options: PagesOptions): readonly Route[] {
  const { telemetryPath, isReady, targets, nextPollInMs, config, reload } = options;
  return [
    {
      path: '/',
      methods: ['GET'],
      handle(_, response) {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(landing(telemetryPath));
      },
    },
    {
      path: '/api/v1/targets',
      methods: ['GET'],
      handle: (_, response) =>
        answerJson(response, {
          targets: targets().map((status) => describeTarget(status, nextPollInMs(status))),
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
