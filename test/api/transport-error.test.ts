import { expect, it } from 'vitest';
import { ProxyError } from '../../src/api/proxy.ts';
import { errorOfTransport } from '../../src/api/transport-error.ts';

const config = {
  baseUrl: 'https://api.example:8443/mc',
  timeoutMs: 10_000,
  maxConcurrency: 8,
  requestsPerSecond: 10,
  maxRetries: 2,
  maxResponseBytes: 100_000,
};

const proxy = { url: 'http://user:hidden@proxy.example:3128', variable: 'HTTPS_PROXY', except: '' };

function messageOf(code: string, message = `connect ${code}`): string {
  const cause = Object.assign(new Error(message), { code });
  return errorOfTransport(cause, 'application', config, proxy).message;
}

function messageOfProxy(code: string, message = `connect ${code}`): string {
  const cause = new ProxyError(Object.assign(new Error(message), { code }));
  return errorOfTransport(cause, 'application', config, proxy).message;
}

it.each([
  ['ENOTFOUND', 'api.example:8443 cannot be found (ENOTFOUND): check apis.application.base_url'],
  ['EAI_AGAIN', 'api.example:8443 cannot be found (EAI_AGAIN): check apis.application.base_url'],
  ['ECONNREFUSED', 'api.example:8443 refuses connections (ECONNREFUSED): check apis.application.base_url'],
  [
    'ETIMEDOUT',
    'api.example:8443 cannot be reached (ETIMEDOUT): check the network, firewalls and proxies in between',
  ],
  [
    'ECONNRESET',
    'api.example:8443 closed the connection before the answer was complete (ECONNRESET): check the network, firewalls and proxies in between',
  ],
])('%s is reported with the host and what to check', (code, message) => {
  expect(messageOf(code)).toBe(message);
});

it('what fails at the proxy is reported with its address, without its password, and the variable to check', () => {
  expect(messageOfProxy('ENOTFOUND')).toBe(
    'the proxy proxy.example:3128 cannot be found (ENOTFOUND): check HTTPS_PROXY',
  );
  expect(messageOfProxy('EPROTO', 'wrong version number')).toBe(
    'the proxy proxy.example:3128 does not speak TLS, and its address begins with https (EPROTO): check HTTPS_PROXY',
  );
  expect(messageOfProxy('CERT_HAS_EXPIRED', 'certificate has expired')).toBe(
    'the certificate of the proxy proxy.example:3128 is not accepted: certificate has expired (CERT_HAS_EXPIRED): check HTTPS_PROXY and NODE_EXTRA_CA_CERTS',
  );
});

it('says why a certificate is not accepted, and which settings decide that', () => {
  expect(messageOf('CERT_HAS_EXPIRED', 'certificate has expired')).toBe(
    'the certificate of api.example:8443 is not accepted: certificate has expired (CERT_HAS_EXPIRED): check apis.application.base_url and its ca_file',
  );
});

it('reports any other error with the host', () => {
  expect(messageOf('EODD', 'odd')).toBe('api.example:8443: EODD: odd');
});
