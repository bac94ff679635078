/** TLS settings by Go's names, which the web configuration uses, for OpenSSL; and which client certificates are let in. */
import { constants } from 'node:crypto';
import type { SecureVersion, TLSSocket, TlsOptions } from 'node:tls';

export const clientAuthTypes = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof clientAuthTypes)[number];

export const tlsVersions = ['TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;
export type TlsVersion = (typeof tlsVersions)[number];

const openSslVersions: Readonly<Record<TlsVersion, SecureVersion>> = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};

/** Those of TLS 1.3 are always on, as in Go, whatever the list says. */
const openSslTls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** In Go's order of preference, and on unless the file has a list of its own. */
const forwardSecret = {
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
} as const;

const openSslCiphers = {
  ...forwardSecret,
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_AES_128_GCM_SHA256: undefined,
  TLS_AES_256_GCM_SHA384: undefined,
  TLS_CHACHA20_POLY1305_SHA256: undefined,
} as const;
export type CipherName = keyof typeof openSslCiphers;
export const cipherNames = Object.keys(openSslCiphers) as CipherName[];

const openSslCurves = {
  CurveP256: 'P-256',
  CurveP384: 'P-384',
  CurveP521: 'P-521',
  X25519: 'X25519',
} as const;
export type CurveName = keyof typeof openSslCurves;
export const curveNames = Object.keys(openSslCurves) as CurveName[];

/** PEM text, and Go's names. */
export interface TlsChoices {
  readonly cert: string;
  readonly key: string;
  /** Certificates that sign clients'; Node's own list of public authorities without it. */
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuthType;
  readonly clientAllowedSans: readonly string[] | undefined;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly cipherSuites: readonly CipherName[];
  readonly preferServerCipherSuites: boolean;
  readonly curves: readonly CurveName[];
}

export interface TlsSettings {
  /** For node:https. */
  readonly options: TlsOptions;
  /** Whether a client may stay whose handshake is complete. */
  admits(socket: TLSSocket): boolean;
}

export function createTlsSettings(choices: TlsChoices): TlsSettings {
  const { clientAuth, minVersion } = choices;
  const chosen = choices.cipherSuites
    .map((name) => openSslCiphers[name])
    .filter((name) => name !== undefined);
  const ciphers = [
    ...openSslTls13,
    ...(choices.cipherSuites.length > 0 ? chosen : Object.values(forwardSecret)),
    // OpenSSL allows the signatures of TLS 1.0 and 1.1 only at its security level 0.
    ...(minVersion === 'TLS10' || minVersion === 'TLS11' ? ['@SECLEVEL=0'] : []),
  ];
  const allowedSans = choices.clientAllowedSans && new Set(choices.clientAllowedSans);
  return {
    options: {
      cert: choices.cert,
      key: choices.key,
      ...(choices.clientCa === undefined ? {} : { ca: choices.clientCa }),
      requestCert: clientAuth !== 'NoClientCert',
      rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
      minVersion: openSslVersions[minVersion],
      maxVersion: openSslVersions[choices.maxVersion],
      ciphers: ciphers.join(':'),
      honorCipherOrder: choices.preferServerCipherSuites,
      ...(choices.curves.length > 0
        ? { ecdhCurve: choices.curves.map((name) => openSslCurves[name]).join(':') }
        : {}),
      // No resumption: every connection shows its certificate to the current rules.
      secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    },

    admits(socket) {
      // Asked for in any case: Node takes what OpenSSL noted while it verified for an error of the next read, unless a call
      // such as this one clears it.
      const certificate = socket.getPeerX509Certificate();
      if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return true;
      if (!certificate) return clientAuth === 'VerifyClientCertIfGiven';
      if (clientAuth !== 'RequireAnyClientCert' && !socket.authorized) return false;
      return (
        !allowedSans || alternativeNames(certificate.subjectAltName).some((name) => allowedSans.has(name))
      );
    },
  };
}

/**
 * The DNS, e-mail, IP and URI names of a certificate, as Go writes them, out of Node's one line of text:
 * `DNS:a.example, IP Address:127.0.0.1, URI:"with, comma"`. It ends at what it cannot read: nothing inside a value may pass
 * for a name.
 */
export function alternativeNames(line: string | undefined): readonly string[] {
  const names: string[] = [];
  for (const [, type = '', quoted, plain = ''] of (line ?? '').matchAll(
    /([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))(?:, |$)/gy,
  )) {
    const name = quoted === undefined ? plain : String(JSON.parse(quoted));
    if (['DNS', 'email', 'URI'].includes(type)) names.push(name);
    if (type === 'IP Address')
      names.push(name.includes(':') ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name);
  }
  return names;
}
