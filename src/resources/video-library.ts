/** The video libraries of an account (`/videolibrary`): one paged listing gives their figures, and the key that opens each. */
import { boolean, id, instant, integer, list, number, object, text, type ValueOf } from './fields.ts';
import { corePageFields, mapEach, readCorePages } from './pages.ts';
import { defineResource, familiesOf, type IdField, type Listing } from './resource.ts';

const drmSystem = object({ Enabled: boolean, CertificateExpirationDate: instant });

/** An answer holds more keys than the one that is read here. */
const library = object({
  Id: id,
  Name: text,
  ApiKey: text,
  PullZoneId: id,
  StorageZoneId: id,
  VideoCount: integer,
  StorageUsage: integer,
  TrafficUsage: integer,
  ReplicationRegions: list,
  EnableTranscribing: boolean,
  MonthlyChargesTranscribing: number,
  EnableDRM: boolean,
  AppleFairPlayDrm: drmSystem,
  GoogleWidevineDrm: drmSystem,
});

export type VideoLibraryReading = Omit<ValueOf<typeof library>, 'Name' | 'ApiKey'>;

/** What identifies a library, for every kind that is about one as a whole. */
export const videoLibraryIds: readonly IdField[] = [{ label: 'library_id', setting: 'id', form: 'integer' }];

/** What kinds of their own are about, where it is switched on. */
const features = { transcribing: 'EnableTranscribing', drm: 'EnableDRM' } as const;
export type VideoLibraryFeature = keyof typeof features;

/** Every video library with its name, its figures and its key. */
export const videoLibraries: Listing<VideoLibraryReading> = {
  kind: 'video_library',
  api: 'core',
  nouns: 'video libraries',
  fields: [...library.names, ...corePageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      { path: '/videolibrary', nouns: 'libraries', perPage: 100, element: library, identifier: 'Id' },
      get,
      diagnostics,
    );
    return mapEach(found, ([libraryId, { Name, ApiKey, ...reading }]) => ({
      ids: { library_id: libraryId },
      name: Name ?? undefined,
      key: ApiKey ? () => ApiKey : undefined,
      features: Object.entries(features).flatMap(([feature, flag]) =>
        reading[flag] === true ? [feature] : [],
      ),
      reading,
    }));
  },
};

const { gauge, info } = familiesOf<VideoLibraryReading>('bunnynet_video_library');

function flag(name: string, field: (typeof features)[VideoLibraryFeature], meaning: string) {
  return gauge(name, `${meaning}: 1 yes, 0 no (API field ${field}).`, ({ [field]: value }) =>
    typeof value === 'boolean' ? Number(value) : undefined,
  );
}

/** A family with one series for each DRM system that has the value. */
function perDrmSystem(
  name: string,
  help: string,
  pick: (system: NonNullable<ValueOf<typeof drmSystem>>) => number | boolean | null | undefined,
) {
  return gauge(
    name,
    help,
    ({ AppleFairPlayDrm, GoogleWidevineDrm }) =>
      Object.entries({ fairplay: AppleFairPlayDrm, widevine: GoogleWidevineDrm }).flatMap(
        ([system, about]) => {
          const value = about ? pick(about) : undefined;
          return value === undefined || value === null ? [] : [{ labels: { system }, value: Number(value) }];
        },
      ),
    ['system'],
  );
}

export const videoLibrary = defineResource({
  kind: 'video_library',
  api: 'core',
  reference: 'GET /videolibrary',
  noun: 'video library',
  section: 'video_libraries',
  ids: videoLibraryIds,
  defaultIntervalSeconds: 600,
  fields: videoLibraries.fields,
  listing: videoLibraries,

  families: [
    info(
      'The name of the video library, its pull zone and its storage zone (API fields Name, PullZoneId, StorageZoneId).',
      ['name', 'pull_zone_id', 'storage_zone_id'],
      ({ PullZoneId, StorageZoneId }, { name }) => ({
        name,
        pull_zone_id: PullZoneId,
        storage_zone_id: StorageZoneId,
      }),
    ),
    gauge(
      'videos',
      'Number of videos in the library (API field VideoCount).',
      ({ VideoCount: videos }) => videos ?? undefined,
    ),
    gauge(
      'storage_bytes',
      'Bytes that the library stores (API field StorageUsage).',
      ({ StorageUsage: bytes }) => bytes ?? undefined,
    ),
    gauge(
      'replication_regions',
      'Number of regions that the library is replicated to (length of the API field ReplicationRegions).',
      ({ ReplicationRegions: regions }) => regions?.length,
    ),
    gauge(
      'monthly_traffic_bytes',
      'Traffic of this calendar month; falls back at its end (API field TrafficUsage).',
      ({ TrafficUsage: bytes }) => bytes ?? undefined,
    ),
    flag('transcribing_enabled', 'EnableTranscribing', 'Whether the library transcribes its videos'),
    gauge(
      'monthly_transcribing_charges_dollars',
      'Charges of this calendar month for transcribing, in US dollars; falls back at its end (API field MonthlyChargesTranscribing).',
      ({ MonthlyChargesTranscribing: dollars }) => dollars ?? undefined,
    ),
    flag('drm_enabled', 'EnableDRM', 'Whether the library protects its videos by DRM'),
    perDrmSystem(
      'drm_system_enabled',
      'Whether this DRM system is enabled: 1 yes, 0 no (API fields AppleFairPlayDrm, GoogleWidevineDrm, Enabled).',
      ({ Enabled }) => Enabled,
    ),
    perDrmSystem(
      'drm_certificate_expiration_timestamp_seconds',
      'When the certificate of this DRM system expires, as Unix time (API fields AppleFairPlayDrm, GoogleWidevineDrm, CertificateExpirationDate).',
      ({ CertificateExpirationDate: seconds }) => seconds,
    ),
  ],
});
