import { expect, it } from 'vitest';
import { errorOfTransport } from '../../src/api/transport-error.ts';

const config = {
  baseUrl: 'https://api.example:8443/mc',
  timeoutMs: 10_000,
  maxConcurrency: 8,
  requestsPerSecond: 10,
  maxRetries: 2,
  maxResponseBytes: 100_000,
};

function messageOf(code: string, { message = `connect ${code}`, hasProxy = false } = {}): string {
  const cause = Object.assign(new Error(message), { code });
  return errorOfTransport(cause, 'application', config, hasProxy).message;
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

it('does not blame only the host if there is a proxy in between', () => {
  expect(messageOf('ECONNREFUSED', { hasProxy: true })).toContain(
    'api.example:8443 or the proxy before it refuses',
  );
});

it('says why a certificate is not accepted, and which settings decide that', () => {
  expect(messageOf('CERT_HAS_EXPIRED', { message: 'certificate has expired' })).toBe(
    'the certificate of api.example:8443 is not accepted: certificate has expired (CERT_HAS_EXPIRED): check apis.application.base_url and its ca_file',
  );
});

it('reports any other error with the host', () => {
  expect(messageOf('EODD', { message: 'odd' })).toBe('api.example:8443: EODD: odd');
});
