/** The `tls_server_config` of the web configuration: reads the certificates that it names and checks that all fits together. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext, type TLSSocket, type TlsOptions } from 'node:tls';
import { alternativeNames, type ClientAuthType, ciphersOf, curves, tlsVersions } from './tls.ts';
import type { Report, TlsSection } from './web-config-schema.ts';

export interface TlsSettings {
  /** For node:https. */
  readonly options: TlsOptions;
  /** Whether a client may stay whose handshake is complete. */
  admits(socket: TLSSocket): boolean;
}

/** Reports a problem of a setting, or of the section as a whole. */
type ReportSetting = (setting: string | undefined, message: string) => void;

interface Pem {
  readonly text: string;
  /** Where it was given. */
  readonly setting: string;
}

/**
 * Undefined where the section is blank, and where a problem was reported. Adds the files that it reads, or tried to read, to
 * `files`; their names are relative to `directory`.
 */
export function readTls(
  section: TlsSection,
  directory: string,
  files: string[],
  reportAt: Report,
): TlsSettings | undefined {
  if (Object.values(section).every((value) => value === undefined || value === null || value === '')) {
    return undefined;
  }
  let isSound = true;
  const report: ReportSetting = (setting, message) => {
    isSound = false;
    reportAt(['tls_server_config', ...(setting === undefined ? [] : [setting])], message);
  };
  const read = (setting: 'cert' | 'key' | 'client_ca') => readPem(section, setting, directory, files, report);
  const [cert, key, clientCa] = [read('cert'), read('key'), read('client_ca')];
  for (const setting of ['cert', 'key'] as const) {
    if (section[setting] === undefined && section[`${setting}_file`] === undefined) {
      report(undefined, `TLS needs ${setting} or ${setting}_file`);
    }
  }
  checkCertificate(cert, key, report);
  const clientAuth = clientAuthOf(section);
  checkClientAuth(section, clientAuth, clientCa, report);
  const { min_version: min = 'TLS12', max_version: max = 'TLS13' } = section;
  if (min > max) report('max_version', `expected at least min_version, ${min}`);
  if (!isSound || !cert || !key) return undefined;

  const ciphers = [...ciphersOf(section.cipher_suites ?? [])];
  // OpenSSL allows the signatures of TLS 1.0 and 1.1 only at its security level 0.
  if (min < 'TLS12') ciphers.push('@SECLEVEL=0');
  const options: TlsOptions = {
    cert: cert.text,
    key: key.text,
    // Without it clients are held against Node's own list of public authorities.
    ...(clientCa && { ca: clientCa.text }),
    requestCert: clientAuth !== 'NoClientCert',
    rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
    minVersion: tlsVersions[min],
    maxVersion: tlsVersions[max],
    ciphers: ciphers.join(':'),
    honorCipherOrder: section.prefer_server_cipher_suites ?? true,
    ...(section.curve_preferences?.length && {
      ecdhCurve: section.curve_preferences.map((name) => curves[name]).join(':'),
    }),
    // No resumption: every connection shows its certificate to the current rules.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
  // OpenSSL refuses more than the checks above: a key that is too short, a broken chain.
  if (!attempt(() => createSecureContext(options))) {
    report(cert.setting, 'OpenSSL does not accept this certificate with these settings');
  }
  return { options, admits: (socket) => isAdmitted(socket, clientAuth, section.client_allowed_sans) };
}

function isAdmitted(
  socket: TLSSocket,
  clientAuth: ClientAuthType,
  allowedSans: readonly string[] | undefined,
): boolean {
  // Always asked for, because it clears OpenSSL's notes. Node would take a failed verification for an error of the next read.
  const certificate = socket.getPeerX509Certificate();
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return true;
  if (!certificate) return clientAuth === 'VerifyClientCertIfGiven';
  if (clientAuth !== 'RequireAnyClientCert' && !socket.authorized) return false;
  return (
    !allowedSans || alternativeNames(certificate.subjectAltName).some((name) => allowedSans.includes(name))
  );
}

/** The text of a setting, or of the file that its other form names. */
function readPem(
  section: TlsSection,
  setting: 'cert' | 'key' | 'client_ca',
  directory: string,
  files: string[],
  report: ReportSetting,
): Pem | undefined {
  const inline = section[setting];
  const fileSetting = `${setting}_file` as const;
  const name = section[fileSetting];
  if (name === undefined) return inline === undefined ? undefined : { text: inline, setting };
  if (inline !== undefined) report(setting, `expected one of ${setting} and ${fileSetting}, not both`);
  const path = resolve(directory, name);
  files.push(path);
  try {
    return { text: readFileSync(path, 'utf8'), setting: fileSetting };
  } catch (error) {
    report(fileSetting, `cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}

function checkCertificate(cert: Pem | undefined, key: Pem | undefined, report: ReportSetting): void {
  const leaf = cert && attempt(() => new X509Certificate(cert.text));
  if (cert && !leaf) report(cert.setting, 'expected a certificate in PEM');
  const privateKey = key && attempt(() => createPrivateKey(key.text));
  if (key && !privateKey) report(key.setting, 'expected a private key in PEM, without a passphrase');
  if (key && leaf && privateKey && !leaf.checkPrivateKey(privateKey)) {
    report(key.setting, 'this key does not belong to the certificate');
  }
}

function clientAuthOf({ client_auth_type: type }: TlsSection): ClientAuthType {
  // Its name in old versions of the toolkit.
  if (type === 'RequireClientCert') return 'RequireAnyClientCert';
  return type || 'NoClientCert';
}

function checkClientAuth(
  section: TlsSection,
  clientAuth: ClientAuthType,
  clientCa: Pem | undefined,
  report: ReportSetting,
): void {
  if (clientCa) {
    const blocks = clientCa.text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0 || !blocks.every((block) => attempt(() => new X509Certificate(block)))) {
      report(clientCa.setting, 'expected certificates in PEM');
    }
    if (clientAuth === 'NoClientCert') {
      report(
        clientCa.setting,
        'an authority for clients needs a client_auth_type that asks for certificates',
      );
    }
  }
  if (section.client_allowed_sans && !clientAuth.startsWith('Require')) {
    report(
      'client_allowed_sans',
      'needs a client_auth_type of RequireAnyClientCert or RequireAndVerifyClientCert: no name is checked without a certificate',
    );
  }
}

/** OpenSSL's errors name its functions and not our settings, so they are not shown. */
function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
