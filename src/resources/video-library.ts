/** The video libraries of an account (`/videolibrary`): one paged listing gives their figures, and the key that opens each. */
import { count, flag, gauge, label, length, shown } from './families.ts';
import { boolean, id, instant, number, object, secret, text } from './fields.ts';
import { defineListing, featuresOf } from './listing.ts';
import { defineListedResource, type IdField } from './resource.ts';

function drmSystem(system: string) {
  const labels = Object.freeze({ system });
  return shown(
    object({ Enabled: boolean, CertificateExpirationDate: instant }),
    {
      name: 'drm_system_enabled',
      words: 'Whether this DRM system is enabled: 1 yes, 0 no',
      note: 'Enabled',
      labels: ['system'],
      series: ({ Enabled }) => (Enabled === undefined ? [] : [{ labels, value: Number(Enabled) }]),
    },
    {
      name: 'drm_certificate_expiration_timestamp_seconds',
      words: 'When the certificate of this DRM system expires, as Unix time',
      note: 'CertificateExpirationDate',
      labels: ['system'],
      series: ({ CertificateExpirationDate: value }) => (value === undefined ? [] : [{ labels, value }]),
    },
  );
}

/** An answer holds more keys than the one that is read here. */
const library = object({
  Id: id,
  Name: label('name', text),
  PullZoneId: label('pull_zone_id', id),
  StorageZoneId: label('storage_zone_id', id),
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
  EnableDRM: flag('drm_enabled', 'Whether the library protects its videos by DRM'),
  AppleFairPlayDrm: drmSystem('fairplay'),
  GoogleWidevineDrm: drmSystem('widevine'),
});

/** What identifies a library, for every kind that is about one as a whole. */
export const videoLibraryIds: readonly IdField[] = [{ label: 'library_id', setting: 'id', form: 'integer' }];

/** Every video library with its name, its figures, its key, and the features that kinds of their own are about. */
export const videoLibraries = defineListing({
  kind: 'video_library',
  api: 'core',
  nouns: 'video libraries',
  path: () => '/videolibrary',
  element: library,
  elementNouns: 'libraries',
  identifier: 'Id',
  label: 'library_id',
  about: ({ Name, ApiKey, EnableTranscribing, EnableDRM }) => ({
    name: Name,
    key: ApiKey,
    features: featuresOf({ transcribing: EnableTranscribing, drm: EnableDRM }),
  }),
});

export const videoLibrary = defineListedResource({
  kind: 'video_library',
  api: 'core',
  reference: 'GET /videolibrary',
  noun: 'video library',
  section: 'video_libraries',
  ids: videoLibraryIds,
  defaultIntervalSeconds: 600,
  listing: videoLibraries,
  answer: library,
  info: 'The name of the video library, its pull zone and its storage zone',
});
