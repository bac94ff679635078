/** Explains an error below HTTP: which host, what happened, what to check. */
import { errors } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ApiName } from '../resources/resource.ts';
import { tooLong } from './body.ts';
import { ApiError } from './errors.ts';

/** Matched against the name, code and message of an error: what happened, and what to check. */
const known: readonly (readonly [sign: RegExp, happened: string, check: 'address' | 'network'])[] = [
  [/ (ENOTFOUND|EAI_\w+) /, 'cannot be found', 'address'],
  [/ ECONNREFUSED /, 'refuses connections', 'address'],
  [/ (ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT) /, 'cannot be reached', 'network'],
  [/ (ECONNRESET|EPIPE|UND_ERR_SOCKET) /, 'closed the connection before the answer was complete', 'network'],
  [
    /wrong version number|packet length too long|http request/,
    'does not speak TLS, and base_url begins with https',
    'address',
  ],
  [/^HTTPParserError .*does not match the HTTP/, 'does not answer in HTTP', 'address'],
];

const certificateCodes = /CERT|SIGNATURE|^ERR_TLS_CERT/;

/** The code of an error; if several addresses were tried, that of the first attempt. */
function codeOf(cause: unknown): string {
  const { code, errors: attempts } = cause as NodeJS.ErrnoException & { errors?: readonly unknown[] };
  return code ?? (attempts?.[0] as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function messageOf(cause: unknown, api: ApiName, { baseUrl }: ApiConfig, hasProxy: boolean): string {
  const code = codeOf(cause);
  const { message } = cause as Error;
  const isTls = baseUrl.startsWith('https:');
  const { host } = new URL(baseUrl);
  const who = hasProxy && isTls ? `${host} or the proxy before it` : host;
  const setting = `apis.${api}.base_url`;
  const signs = `${(cause as Error).name} ${code} ${message}`;
  const [, happened, check] = known.find(([sign]) => sign.test(signs)) ?? [];
  if (happened !== undefined) {
    const advice =
      check === 'address' ? `check ${setting}` : 'check the network, firewalls and proxies in between';
    return `${who} ${happened}${code === '' ? '' : ` (${code})`}: ${advice}`;
  }
  if (certificateCodes.test(code)) {
    return `the certificate of ${who} is not accepted: ${message} (${code}): check ${setting} and its ca_file`;
  }
  const reason = message === '' ? code || 'unknown' : message;
  return `${who}: ${code !== '' && !reason.includes(code) ? `${code}: ${reason}` : reason}`;
}

/** The ApiError for what undici threw. */
export function errorOfTransport(
  cause: unknown,
  api: ApiName,
  config: ApiConfig,
  hasProxy: boolean,
): ApiError {
  if (cause instanceof ApiError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined) {
    return new ApiError('network', `the proxy refused the tunnel: HTTP ${refusal}`, {}, { cause });
  }
  const wasAborted = code === 'UND_ERR_ABORTED' || (cause as Error).name === 'AbortError';
  // With an API only our deadline can pass; these two come from a proxy that does not answer.
  const isOfProxy =
    cause instanceof errors.HeadersTimeoutError || (hasProxy && cause instanceof errors.ConnectTimeoutError);
  if (wasAborted || isOfProxy) {
    return new ApiError('timeout', `no whole answer within ${config.timeoutMs} ms`, {}, { cause });
  }
  if (cause instanceof errors.ResponseExceededMaxSizeError) return tooLong(config.maxResponseBytes, {});
  return new ApiError('network', messageOf(cause, api, config, hasProxy), {}, { cause });
}
