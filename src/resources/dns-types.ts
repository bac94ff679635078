/** The names of DNS record types, which the API gives by their IANA numbers. */

const registry = `
  1 A, 2 NS, 5 CNAME, 6 SOA, 12 PTR, 13 HINFO, 15 MX, 16 TXT, 17 RP, 18 AFSDB, 24 SIG, 25 KEY,
  28 AAAA, 29 LOC, 33 SRV, 35 NAPTR, 37 CERT, 39 DNAME, 41 OPT, 42 APL, 43 DS, 44 SSHFP,
  45 IPSECKEY, 46 RRSIG, 47 NSEC, 48 DNSKEY, 49 DHCID, 50 NSEC3, 51 NSEC3PARAM, 52 TLSA, 53 SMIMEA,
  55 HIP, 59 CDS, 60 CDNSKEY, 61 OPENPGPKEY, 62 CSYNC, 63 ZONEMD, 64 SVCB, 65 HTTPS, 99 SPF,
  108 EUI48, 109 EUI64, 249 TKEY, 250 TSIG, 251 IXFR, 252 AXFR, 255 ANY, 256 URI, 257 CAA`;

const names = new Map(
  Array.from(registry.matchAll(/(\d+) (\w+)/g), ([, code = '', name = '']): [string, string] => [code, name]),
);

/** `28` is AAAA; a number without a name here is `TYPE4711`, as RFC 3597 writes it. Anything else stays as it is. */
export function dnsTypeName(key: string): string {
  return names.get(key) ?? (/^\d{1,5}$/.test(key) ? `TYPE${Number(key)}` : key);
}
