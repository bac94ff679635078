/** The pull zones of an account and their bill (`/pullzone`): one paged listing gives them all. */
import { defineListedResource, defineListing } from './define.ts';
import { count, flag, gauge, label, shown } from './families.ts';
import { boolean, codeName, id, listOf, object, reference } from './fields.ts';

const originTypes =
  'origin_url dns_accelerate storage_zone load_balancer edge_script magic_containers push_zone'.split(' ');

const hostname = object({ IsSystemHostname: boolean, HasCertificate: boolean }).ignoring('Id Value ForceSSL');

const hostnames = shown(listOf(hostname), {
  name: 'hostnames',
  words:
    'Number of hostnames, with and without a certificate; a system hostname without one is not counted, since bunny.net answers for it with its own (%s, HasCertificate and IsSystemHostname)',
  labels: ['certificate'],
  series(all) {
    const having = all.filter((one) => one?.HasCertificate === true);
    const lacking = all.filter((one) => one?.HasCertificate === false && one.IsSystemHostname !== true);
    return [
      { labels: { certificate: 'yes' }, value: having.length },
      { labels: { certificate: 'no' }, value: lacking.length },
    ];
  },
});

/** Only what is named here is kept: an answer also holds keys, and an origin's address can hold a password. */
const zone = object({
  Id: id,
  Name: label('name'),
  OriginType: label('origin_type', codeName(originTypes)),
  StorageZoneId: label('storage_zone_id', reference),
  EdgeScriptId: label('script_id', reference),
  MagicContainersAppId: label('app_id'),
  VideoLibraryId: label('library_id', reference),
  Enabled: flag('enabled', 'Whether the pull zone is enabled'),
  Suspended: flag('suspended', 'Whether the pull zone is suspended'),
  Type: count('type', 'Network of the pull zone: 0 premium, 1 volume'),
  MonthlyBandwidthUsed: count(
    'monthly_bandwidth_bytes',
    'Bandwidth used in this calendar month; resets with the next',
  ),
  MonthlyBandwidthLimit: count('monthly_bandwidth_limit_bytes', 'Monthly bandwidth limit; 0 means no limit'),
  MonthlyCharges: gauge(
    'monthly_charges_dollars',
    'Charges in this calendar month in US dollars; resets with the next',
  ),
  Hostnames: hostnames,
  OptimizerEnabled: flag('optimizer_enabled', 'Whether Bunny Optimizer is enabled'),
  EnableOriginShield: flag('origin_shield_enabled', 'Whether Origin Shield is enabled'),
  EnableSafeHop: flag('safehop_enabled', 'Whether SafeHop is enabled'),
}).ignoring('OriginUrl ZoneSecurityKey CnameDomain');

export const pullZones = defineListing({
  kind: 'pull_zone',
  product: 'CDN',
  nouns: 'pull zones',
  path: '/pullzone',
  element: zone,
  ids: [{ label: 'pull_zone_id', setting: 'id', form: 'integer' }],
  features: ['OptimizerEnabled', 'EnableOriginShield', 'EnableSafeHop'],
});

export const pullZone = defineListedResource({
  noun: 'pull zone',
  section: 'pull_zones',
  listing: pullZones,
  info: 'The name of the pull zone, its origin type and the ids of what it points to',
});
