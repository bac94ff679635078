/** The connections to one API: their number, the largest answer, the certificates they trust, and the proxy. */
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ForwardProxy } from './proxy.ts';

/** Node loads TLS for those alone that use it: it takes a tenth of the time to start. */
function publicAuthorities(): readonly string[] {
  return process.getBuiltinModule('node:tls').rootCertificates;
}

export function createPool(config: ApiConfig, proxy: ForwardProxy | undefined): Dispatcher {
  const { baseUrl, authorities, timeoutMs } = config;
  const tls = {
    // Set here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    ...(authorities === undefined ? {} : { ca: [...publicAuthorities(), authorities] }),
  };
  const options = {
    connections: config.maxConcurrency,
    pipelining: 1,
    maxResponseSize: config.maxResponseBytes,
    // The client has one deadline for the whole request instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
  };
  if (!proxy || !baseUrl.startsWith('https:')) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: tls,
    proxyTls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    // A CONNECT that the proxy never answers must not outlive the request that needed it.
    clientFactory: (origin, settings) => new Pool(origin, { ...settings, headersTimeout: timeoutMs }),
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.except,
  });
}
