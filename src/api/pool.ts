/** The connections to one API: their number, the largest answer, the certificates they trust, and the proxy. */
import { readFileSync } from 'node:fs';
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ForwardProxy } from './proxy.ts';

/**
 * The connections to a proxy. Where it closes one instead of answering the CONNECT, undici would ask again without end, for it
 * takes the error for that of a connection which had been used before.
 */
function createTunnels(origin: URL, settings: Pool.Options): Pool {
  const pool = new Pool(origin, settings);
  const connect = pool.connect.bind(pool);
  const connectOnce = (options: Parameters<typeof connect>[0]) =>
    connect(options).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'UND_ERR_SOCKET') error.code = 'ECONNRESET';
      throw error;
    });
  return Object.assign(pool, { connect: connectOnce });
}

/**
 * How long an idle connection is kept where the API does not say: from one poll of an application to the next, so that TLS
 * need not be agreed on anew each minute.
 */
const keepAliveMs = 70_000;

/** What Node trusts where nothing else is said: the public authorities, and those of NODE_EXTRA_CA_CERTS. */
function defaultAuthorities(): readonly string[] {
  const tls: typeof import('node:tls') & { getCACertificates?: () => string[] } =
    process.getBuiltinModule('node:tls');
  // Node 20 does not have it.
  if (tls.getCACertificates) return tls.getCACertificates();
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    return [...tls.rootCertificates, ...(file ? [readFileSync(file, 'utf8')] : [])];
  } catch {
    // Node has warned of it at the start.
    return tls.rootCertificates;
  }
}

export function createPool(config: ApiConfig, proxy: ForwardProxy | undefined): Dispatcher {
  const { baseUrl, authorities, timeoutMs } = config;
  const tls = {
    // Set here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    // undici keeps what waits for a connection, also when nobody waits for its answer any more.
    timeout: timeoutMs,
    ...(authorities === undefined ? {} : { ca: [...defaultAuthorities(), authorities] }),
  };
  const options = {
    connections: config.maxConcurrency,
    pipelining: 1,
    maxResponseSize: config.maxResponseBytes,
    keepAliveTimeout: keepAliveMs,
    // The client has one deadline for the whole request instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
  };
  if (!proxy || !baseUrl.startsWith('https:')) return new Pool(new URL(baseUrl).origin, options);
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: tls,
    proxyTls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', timeout: timeoutMs },
    // A CONNECT that the proxy never answers must not outlive the request that needed it.
    clientFactory: (origin, settings) => createTunnels(origin, { ...settings, headersTimeout: timeoutMs }),
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.except,
  });
}
