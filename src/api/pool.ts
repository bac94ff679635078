/** The connections to one API: how many, how much of an answer they take, whom they trust, and through which proxy. */
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { ApiConfig } from '../config/config.ts';
import type { ForwardProxy } from './proxy.ts';

export function createPool(config: ApiConfig, proxy: ForwardProxy | undefined): Dispatcher {
  const { baseUrl, authorities, timeoutMs } = config;
  const tls = {
    // Said here, so that no variable of the environment can say otherwise.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    ...(authorities === undefined ? {} : { ca: [...rootCertificates, authorities] }),
  };
  const options = {
    connections: config.maxConcurrency,
    pipelining: 1,
    maxResponseSize: config.maxResponseBytes,
    // The deadline of the whole request stands for these.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
  };
  if (!proxy || !baseUrl.startsWith('https:')) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: tls,
    proxyTls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    // A proxy that takes a CONNECT and never answers must not outlast the request that asked for it.
    clientFactory: (origin, settings) => new Pool(origin, { ...settings, headersTimeout: timeoutMs }),
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.except,
  });
}
