import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, formatProblem } from '../../src/config/problems.ts';
import { readWebConfig as read } from '../../src/http/web-config.ts';
import { issue, issueFamily } from './certificates.ts';
import { temporary } from './temporary.ts';

const { ca, server } = issueFamily();
const other = issue({ name: 'other' });
const hash = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';

const readWebConfig = (file: string) => read(file, (path) => readFileSync(path, 'utf8'));

function webFile(yaml: string): string {
  const directory = temporary({
    'web.yml': yaml,
    'server.pem': server.cert,
    'server.key': server.key,
    'other.key': other.key,
    'ca.pem': ca.cert,
    'empty.pem': '',
  });
  return join(directory, 'web.yml');
}

function problems(yaml: string): readonly string[] {
  const file = webFile(yaml);
  try {
    readWebConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => formatProblem(problem).replaceAll(join(file, '..'), ''));
  }
  return [];
}

const tls = 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n';
const indent = (pem: string) => pem.trimEnd().replaceAll(/^/gm, '    ');

describe('a valid file', () => {
  test.each([
    ['an empty file', ''],
    ['comments alone', '# nothing yet\n'],
    [
      'sections without settings',
      'tls_server_config:\nhttp_server_config: {}\nbasic_auth_users:\nrate_limit: ~\n',
    ],
    ['TLS settings that are all blank', "tls_server_config:\n  cert_file:\n  key_file: ''\n"],
  ])('%s: plain HTTP for all', (_name, yaml) => {
    const {
      tls: settings,
      users,
      headers,
      settings: { rate_limit: rate },
    } = readWebConfig(webFile(yaml));
    expect([settings, users.size, [...headers], rate]).toEqual([undefined, 0, [], undefined]);
  });

  test('reads certificate and key beside the file, and asks for TLS 1.2 at least', () => {
    const { tls: settings } = readWebConfig(webFile(tls));
    expect(settings?.options).toMatchObject({
      cert: server.cert,
      key: server.key,
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      requestCert: false,
      honorCipherOrder: true,
    });
    expect(settings?.options.ciphers).toContain('ECDHE-RSA-AES128-GCM-SHA256');
  });

  test('reads certificate, key and authority written in it', () => {
    const yaml = `tls_server_config:
  cert: |
${indent(server.cert)}
  key: |
${indent(server.key)}
  client_ca: |
${indent(ca.cert)}
  client_auth_type: RequireAndVerifyClientCert
`;
    const { tls: settings } = readWebConfig(webFile(yaml));
    expect(settings?.options).toMatchObject({ ca: ca.cert, requestCert: true, rejectUnauthorized: true });
  });

  test.each(['true', 'false'])('takes http2: %s, which has no effect', (http2) => {
    const yaml = `${tls}  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA]\nhttp_server_config: { http2: ${http2} }\n`;
    expect(readWebConfig(webFile(yaml)).tls?.options).not.toHaveProperty('ALPNProtocols');
  });

  test('gives ciphers, curves and versions the names of OpenSSL', () => {
    const yaml = `${tls}  min_version: TLS10
  max_version: TLS12
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_256_CBC_SHA, TLS_AES_128_GCM_SHA256]
  curve_preferences: [X25519, CurveP256]
  prefer_server_cipher_suites: no
`;
    const { tls: settings } = readWebConfig(webFile(yaml));
    expect(settings?.options).toMatchObject({
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.2',
      ciphers:
        'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:' +
        'ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA:@SECLEVEL=0',
      ecdhCurve: 'X25519:P-256',
      honorCipherOrder: false,
    });
  });

  test('keeps users, headers and the rate limit', () => {
    const yaml = `basic_auth_users:
  alice: ${hash}
  on: ${hash.replace('$2y', '$2a')}
http_server_config:
  http2: False
  headers:
    Strict-Transport-Security: max-age=31536000
    X-Frame-Options: deny
    X-XSS-Protection: ''
rate_limit: { interval: 1m30s, burst: 5 }
`;
    const config = readWebConfig(webFile(yaml));
    expect([...config.users.keys()]).toEqual(['alice', 'on']);
    expect(Object.fromEntries(config.headers)).toEqual({
      'Strict-Transport-Security': 'max-age=31536000',
      'X-Frame-Options': 'deny',
    });
    expect(config.settings.rate_limit).toEqual({ intervalMs: 90_000, burst: 5 });
  });

  test.each([
    ['0', undefined],
    ['0s', undefined],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['2000000', 2],
  ])('reads a rate interval of %s like Go', (interval, intervalMs) => {
    const config = readWebConfig(webFile(`rate_limit: { interval: ${interval}, burst: 1 }`));
    expect(config.settings.rate_limit?.intervalMs).toBe(intervalMs);
  });
});

