/** Reads the forward proxy from the environment, as curl does. Its address may hold a password: no message has it. */
import type { Environment } from '../env.ts';

export interface ForwardProxy {
  /** Only https goes through it: with plain http, which is for loopback, it would see the key. */
  readonly url: string;
  /** The variable that it comes from, for messages. */
  readonly variable: string;
  /** The hosts to connect to directly, in the format of NO_PROXY. */
  readonly except: string;
}

/** What failed between us and the proxy, so not the API's fault. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  override readonly cause: Error;

  constructor(cause: Error) {
    super('the proxy failed');
    this.cause = cause;
  }
}

/** The proxy that requests to this address go through; undefined if they go directly. */
export function proxyOf(baseUrl: string, proxy: ForwardProxy | undefined): ForwardProxy | undefined {
  const url = new URL(baseUrl);
  if (!proxy || url.protocol !== 'https:') return undefined;
  const entries = proxy.except.toLowerCase().split(/[,\s]+/);
  return entries.some((entry) => matches(url, entry)) ? undefined : proxy;
}

/** Whether an entry of NO_PROXY means this host: its name, that of a domain above it, an address, or `*`; with or without a port. */
function matches({ hostname, port }: URL, entry: string): boolean {
  const [, host = '', entryPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [entry, entry];
  const name = host.replace(/^\*?\.|^\[|\]$/g, '');
  const wanted = hostname.replace(/^\[|\]$/g, '');
  if (entryPort !== undefined && entryPort !== (port || '443')) return false;
  return name === '*' || (name !== '' && (wanted === name || wanted.endsWith(`.${name}`)));
}

/** Variables that may hold the password of a proxy. */
export const proxyVariables = [
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'ALL_PROXY',
  'all_proxy',
];

/** As curl, HTTPS_PROXY before ALL_PROXY. @throws if it is not a usable proxy address */
export function proxyFrom(env: Environment): ForwardProxy | undefined {
  const variable = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].find((name) => env[name]);
  const url = variable && env[variable];
  if (!url) return undefined;
  if (!isUsable(url))
    throw new Error(
      `${variable}: expected http://HOST:PORT or https://HOST:PORT, with USER@ or USER:PASSWORD@ where the proxy asks for it`,
    );
  return { url, variable, except: env['NO_PROXY'] ?? env['no_proxy'] ?? '' };
}

function isUsable(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(username + password);
    return username !== '' || password === '';
  } catch {
    return false;
  }
}
