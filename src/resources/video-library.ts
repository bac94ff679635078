/** The video libraries of an account (`/videolibrary`): one paged listing gives their figures, and the key that opens each. */
import { count, flag, gauge, inside, label, length } from './families.ts';
import { id, instant, number, object, reference, secret, text } from './fields.ts';
import { defineListing, featuresOf } from './listing.ts';
import { defineListedResource } from './resource.ts';

const drmSystem = object({
  Enabled: flag('drm_system_enabled', 'Whether this DRM system is enabled'),
  CertificateExpirationDate: gauge(
    'drm_certificate_expiration_timestamp_seconds',
    instant,
    'When the certificate of this DRM system expires, as Unix time',
  ),
});

/** An answer holds more keys than the one that is read here. */
const library = object({
  Id: id,
  Name: label('name', text),
  PullZoneId: label('pull_zone_id', reference),
  StorageZoneId: label('storage_zone_id', reference),
  ApiKey: secret,
  VideoCount: count('videos', 'Number of videos in the library'),
  StorageUsage: count('storage_bytes', 'Bytes that the library stores'),
  ReplicationRegions: length('replication_regions', 'regions that the library is replicated to'),
  TrafficUsage: count('monthly_traffic_bytes', 'Traffic of this calendar month; falls back at its end'),
  EnableTranscribing: flag('transcribing_enabled', 'Whether the library transcribes its videos'),
  MonthlyChargesTranscribing: gauge(
    'monthly_transcribing_charges_dollars',
    number,
    'Charges of this calendar month for transcribing, in US dollars; falls back at its end',
  ),
  MonthlyChargesPremiumEncoding: gauge(
    'monthly_premium_encoding_charges_dollars',
    number,
    'Charges of this calendar month for premium encoding, in US dollars; falls back at its end',
  ),
  EnableDRM: flag('drm_enabled', 'Whether the library protects its videos by DRM'),
  MonthlyChargesEnterpriseDrm: gauge(
    'monthly_enterprise_drm_charges_dollars',
    number,
    'Charges of this calendar month for enterprise DRM, in US dollars; falls back at its end',
  ),
  AppleFairPlayDrm: inside(drmSystem, { system: 'fairplay' }),
  GoogleWidevineDrm: inside(drmSystem, { system: 'widevine' }),
});

/** Every video library with its name, its figures, its key, and the features that kinds of their own are about. */
export const videoLibraries = defineListing({
  kind: 'video_library',
  api: 'core',
  nouns: 'video libraries',
  path: () => '/videolibrary',
  element: library,
  elementNouns: 'libraries',
  ids: [{ label: 'library_id', setting: 'id', form: 'integer' }],
  identifier: 'Id',
  about: ({ Name, ApiKey, EnableTranscribing, EnableDRM }) => ({
    name: Name,
    key: ApiKey,
    features: featuresOf({ transcribing: EnableTranscribing, drm: EnableDRM }),
  }),
});

export const videoLibrary = defineListedResource({
  kind: 'video_library',
  product: 'Stream',
  reference: 'GET /videolibrary',
  noun: 'video library',
  section: 'video_libraries',
  defaultIntervalSeconds: 600,
  listing: videoLibraries,
  answer: library,
  info: 'The name of the video library, its pull zone and its storage zone',
});
