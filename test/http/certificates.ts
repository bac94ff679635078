/** Certificates for tests, written by hand as DER: any name and date, without tools or packages. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const [high, low] = [body.length >> 8, body.length & 0xff];
  const size = body.length < 0x80 ? [low] : body.length < 0x100 ? [0x81, low] : [0x82, high, low];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...content: readonly Buffer[]) => der(0x30, ...content);
const octets = (content: Buffer) => der(0x04, content);
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
const boolean = (value: boolean) => der(0x01, Buffer.from([value ? 0xff : 0]));
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (date: Date) =>
  der(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`, 'ascii'));
const commonName = (name: string) =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
const extension = (id: string, content: Buffer, critical = false) =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(content));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const usages = { client: '2b06010505070302', server: '2b06010505070301' };

export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Wanted {
  readonly name: string;
  readonly issuer?: Identity & { readonly name: string };
  readonly ca?: boolean;
  readonly usage?: 'client' | 'server';
  /** `dns:a`, `email:a@b`, `uri:spiffe://a`, `ip:127.0.0.1`. */
  readonly alternativeNames?: readonly string[];
  readonly from?: Date;
  readonly until?: Date;
}

function alternativeName(name: string): Buffer {
  const kind = name.slice(0, name.indexOf(':'));
  const value = name.slice(kind.length + 1);
  if (kind === 'ip')
    return der(0x87, isIPv4(value) ? Buffer.from(value.split('.').map(Number)) : Buffer.from(value, 'hex'));
  return der({ email: 0x81, dns: 0x82, uri: 0x86 }[kind] ?? 0x82, Buffer.from(value));
}

const dayMs = 86_400_000;

export function issue(wanted: Wanted): Identity & { readonly name: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = wanted.issuer;
  const signer: KeyObject | string = issuer?.key ?? privateKey;
  const names = wanted.alternativeNames ?? [];
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(issuer?.name ?? wanted.name),
    sequence(
      time(wanted.from ?? new Date(Date.now() - dayMs)),
      time(wanted.until ?? new Date(Date.now() + dayMs)),
    ),
    commonName(wanted.name),
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension('551d13', sequence(...(wanted.ca ? [boolean(true)] : [])), true),
        ...(wanted.usage ? [extension('551d25', sequence(oid(usages[wanted.usage])))] : []),
        ...(names.length > 0 ? [extension('551d11', sequence(...names.map(alternativeName)))] : []),
      ),
    ),
  );
  const certificate = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, signer)));
  const base64 = certificate
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return {
    name: wanted.name,
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** An authority with certificates for a server on loopback and its clients. */
export function issueFamily() {
  const ca = issue({ name: 'authority', ca: true });
  const loopback = ['dns:localhost', 'ip:127.0.0.1'];
  return {
    ca,
    server: issue({ name: 'server', issuer: ca, usage: 'server', alternativeNames: loopback }),
    client: issue({ name: 'client', issuer: ca, usage: 'client', alternativeNames: ['dns:scraper.example'] }),
    expired: issue({
      name: 'expired',
      issuer: ca,
      usage: 'client',
      from: new Date('2020-01-01'),
      until: new Date('2020-01-02'),
    }),
    /** The same names from an unknown authority. */
    stranger: issue({
      name: 'client',
      issuer: issue({ name: 'authority', ca: true }),
      usage: 'client',
      alternativeNames: ['dns:scraper.example'],
    }),
  };
}
