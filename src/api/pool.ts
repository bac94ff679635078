/** The connections to one API: how many, whom they trust, and through which proxy they go. */
import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ForwardProxy } from './proxy.ts';

/** If a proxy closes the connection instead of answering CONNECT, undici takes it for a stale one and retries forever. */
function createTunnels(origin: URL, settings: Pool.Options): Pool {
  const pool = new Pool(origin, settings);
  const tunnel = pool.connect.bind(pool);
  const connectOnce = (options: Parameters<typeof tunnel>[0]) =>
    tunnel(options).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'UND_ERR_SOCKET') error.code = 'ECONNRESET';
      throw error;
    });
  return Object.assign(pool, { connect: connectOnce });
}

/** For an idle connection, unless the API says otherwise: longer than the usual minute between polls. */
const keepAliveMs = 70_000;

/** What Node trusts by default: the public authorities and those of NODE_EXTRA_CA_CERTS. */
function defaultAuthorities(): readonly string[] {
  // Node 20 does not have it.
  const { getCACertificates } = tls as typeof tls & { getCACertificates?: () => string[] };
  if (getCACertificates) return getCACertificates();
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    return [...tls.rootCertificates, ...(file ? [readFileSync(file, 'utf8')] : [])];
  } catch {
    // Node warned about it at the start.
    return tls.rootCertificates;
  }
}

export function createPool(config: ApiConfig, proxy: ForwardProxy | undefined): Dispatcher {
  const { baseUrl, authorities, timeoutMs } = config;
  const verified = {
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    // Without it undici would wait for a connection long after the request gave up.
    timeout: timeoutMs,
  };
  const trust =
    authorities === undefined ? verified : { ...verified, ca: [...defaultAuthorities(), authorities] };
  const options = {
    connections: config.maxConcurrency,
    pipelining: 1,
    maxResponseSize: config.maxResponseBytes,
    keepAliveTimeout: keepAliveMs,
    // Each request has one deadline for all of it instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: trust,
  };
  if (!proxy || !baseUrl.startsWith('https:')) return new Pool(new URL(baseUrl).origin, options);
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: trust,
    proxyTls: verified,
    // A CONNECT that is never answered must not outlive its request.
    clientFactory: (origin, settings) => createTunnels(origin, { ...settings, headersTimeout: timeoutMs }),
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.except,
  });
}
