/** Explains an error below HTTP: what happened, and what to check where that is known. Who reports it names the API's host. */
import type { ApiConfig } from '../config/config.ts';
import { formatDuration } from '../text.ts';
import { tooLong } from './body.ts';
import { ApiError, checkAdvice } from './errors.ts';
import { type ForwardProxy, ProxyError, proxyOf } from './proxy.ts';
import { errors } from './undici.ts';

/** Matched against the name, code and message of an error: what happened, and what to check beside the address, where that is known. */
const known: readonly (readonly [sign: RegExp, happened: string, checks?: readonly string[]])[] = [
  [/ (ENOTFOUND|EAI_\w+) /, 'host not found', ['the DNS of this machine']],
  [/ ECONNREFUSED /, 'connection refused', ['the firewalls in between']],
  [/ (ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT) /, 'host cannot be reached'],
  [/ (ECONNRESET|EPIPE|UND_ERR_SOCKET) /, 'connection closed before the answer was complete'],
  [
    /wrong version number|packet length too long|http request/,
    'no TLS, though the address begins with https',
    [],
  ],
  [/^HTTPParserError .*does not match the HTTP/, 'the answer is not HTTP', []],
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
  /** The settings that have its address. */
  readonly host: readonly string[];
  /** The settings that say which certificates are trusted. */
  readonly authorities: readonly string[];
}

function checksOfCertificate(
  code: string,
  host: readonly string[],
  authorities: readonly string[],
): readonly string[] {
  const clock = 'the clock of this machine';
  if (code === 'CERT_NOT_YET_VALID') return [clock];
  return [...host, ...(code === 'CERT_HAS_EXPIRED' ? [clock] : authorities)];
}

function errorOf(cause: unknown, { prefix, host, authorities }: Peer): ApiError {
  const code = codeOf(cause);
  const { name, message } = cause as Error;
  const error = (what: string, advice?: string) =>
    new ApiError('network', `${prefix}${what}`, {}, { cause, advice });
  const [, happened, checks] = known.find(([sign]) => sign.test(`${name} ${code} ${message}`)) ?? [];
  if (happened !== undefined) {
    const advice = checks && checkAdvice(...host, ...checks);
    return error(`${happened}${code === '' ? '' : ` (${code})`}`, advice);
  }
  if (certificateCodes.test(code)) {
    const checks = checksOfCertificate(code, host, authorities);
    return error(`certificate not accepted: ${message} (${code})`, checkAdvice(...checks));
  }
  const reason = message === '' ? code || 'unknown' : message;
  return error(code !== '' && !reason.includes(code) ? `${code}: ${reason}` : reason);
}

/** The ApiError for what undici threw. proxy: that of the environment, whether or not this API goes through it. */
export function errorOfTransport(
  error: unknown,
  config: ApiConfig,
  proxy: ForwardProxy | undefined,
): ApiError {
  if (error instanceof ApiError) return error;
  const isOfProxy = error instanceof ProxyError;
  const cause = isOfProxy ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  const through = proxyOf(config.baseUrl, proxy);
  const name = through && `the proxy ${new URL(through.url).host}`;
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined && through) {
    // With 502, 503 or 504 it is the proxy that does not reach the host.
    const host = Number(refusal) >= 500 ? config.names.host : [];
    const advice = checkAdvice(...host, through.variable);
    return new ApiError('network', `${name} refused the tunnel: HTTP ${refusal}`, {}, { cause, advice });
  }
  const within = `within ${formatDuration(config.timeoutMs)}`;
  const wasAborted = code === 'UND_ERR_ABORTED' || (cause as Error).name === 'AbortError';
  const isUnconnected = cause instanceof errors.ConnectTimeoutError;
  // With an API only our deadline can pass; these two come from a proxy that does not answer.
  const isSilentProxy = cause instanceof errors.HeadersTimeoutError || (through && isUnconnected);
  if (isSilentProxy && through) {
    const advice = checkAdvice(...config.names.host, through.variable);
    return new ApiError('timeout', `no connection through ${name} ${within}`, {}, { cause, advice });
  }
  if (wasAborted || isSilentProxy) return new ApiError('timeout', `no whole answer ${within}`, {}, { cause });
  if (cause instanceof errors.ResponseExceededMaxSizeError) return tooLong(config.maxResponseBytes, {});
  if (isOfProxy && through)
    return errorOf(cause, {
      prefix: `${name}: `,
      host: [through.variable],
      authorities: ['NODE_EXTRA_CA_CERTS'],
    });
  return errorOf(cause, { prefix: '', ...config.names });
}
