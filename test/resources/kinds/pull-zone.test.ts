import { describe, expect, it } from 'vitest';
import { pullZone } from '../../../src/resources/kinds/pull-zone.ts';
import { exposeListing, unnoted } from '../expose.ts';

const read = (...items: readonly string[]) =>
  exposeListing(
    pullZone,
    () =>
      `{ "Items": [${items.join()}], "CurrentPage": 1, "TotalItems": ${items.length}, "HasMoreItems": false }`,
  );

it('shows a pull zone with its month, its hostnames and its origin', async () => {
  const { rows, page, asked } = await read(`{
    "Id": 90210,
    "Name": "shop",
    "OriginUrl": "https://user:secret@origin.example",
    "Enabled": true,
    "Suspended": false,
    "Hostnames": [
      { "Id": 1, "Value": "shop.b-cdn.net", "IsSystemHostname": true, "HasCertificate": false, "CertificateProvisionType": 0 },
      { "Id": 2, "Value": "cdn.shop.example", "HasCertificate": true, "CertificateProvisionType": 1, "ForceSSL": true,
        "CertificateKey": "very-secret" },
      { "Id": 3, "Value": "img.shop.example", "HasCertificate": false, "CertificateProvisionType": 4, "ForceSSL": false },
      { "Id": 4, "Value": "old.shop.example", "HasCertificate": null }
    ],
    "EdgeRules": [
      { "Guid": "a", "Enabled": true, "ActionParameter2": "very-secret", "Triggers": [{ "PatternMatches": ["very-secret"] }] },
      { "Guid": "b", "Enabled": false }
    ],
    "EnableLogging": true,
    "LogForwardingEnabled": true,
    "LogForwardingToken": "very-secret",
    "AWSSigningKey": "very-secret",
    "AWSSigningSecret": "very-secret",
    "VerifyOriginSSL": false,
    "EnableTLS1": true,
    "OriginShieldEnableConcurrencyLimit": true,
    "OriginShieldMaxConcurrentRequests": 200,
    "OriginShieldMaxQueuedRequests": 5000,
    "OriginShieldQueueMaxWaitTime": 30,
    "StorageZoneId": 7001,
    "EdgeScriptId": -1,
    "MagicContainersAppId": null,
    "VideoLibraryId": 0,
    "ZoneSecurityKey": "very-secret",
    "MonthlyBandwidthLimit": 5000000000000,
    "MonthlyBandwidthUsed": 1234567890123,
    "MonthlyCharges": 12.34,
    "Type": 1,
    "OriginType": 2,
    "EnableOriginShield": true,
    "OptimizerEnabled": false,
    "EnableSafeHop": true
  }`);
  expect(asked).toEqual(['/pullzone?page=1&perPage=100']);
  expect(rows).toBe(`\
bunnynet_pull_zone_info{pull_zone_id="90210",account="account",name="shop",origin_type="storage_zone",storage_zone_id="7001",script_id="",app_id="",library_id=""} 1
bunnynet_pull_zone_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_suspended{pull_zone_id="90210"} 0
bunnynet_pull_zone_type{pull_zone_id="90210"} 1
bunnynet_pull_zone_monthly_bandwidth_bytes{pull_zone_id="90210"} 1234567890123
bunnynet_pull_zone_monthly_bandwidth_limit_bytes{pull_zone_id="90210"} 5000000000000
bunnynet_pull_zone_monthly_charges_dollars{pull_zone_id="90210"} 12.34
bunnynet_pull_zone_hostname_info{pull_zone_id="90210",account="account",hostname="cdn.shop.example",certificate="http01",force_ssl="true"} 1
bunnynet_pull_zone_hostname_info{pull_zone_id="90210",account="account",hostname="img.shop.example",certificate="none",force_ssl="false"} 1
bunnynet_pull_zone_hostname_info{pull_zone_id="90210",account="account",hostname="old.shop.example",certificate="unknown",force_ssl=""} 1
bunnynet_pull_zone_hostnames_without_certificate{pull_zone_id="90210"} 1
bunnynet_pull_zone_optimizer_enabled{pull_zone_id="90210"} 0
bunnynet_pull_zone_origin_shield_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_safehop_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_edge_rules{pull_zone_id="90210"} 2
bunnynet_pull_zone_edge_rules_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_logging_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_log_forwarding_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_verify_origin_ssl{pull_zone_id="90210"} 0
bunnynet_pull_zone_tls1_enabled{pull_zone_id="90210"} 1
bunnynet_pull_zone_origin_shield_max_concurrent_requests{pull_zone_id="90210"} 200
bunnynet_pull_zone_origin_shield_max_queued_requests{pull_zone_id="90210"} 5000
bunnynet_pull_zone_origin_shield_max_queue_wait_seconds{pull_zone_id="90210"} 30
`);
  expect(page).not.toContain('secret');
});

it('finds each pull zone with its name and features, and keeps no secret', async () => {
  const get = () =>
    Promise.resolve([
      { Id: 1, Name: 'a', OptimizerEnabled: true, EnableOriginShield: true, EnableSafeHop: true },
      { Id: 2, Name: 'b', OptimizerEnabled: false, EnableOriginShield: null, ZoneSecurityKey: 'very-secret' },
    ]);
  const found = [...(await pullZone.listing.discover(get, undefined, unnoted, 0)).found];
  expect(found).toMatchObject([
    {
      ids: { pull_zone_id: '1' },
      name: 'a',
      features: ['OptimizerEnabled', 'EnableOriginShield', 'EnableSafeHop'],
    },
    { ids: { pull_zone_id: '2' }, name: 'b', features: [] },
  ]);
  expect(JSON.stringify(found)).not.toContain('secret');
});

it('shows no limits of the queue of Origin Shield while they are off, although the API has numbers', async () => {
  const numbers = '"OriginShieldMaxConcurrentRequests": 200, "OriginShieldQueueMaxWaitTime": 30';
  for (const off of ['false', 'null']) {
    const { rows } = await read(`{ "Id": 1, "OriginShieldEnableConcurrencyLimit": ${off}, ${numbers} }`);
    expect(rows).toBe('');
  }
});

it('shows whether anybody renews certificates', async () => {
  const { rows } = await read('{ "Id": 1, "EnableAutoSSL": true, "DisableLetsEncrypt": true }');
  expect(rows).toBe(
    'bunnynet_pull_zone_auto_ssl_enabled{pull_zone_id="1"} 1\nbunnynet_pull_zone_lets_encrypt_enabled{pull_zone_id="1"} 0\n',
  );
});

it.each([
  ['{ "Id": 1, "EnableTLS1": true, "TlsSecurityLevel": 0 }', 1],
  ['{ "Id": 1, "EnableTLS1": true, "TlsSecurityLevel": null }', 1],
  ['{ "Id": 1, "EnableTLS1": true, "TlsSecurityLevel": 1 }', 0],
  ['{ "Id": 1, "EnableTLS1": true, "TlsSecurityLevel": 2 }', 0],
  ['{ "Id": 1, "EnableTLS1": true, "TlsSecurityLevel": "Modern" }', 0],
])('says of %s whether TLS 1.0 is taken: %i', async (body, taken) => {
  const { rows } = await read(body);
  expect(rows).toContain(`tls1_enabled{pull_zone_id="1"} ${taken}\n`);
});

describe('the fields of a pull zone', () => {
  it('show an unlisted type of origin as its number, and note it', async () => {
    const { rows, unrecognized } = await read('{ "Id": 1, "OriginType": 17 }');
    expect(rows).toContain('origin_type="17"');
    expect(unrecognized).toEqual(['OriginType: 17']);
  });
});
