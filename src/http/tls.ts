/** Translates Go's names of TLS settings, which the web configuration uses, to those of OpenSSL and Node. */
import type { SecureVersion } from 'node:tls';

export const clientAuthTypes = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof clientAuthTypes)[number];

export const tlsVersions = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
} as const satisfies Record<string, SecureVersion>;

/** The cipher suites of TLS 1.3: always on, as in Go, whichever the file lists. */
const alwaysOn = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** The cipher suites up to TLS 1.2: OpenSSL's names by Go's, in Go's order of preference. */
const tls12Ciphers: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
};

export const cipherNames = [...Object.keys(tls12Ciphers), ...alwaysOn];
/** The default for TLS 1.2: the suites with forward secrecy. */
const defaultCiphers = cipherNames.filter((name) => name.includes('_ECDHE_'));

/** OpenSSL's names of these cipher suites, or of the default ones for an empty list. */
export function ciphersOf(names: readonly string[] = []): readonly string[] {
  const chosen = names.length > 0 ? names : defaultCiphers;
  return [...alwaysOn, ...chosen.flatMap((name) => tls12Ciphers[name] ?? [])];
}

export const curves = {
  CurveP256: 'P-256',
  CurveP384: 'P-384',
  CurveP521: 'P-521',
  X25519: 'X25519',
} as const;

/**
 * A certificate's DNS, e-mail, IP and URI names, as Go writes them, from Node's one line of text:
 * `DNS:a.example, IP Address:127.0.0.1, URI:"with, comma"`. Stops at an entry that it cannot read, so that nothing inside a
 * value can pass for a name.
 */
export function alternativeNames(line = ''): readonly string[] {
  const names: string[] = [];
  for (const [, type = '', quoted, plain = ''] of line.matchAll(
    /([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))(?:, |$)/gy,
  )) {
    const name = quoted === undefined ? plain : String(JSON.parse(quoted));
    if (['DNS', 'email', 'URI'].includes(type)) names.push(name);
    if (type === 'IP Address')
      names.push(name.includes(':') ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name);
  }
  return names;
}
