/** Explains an error below HTTP: which host, what happened, what to check. */
import { errors } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ApiName } from '../resources/resource.ts';
import { tooLong } from './body.ts';
import { ApiError } from './errors.ts';
import { type ForwardProxy, ProxyError, proxyOf } from './proxy.ts';

/** Matched against the name, code and message of an error: what happened, and what to check. */
const known: readonly (readonly [sign: RegExp, happened: string, check: 'address' | 'network'])[] = [
  [/ (ENOTFOUND|EAI_\w+) /, 'cannot be found', 'address'],
  [/ ECONNREFUSED /, 'refuses connections', 'address'],
  [/ (ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT) /, 'cannot be reached', 'network'],
  [/ (ECONNRESET|EPIPE|UND_ERR_SOCKET) /, 'closed the connection before the answer was complete', 'network'],
  [
    /wrong version number|packet length too long|http request/,
    'does not speak TLS, and its address begins with https',
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

/** Whom we spoke to: the API or the proxy before it, and where its address is set. */
interface Peer {
  /** Without the password of a proxy. */
  readonly who: string;
  readonly setting: string;
  readonly trust: string;
}

function messageOf(cause: unknown, { who, setting, trust }: Peer): string {
  const code = codeOf(cause);
  const { message } = cause as Error;
  const signs = `${(cause as Error).name} ${code} ${message}`;
  const [, happened, check] = known.find(([sign]) => sign.test(signs)) ?? [];
  if (happened !== undefined) {
    const advice =
      check === 'address' ? `check ${setting}` : 'check the network, firewalls and proxies in between';
    return `${who} ${happened}${code === '' ? '' : ` (${code})`}: ${advice}`;
  }
  if (certificateCodes.test(code)) {
    return `the certificate of ${who} is not accepted: ${message} (${code}): check ${setting} and ${trust}`;
  }
  const reason = message === '' ? code || 'unknown' : message;
  return `${who}: ${code !== '' && !reason.includes(code) ? `${code}: ${reason}` : reason}`;
}

/** The ApiError for what undici threw. proxy: that of the environment, whether or not this API goes through it. */
export function errorOfTransport(
  error: unknown,
  api: ApiName,
  config: ApiConfig,
  proxy: ForwardProxy | undefined,
): ApiError {
  if (error instanceof ApiError) return error;
  const through = proxyOf(config.baseUrl, proxy);
  const ofProxy: Peer | undefined = through && {
    who: `the proxy ${new URL(through.url).host}`,
    setting: through.variable,
    trust: 'NODE_EXTRA_CA_CERTS',
  };
  const setting = `apis.${api}.base_url`;
  const ofApi: Peer = { who: new URL(config.baseUrl).host, setting, trust: 'its ca_file' };
  const isOfProxy = error instanceof ProxyError;
  const cause = isOfProxy ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined && ofProxy) {
    const { who, setting: variable } = ofProxy;
    return new ApiError(
      'network',
      `${who} of ${variable} refused the tunnel: HTTP ${refusal}`,
      {},
      { cause },
    );
  }
  const wasAborted = code === 'UND_ERR_ABORTED' || (cause as Error).name === 'AbortError';
  const isUnconnected = cause instanceof errors.ConnectTimeoutError;
  // With an API only our deadline can pass; these two come from a proxy that does not answer.
  const isSilentProxy = cause instanceof errors.HeadersTimeoutError || (ofProxy && isUnconnected);
  if (wasAborted || isSilentProxy) {
    const where = isSilentProxy && ofProxy ? `no connection through ${ofProxy.who}` : 'no whole answer';
    return new ApiError('timeout', `${where} within ${config.timeoutMs} ms`, {}, { cause });
  }
  if (cause instanceof errors.ResponseExceededMaxSizeError) return tooLong(config.maxResponseBytes, {});
  return new ApiError('network', messageOf(cause, isOfProxy && ofProxy ? ofProxy : ofApi), {}, { cause });
}