describe('an invalid file is reported with the place and what was expected', () => {
  test.each([
    [
      'an unknown section',
      'tls: {}\n',
      [
        '/web.yml:1: tls: unknown setting; expected tls_server_config, http_server_config, basic_auth_users or rate_limit',
      ],
    ],
    [
      'an unknown setting',
      `${tls}  certfile: x\n`,
      ['/web.yml:4: tls_server_config.certfile: unknown setting (did you mean cert_file?)'],
    ],
    ['a list where settings belong', '- tls\n', ['/web.yml:1: expected a mapping']],
    [
      'a missing key',
      'tls_server_config:\n  cert_file: server.pem\n',
      ['/web.yml:1: tls_server_config: TLS needs key or key_file'],
    ],
    [
      'missing files',
      'tls_server_config:\n  cert_file: no.pem\n  key_file: no.key\n',
      [
        '/web.yml:2: tls_server_config.cert_file: cannot read /no.pem (ENOENT)',
        '/web.yml:3: tls_server_config.key_file: cannot read /no.key (ENOENT)',
      ],
    ],
    [
      "another certificate's key",
      'tls_server_config:\n  cert_file: server.pem\n  key_file: other.key\n',
      ['/web.yml:3: tls_server_config.key_file: this key does not belong to the certificate'],
    ],
    [
      'a certificate twice',
      `${tls}  cert: x\n`,
      ['/web.yml:4: tls_server_config.cert: expected one of cert and cert_file, not both'],
    ],
    [
      'an authority file without a certificate',
      `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: empty.pem\n`,
      ['/web.yml:5: tls_server_config.client_ca_file: expected certificates in PEM'],
    ],
    [
      'an unknown client_auth_type',
      `${tls}  client_auth_type: Maybe\n`,
      [
        '/web.yml:4: tls_server_config.client_auth_type: expected one of NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert',
      ],
    ],
    [
      'names that are not checked',
      `${tls}  client_allowed_sans: [a]\n`,
      [
        expect.stringMatching(
          /^\/web\.yml:4: tls_server_config\.client_allowed_sans: needs a client_auth_type of /,
        ),
      ],
    ],
    [
      'a minimum version above the maximum',
      `${tls}  min_version: TLS13\n  max_version: TLS12\n`,
      ['/web.yml:5: tls_server_config.max_version: expected at least min_version, TLS13'],
    ],
    [
      'an invented cipher',
      `${tls}  cipher_suites:\n    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n    - TLS_MAGIC\n`,
      [
        expect.stringMatching(
          /^\/web\.yml:6: tls_server_config\.cipher_suites\[1\]: expected one of TLS_ECDHE_/,
        ),
      ],
    ],
    [
      'an invented curve',
      `${tls}  curve_preferences: [Curve25519]\n`,
      [
        '/web.yml:4: tls_server_config.curve_preferences[0]: expected one of CurveP256, CurveP384, CurveP521, X25519',
      ],
    ],
    [
      'a header that cannot be set',
      'http_server_config:\n  headers:\n    Server: x\n',
      [
        expect.stringMatching(
          /^\/web\.yml:3: http_server_config\.headers\.Server: unknown setting; expected Content-/,
        ),
      ],
    ],
    [
      'an unknown header value',
      'http_server_config:\n  headers:\n    X-Frame-Options: SAMEORIGIN\n',
      ['/web.yml:3: http_server_config.headers.X-Frame-Options: expected deny or sameorigin'],
    ],
    [
      'no boolean',
      'http_server_config: { http2: 2 }\n',
      ['/web.yml:1: http_server_config.http2: expected true or false'],
    ],
    [
      'an invalid rate limit',
      'rate_limit: { interval: 3 days, burst: -1 }\n',
      [
        '/web.yml:1: rate_limit.interval: expected a duration such as 100ms',
        '/web.yml:1: rate_limit.burst: expected a number, 1 or more',
      ],
    ],
    [
      'a rate limit that lets nothing through',
      'rate_limit: { interval: 1s }\n',
      ['/web.yml:1: rate_limit.burst: expected a number, 1 or more: without it every request would get 429'],
    ],
  ])('%s', (_name, yaml, expected) => {
    expect(problems(yaml)).toEqual(expected);
  });

  test.each([
    'plain-text-password',
    '$1$abc$def',
    '$2y$99$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG',
    '~',
  ])('a password that is no bcrypt hash, without showing it: %s', (password) => {
    const found = problems(`basic_auth_users:\n  alice: ${password}\n`);
    expect(found).toEqual([
      expect.stringMatching(/^\/web\.yml:2: basic_auth_users\.alice: expected a bcrypt hash/),
    ]);
    expect(found.join()).not.toContain(password === '~' ? 'null' : password);
  });

  test('all problems at once', () => {
    const yaml = `http_server_config: { http2: maybe }\nbasic_auth_users: { a: b }\nrate: 1\n`;
    expect(problems(yaml).map((problem) => problem.split(': ')[1])).toEqual([
      'http_server_config.http2',
      'basic_auth_users.a',
      'rate',
    ]);
  });

  test('a broken file, without quoting what may be a key', () => {
    const secret = server.key.split('\n')[1] ?? '';
    for (const yaml of [
      `tls_server_config:\n  key: |\n    ${secret}\n ${secret}\n`,
      `tls_server_config:\n  key: "${secret}\n${secret}\n`,
      `tls_server_config:\n  key: [${secret}\n`,
      `tls_server_config:\n  key: ${secret}: ${secret}\n`,
      `tls_server_config:\n  key: ${secret}\n`,
      `tls_server_config:\n  key: { ${secret} }\n`,
      `basic_auth_users:\n  alice: '${secret}' ${secret}\n`,
      `basic_auth_users:\n  alice: !${secret} x\n`,
      `basic_auth_users:\n  alice: *${secret}\n`,
    ]) {
      const found = problems(yaml).join('\n');
      expect(found).toContain('/web.yml:');
      expect(found).not.toContain(secret.slice(0, 20));
    }
  });

  test('a file that is not there', () => {
    expect(() => readWebConfig('/nowhere/web.yml')).toThrow(
      '/nowhere/web.yml: cannot be read (ENOENT); check --web.config.file',
    );
  });
});
