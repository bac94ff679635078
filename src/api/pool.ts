/** The connections to one API: how many, how much of an answer they take, whom they trust, and through which proxy. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import type { ApiConfig } from '../config/config.ts';

/** As the environment gives it. Plain http, which is for loopback, never goes through it: the proxy would see the key. */
export interface ForwardProxy {
  /** HTTPS_PROXY: may hold a password. */
  readonly url: string;
  /** NO_PROXY. */
  readonly except: string;
}

export function createPool(config: ApiConfig, proxy: ForwardProxy | undefined): Dispatcher {
  const { baseUrl, caFile } = config;
  const tls = caFile === undefined ? {} : { ca: [...rootCertificates, readFileSync(caFile, 'utf8')] };
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
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.except,
  });
}
