/** Explains an error below HTTP: what happened, and what to check where that is known. Who reports it names the API's host. */

import type { ApiConfig } from '../config/config.ts';
import type { ApiName } from '../resources/resource.ts';
import { formatDuration } from '../text.ts';
import { tooLong } from './body.ts';
import { ApiError } from './errors.ts';
import { type ForwardProxy, ProxyError, proxyOf } from './proxy.ts';
import { errors } from './undici.ts';

/** Matched against the name, code and message of an error: what happened, and what to check beside the address. */
const known: readonly (readonly [sign: RegExp, happened: string, check?: string])[] = [
  [/ (ENOTFOUND|EAI_\w+) /, 'host not found', ' and the DNS of this machine'],
  [/ ECONNREFUSED /, 'connection refused', ' and the firewalls in between'],
  [/ (ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT) /, 'host cannot be reached'],
  [/ (ECONNRESET|EPIPE|UND_ERR_SOCKET) /, 'connection closed before the answer was complete'],
  [
    /wrong version number|packet length too long|http request/,
    'no TLS, though the address begins with https',
    '',
  ],
  [/^HTTPParserError .*does not match the HTTP/, 'the answer is not HTTP', ''],
];

const certificateCodes = /CERT|SIGNATURE|^ERR_TLS_CERT/;

/** The code of an error; if several addresses were tried, that of the first attempt. */
function codeOf(cause: unknown): string {
  const { code, errors: attempts } = cause as NodeJS.ErrnoException & { errors?: readonly unknown[] };
  return code ?? (attempts?.[0] as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** What we connect to: the API, or the proxy on the way to it. */
interface Peer {
  /** What each message begins with. Without the password of a proxy. */
  readonly prefix: string;
  /** The setting that has its address. */
  readonly setting: string;
  /** The setting that says which certificates are trusted. */
  readonly trust: string;
}

function errorOf(cause: unknown, { prefix, setting, trust }: Peer): ApiError {
  const code = codeOf(cause);
  const { name, message } = cause as Error;
  const error = (what: string, advice?: string) =>
    new ApiError('network', `${prefix}${what}`, {}, { cause, advice });
  const [, happened, check] = known.find(([sign]) => sign.test(`${name} ${code} ${message}`)) ?? [];
  if (happened !== undefined) {
    const advice = check === undefined ? undefined : `Check ${setting}${check}.`;
    return error(`${happened}${code === '' ? '' : ` (${code})`}`, advice);
  }
  if (certificateCodes.test(code))
    return error(`certificate not accepted: ${message} (${code})`, `Check ${setting} and ${trust}.`);
  const reason = message === '' ? code || 'unknown' : message;
  return error(code !== '' && !reason.includes(code) ? `${code}: ${reason}` : reason);
}

/** The ApiError for what undici threw. proxy: that of the environment, whether or not this API goes through it. */
export function errorOfTransport(
  error: unknown,
  api: ApiName,
  config: ApiConfig,
  proxy: ForwardProxy | undefined,
): ApiError {
  if (error instanceof ApiError) return error;
  const isOfProxy = error instanceof ProxyError;
  const cause = isOfProxy ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  const through = proxyOf(config.baseUrl, proxy);
  const name = through && `the proxy ${new URL(through.url).host}`;
  const checkProxy = through && { cause, advice: `Check ${through.variable}.` };
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined && through)
    return new ApiError('network', `${name} refused the tunnel: HTTP ${refusal}`, {}, checkProxy);
  const within = `within ${formatDuration(config.timeoutMs)}`;
  const wasAborted = code === 'UND_ERR_ABORTED' || (cause as Error).name === 'AbortError';
  const isUnconnected = cause instanceof errors.ConnectTimeoutError;
  // With an API only our deadline can pass; these two come from a proxy that does not answer.
  const isSilentProxy = cause instanceof errors.HeadersTimeoutError || (through && isUnconnected);
  if (isSilentProxy && through)
    return new ApiError('timeout', `no connection through ${name} ${within}`, {}, checkProxy);
  if (wasAborted || isSilentProxy) return new ApiError('timeout', `no whole answer ${within}`, {}, { cause });
  if (cause instanceof errors.ResponseExceededMaxSizeError) return tooLong(config.maxResponseBytes, {});
  if (isOfProxy && through)
    return errorOf(cause, {
      prefix: `${name}: `,
      setting: through.variable,
      trust: 'NODE_EXTRA_CA_CERTS',
    });
  return errorOf(cause, { prefix: '', setting: `apis.${api}.base_url`, trust: 'its ca_file' });
}
