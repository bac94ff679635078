/** The `tls_server_config` of the web configuration: reads the certificates that it names and checks that all fits together. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type ClientAuthType, createTlsSettings, type TlsSettings } from './tls.ts';
import type { Report, TlsSection } from './web-config-schema.ts';

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
  const minVersion = section.min_version ?? 'TLS12';
  const maxVersion = section.max_version ?? 'TLS13';
  if (minVersion > maxVersion) report('max_version', `expected at least min_version, ${minVersion}`);
  if (!isSound || !cert || !key) return undefined;

  const settings = createTlsSettings({
    cert: cert.text,
    key: key.text,
    clientCa: clientCa?.text,
    clientAuth,
    clientAllowedSans: section.client_allowed_sans ?? undefined,
    minVersion,
    maxVersion,
    cipherSuites: section.cipher_suites ?? [],
    preferServerCipherSuites: section.prefer_server_cipher_suites ?? true,
    curves: section.curve_preferences ?? [],
  });
  // OpenSSL refuses more than the checks above: a key that is too short, a broken chain.
  if (!attempt(() => createSecureContext(settings.options))) {
    report(cert.setting, 'OpenSSL does not accept this certificate with these settings');
  }
  return settings;
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
