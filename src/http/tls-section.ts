/** The `tls_server_config` of the web configuration: reads its certificates and checks that its settings agree. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { createSecureContext, type TLSSocket, type TlsOptions } from 'node:tls';
import type { AddProblem } from '../config/problems.ts';
import { isCertificates } from '../config/values.ts';
import { alternativeNames, type ClientAuthType, ciphersOf, curves, tlsVersions } from './tls.ts';
import type { TlsSection } from './web-config-schema.ts';

export interface TlsSettings {
  /** Options of node:https. */
  readonly options: TlsOptions;
  /** Whether the client of a completed handshake may send requests. */
  admits(socket: TLSSocket): boolean;
}

type Setting = keyof TlsSection;

interface Pem {
  readonly text: string;
  /** The setting that it is from, for messages. */
  readonly setting: Setting;
}

/** Undefined if it reported a problem. The names of files are relative to `directory`. */
export function readTls(
  section: TlsSection,
  directory: string,
  readText: (file: string) => string,
  reportAt: AddProblem,
): TlsSettings | undefined {
  let isValid = true;
  const report = (setting: Setting | undefined, message: string) => {
    isValid = false;
    reportAt(['tls_server_config', ...(setting ? [setting] : [])], message);
  };

  /** The text of a setting, or of the file that its other form names. */
  const readPem = (setting: 'cert' | 'key' | 'client_ca'): Pem | undefined => {
    const fileSetting = `${setting}_file` as const;
    const { [setting]: inline, [fileSetting]: name } = section;
    if (name === undefined) return inline === undefined ? undefined : { text: inline, setting };
    if (inline !== undefined) report(setting, `expected one of ${setting} and ${fileSetting}, not both`);
    const file = resolve(directory, name);
    try {
      return { text: readText(file), setting: fileSetting };
    } catch (error) {
      report(fileSetting, `cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  };

  const [cert, key, clientCa] = [readPem('cert'), readPem('key'), readPem('client_ca')];
  for (const setting of ['cert', 'key'] as const) {
    if (!section[setting] && !section[`${setting}_file`])
      report(undefined, `TLS needs ${setting} or ${setting}_file`);
  }
  const leaf = cert && attempt(() => new X509Certificate(cert.text));
  if (cert && !leaf) report(cert.setting, 'expected a certificate in PEM');
  const privateKey = key && attempt(() => createPrivateKey(key.text));
  if (key && !privateKey) report(key.setting, 'expected a private key in PEM, without a passphrase');
  if (key && leaf && privateKey && !leaf.checkPrivateKey(privateKey)) {
    report(key.setting, 'this key does not belong to the certificate');
  }
  const { client_auth_type: clientAuth = 'NoClientCert', client_allowed_sans: allowedSans } = section;
  if (clientCa && !isCertificates(clientCa.text)) report(clientCa.setting, 'expected certificates in PEM');
  if (clientCa && clientAuth === 'NoClientCert') {
    report(clientCa.setting, 'an authority for clients needs a client_auth_type that asks for certificates');
  }
  if (allowedSans && !clientAuth.startsWith('Require')) {
    report(
      'client_allowed_sans',
      'needs a client_auth_type of RequireAnyClientCert or RequireAndVerifyClientCert: no name is checked without a certificate',
    );
  }
  const { min_version: min = 'TLS12', max_version: max = 'TLS13' } = section;
  if (min > max) report('max_version', `expected at least min_version, ${min}`);
  if (!isValid || !cert || !key) return undefined;

  const ciphers = [...ciphersOf(section.cipher_suites)];
  // OpenSSL allows the signatures of TLS 1.0 and 1.1 only at its security level 0.
  if (min < 'TLS12') ciphers.push('@SECLEVEL=0');
  const options: TlsOptions = {
    cert: cert.text,
    key: key.text,
    // Without it Node verifies clients against its own list of public authorities.
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
  return {
    options,
    // A certificate that Node cannot read is refused like any other.
    admits: (socket) => attempt(() => isAdmitted(socket, clientAuth, allowedSans)) ?? false,
  };
}

function isAdmitted(
  socket: TLSSocket,
  clientAuth: ClientAuthType,
  allowedSans: readonly string[] | undefined,
): boolean {
  // Always called, because it clears OpenSSL's errors: else Node takes a failed verification for an error of the next read.
  const certificate = socket.getPeerX509Certificate();
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return true;
  if (!certificate) return clientAuth === 'VerifyClientCertIfGiven';
  if (clientAuth !== 'RequireAnyClientCert' && !socket.authorized) return false;
  return (
    !allowedSans || alternativeNames(certificate.subjectAltName).some((name) => allowedSans.includes(name))
  );
}

/** OpenSSL's errors name its functions and not our settings, so they are not shown. */
function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
