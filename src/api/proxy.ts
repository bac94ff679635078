/** The forward proxy that the environment names, as curl and others read it. It never shows what it read: there may be a password. */

export interface ForwardProxy {
  /** May hold a password. Plain http, which is for loopback, never goes through it: the proxy would see the key. */
  readonly url: string;
  /** The hosts that are asked directly, as NO_PROXY lists them. */
  readonly except: string;
}

/** Variables that may hold a password of a proxy. */
export const proxyVariables = [
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'ALL_PROXY',
  'all_proxy',
];

/** Throws where HTTPS_PROXY is no address of a proxy that can be used. */
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
