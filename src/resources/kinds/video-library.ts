/** The video libraries of an account (`/videolibrary`): one paged listing gives their figures, and the key that opens each. */
import { defineListedResource, defineListing } from '../define.ts';
import { count, flag, gauge, inside, label, length, timestamp } from '../families.ts';
import { id, object, reference, secret, type ValueOf } from '../fields.ts';
import type { ListedKey } from '../resource.ts';

const drmSystem = object({
  Enabled: flag('drm_system_enabled', 'Whether this DRM system is enabled'),
  CertificateExpirationDate: timestamp(
    'drm_certificate_expiration_timestamp_seconds',
    'When the certificate of this DRM system expires',
  ),
});

function charges(name: string, service: string) {
  return gauge(name, `Charges for ${service} in this calendar month in US dollars; resets with the next`);
}

/** Only what is named here is read: an answer holds more keys than these. */
const library = object({
  Id: id,
  Name: label('name'),
  PullZoneId: label('pull_zone_id', reference),
  StorageZoneId: label('storage_zone_id', reference),
  ApiKey: secret,
  ReadOnlyApiKey: secret,
  VideoCount: count('videos', 'Number of videos in the library'),
  StorageUsage: count('storage_bytes', 'Bytes stored in the library'),
  ReplicationRegions: length('replication_regions', 'regions that the library is replicated to'),
  TrafficUsage: count('monthly_traffic_bytes', 'Traffic in this calendar month; resets with the next'),
  EnableTranscribing: flag('transcribing_enabled', 'Whether the library transcribes its videos'),
  MonthlyChargesTranscribing: charges('monthly_transcribing_charges_dollars', 'transcribing'),
  MonthlyChargesPremiumEncoding: charges('monthly_premium_encoding_charges_dollars', 'premium encoding'),
  EnableDRM: flag('drm_enabled', 'Whether the library protects its videos by DRM'),
  MonthlyChargesEnterpriseDrm: charges('monthly_enterprise_drm_charges_dollars', 'enterprise DRM'),
  AppleFairPlayDrm: inside(drmSystem, { system: 'fairplay' }),
  GoogleWidevineDrm: inside(drmSystem, { system: 'widevine' }),
}).ignoring('DateCreated ApiAccessKey');

/** The account's key does not open a library. */
function keyOf({ ApiKey, ReadOnlyApiKey }: ValueOf<typeof library>): ListedKey {
  return { key: ApiKey ?? ReadOnlyApiKey, isReadOnly: !ApiKey && ReadOnlyApiKey !== undefined };
}

export const videoLibraries = defineListing({
  kind: 'video_library',
  product: 'Stream',
  nouns: 'video libraries',
  // An older document has this parameter, with keys left out by default.
  path: '/videolibrary?includeAccessKey=true',
  element: library,
  elementNouns: 'libraries',
  ids: [{ label: 'library_id', setting: 'id', form: 'integer' }],
  features: ['EnableTranscribing', 'EnableDRM'],
  hasOwnKeys: true,
  about: (one) => ({ ownKey: keyOf(one) }),
});

export const videoLibrary = defineListedResource({
  noun: 'video library',
  section: 'video_libraries',
  listing: videoLibraries,
  info: 'The name of the video library, its pull zone and its storage zone',
});
