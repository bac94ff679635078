/** Reads the forward proxy from the environment, as curl does. Its address may hold a password: no message has it. */

export interface ForwardProxy {
  /** Only https goes through it: with plain http, which is for loopback, it would see the key. */
  readonly url: string;
  /** The hosts to connect to directly, in the format of NO_PROXY. */
  readonly except: string;
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

/** @throws if HTTPS_PROXY is not a usable proxy address */
export function proxyFrom(env: Readonly<Record<string, string | undefined>>): ForwardProxy | undefined {
  const variable = env['HTTPS_PROXY'] ? 'HTTPS_PROXY' : 'https_proxy';
  const url = env[variable];
  if (!url) return undefined;
  if (!isUsable(url))
    throw new Error(
      `${variable}: expected http://HOST:PORT or https://HOST:PORT, with USER:PASSWORD@ where the proxy asks for it`,
    );
  return { url, except: env['NO_PROXY'] ?? env['no_proxy'] ?? '' };
}

function isUsable(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(username + password);
    return (username === '') === (password === '');
  } catch {
    return false;
  }
}
