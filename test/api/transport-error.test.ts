import { expect, it } from 'vitest';
import { ProxyError } from '../../src/api/proxy.ts';
import { errorOfTransport } from '../../src/api/transport-error.ts';

const config = {
  baseUrl: 'https://api.example:8443/mc',
  timeoutMs: 60_000,
  maxConcurrency: 8,
  requestsPerSecond: 10,
  maxRetries: 2,
  maxResponseBytes: 100_000,
  names: {
    host: ['apis.application.base_url'],
    authorities: ['apis.application.ca_file'],
  },
};

const proxy = { url: 'http://user:hidden@proxy.example:3128', variable: 'HTTPS_PROXY', except: '' };

function textsOf(cause: Error) {
  const { message, advice } = errorOfTransport(cause, config, proxy);
  return [message, advice];
}

const errorWith = (code: string, message = `connect ${code}`) => Object.assign(new Error(message), { code });

it.each([
  ['ENOTFOUND', 'host not found (ENOTFOUND)', 'Check apis.application.base_url and the DNS of this machine.'],
  ['EAI_AGAIN', 'host not found (EAI_AGAIN)', 'Check apis.application.base_url and the DNS of this machine.'],
  ['ETIMEDOUT', 'host cannot be reached (ETIMEDOUT)', undefined],
])('%s says what happened, and apart from that what to check where that is known', (code, ...texts) => {
  expect(textsOf(errorWith(code))).toEqual(texts);
});

it('what fails at the proxy is reported with its address, without its password, and the variable to check', () => {
  const ofProxy = (...error: Parameters<typeof errorWith>) => textsOf(new ProxyError(errorWith(...error)));
  expect(ofProxy('ENOTFOUND')).toEqual([
    'the proxy proxy.example:3128: host not found (ENOTFOUND)',
    'Check HTTPS_PROXY and the DNS of this machine.',
  ]);
  expect(ofProxy('EPROTO', 'wrong version number')).toEqual([
    'the proxy proxy.example:3128: no TLS, though the address begins with https (EPROTO)',
    'Check HTTPS_PROXY.',
  ]);
  expect(ofProxy('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed')).toEqual([
    'the proxy proxy.example:3128: certificate not accepted: self-signed (SELF_SIGNED_CERT_IN_CHAIN)',
    'Check HTTPS_PROXY and NODE_EXTRA_CA_CERTS.',
  ]);
  expect(ofProxy('UND_ERR_ABORTED', 'Proxy response (407) !== 200 when HTTP Tunneling')).toEqual([
    'the proxy proxy.example:3128 refused the tunnel: HTTP 407',
    'Check HTTPS_PROXY.',
  ]);
  expect(ofProxy('UND_ERR_ABORTED', 'Proxy response (502) !== 200 when HTTP Tunneling')).toEqual([
    'the proxy proxy.example:3128 refused the tunnel: HTTP 502',
    'Check apis.application.base_url and HTTPS_PROXY.',
  ]);
});

it.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'Check apis.application.base_url and apis.application.ca_file.'],
  ['CERT_HAS_EXPIRED', 'Check apis.application.base_url and the clock of this machine.'],
  ['CERT_NOT_YET_VALID', 'Check the clock of this machine.'],
])('says why a certificate is not accepted, and what decides that: %s', (code, advice) => {
  expect(textsOf(errorWith(code, 'why'))).toEqual([`certificate not accepted: why (${code})`, advice]);
});
