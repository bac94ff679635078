/** The pull zones of an account and their bill (`/pullzone`): one paged listing gives them all. */
import {
  boolean,
  type FieldType,
  id,
  integer,
  listOf,
  number,
  object,
  text,
  type ValueOf,
} from './fields.ts';
import { corePageFields, mapEach, readCorePages } from './pages.ts';
import { defineResource, familiesOf, type IdField, type Listing } from './resource.ts';

/** The id of another thing: 0 and less stand for none. */
const reference: FieldType<string> = (value, notes) => {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value))
    return notes.mismatch('a whole number', value);
  return (value as bigint | number) > 0 ? String(value) : undefined;
};

const hostname = object({ IsSystemHostname: boolean, HasCertificate: boolean });

/** Only what is named here is kept: an answer also holds keys, and an origin's address can hold a password. */
const pullZoneFields = object({
  Id: id,
  Name: text,
  Enabled: boolean,
  Suspended: boolean,
  Hostnames: listOf(hostname),
  StorageZoneId: reference,
  EdgeScriptId: reference,
  MagicContainersAppId: text,
  VideoLibraryId: reference,
  MonthlyBandwidthLimit: integer,
  MonthlyBandwidthUsed: integer,
  MonthlyCharges: number,
  Type: integer,
  OriginType: integer,
  OptimizerEnabled: boolean,
  EnableOriginShield: boolean,
  EnableSafeHop: boolean,
});

export type PullZoneReading = ValueOf<typeof pullZoneFields>;

/** By the codes of `OriginType`. */
const originTypes = [
  'origin_url',
  'dns_accelerate',
  'storage_zone',
  'load_balancer',
  'edge_script',
  'magic_containers',
  'push_zone',
] as const;

/** What kinds of their own are about, where it is switched on. */
export const pullZoneFeatures = {
  optimizer: 'OptimizerEnabled',
  originShield: 'EnableOriginShield',
  safeHop: 'EnableSafeHop',
} as const;

/** What identifies a pull zone, for every kind that is about one. */
export const pullZoneIds: readonly IdField[] = [{ label: 'pull_zone_id', setting: 'id', form: 'integer' }];

/** Every pull zone with its name and its figures. One has some 170 fields, so a page is kept small. */
export const pullZones: Listing<PullZoneReading> = {
  kind: 'pull_zone',
  api: 'core',
  nouns: 'pull zones',
  fields: [...pullZoneFields.names, ...corePageFields],
  enumeratedFields: ['OriginType'],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      { path: '/pullzone', nouns: 'pull zones', perPage: 100, element: pullZoneFields, identifier: 'Id' },
      get,
      diagnostics,
    );
    return mapEach(found, ([pullZoneId, reading]) => {
      const { Name, OriginType } = reading;
      if (typeof OriginType === 'number' && !originTypes[OriginType]) diagnostics.unrecognized('OriginType');
      return {
        ids: { pull_zone_id: pullZoneId },
        name: Name ?? undefined,
        features: Object.entries(pullZoneFeatures).flatMap(([feature, flag]) =>
          reading[flag] === true ? [feature] : [],
        ),
        reading,
      };
    });
  },
};

const { gauge, info } = familiesOf<PullZoneReading>('bunnynet_pull_zone');

function flag(
  name: string,
  field: 'Enabled' | 'Suspended' | (typeof pullZoneFeatures)[keyof typeof pullZoneFeatures],
  meaning: string,
) {
  return gauge(name, `${meaning}: 1 yes, 0 no (API field ${field}).`, ({ [field]: value }) =>
    typeof value === 'boolean' ? Number(value) : undefined,
  );
}

export const pullZone = defineResource({
  kind: 'pull_zone',
  api: 'core',
  reference: 'GET /pullzone',
  noun: 'pull zone',
  section: 'pull_zones',
  ids: pullZoneIds,
  defaultIntervalSeconds: 600,
  fields: pullZones.fields,
  enumeratedFields: ['OriginType'],
  listing: pullZones,

  families: [
    info(
      'The name of the pull zone, the type of its origin and the ids that it points to (API fields Name, OriginType, StorageZoneId, EdgeScriptId, MagicContainersAppId, VideoLibraryId).',
      ['name', 'origin_type', 'storage_zone_id', 'script_id', 'app_id', 'library_id'],
      (reading, { name }) => ({
        name: name ?? reading.Name,
        origin_type: originTypes[reading.OriginType ?? -1] ?? reading.OriginType?.toString(),
        storage_zone_id: reading.StorageZoneId,
        script_id: reading.EdgeScriptId,
        app_id: reading.MagicContainersAppId,
        library_id: reading.VideoLibraryId,
      }),
    ),
    flag('enabled', 'Enabled', 'Whether the pull zone is enabled'),
    flag('suspended', 'Suspended', 'Whether the pull zone is suspended'),
    gauge(
      'type',
      'Network of the pull zone: 0 premium, 1 volume (API field Type).',
      ({ Type }) => Type ?? undefined,
    ),
    gauge(
      'monthly_bandwidth_bytes',
      'Bandwidth used in this calendar month; falls back at its end (API field MonthlyBandwidthUsed).',
      ({ MonthlyBandwidthUsed: bytes }) => bytes ?? undefined,
    ),
    gauge(
      'monthly_bandwidth_limit_bytes',
      'Bandwidth that the pull zone may use in a month, 0 where there is no limit (API field MonthlyBandwidthLimit).',
      ({ MonthlyBandwidthLimit: bytes }) => bytes ?? undefined,
    ),
    gauge(
      'monthly_charges_dollars',
      'Charges of this calendar month in US dollars; falls back at its end (API field MonthlyCharges).',
      ({ MonthlyCharges: dollars }) => dollars ?? undefined,
    ),
    gauge(
      'hostnames',
      'Number of hostnames, with and without a certificate; a system hostname without one is not counted, since bunny.net answers for it with its own (API field Hostnames, HasCertificate and IsSystemHostname).',
      ({ Hostnames: hostnames }) => {
        if (!hostnames) return undefined;
        const having = hostnames.filter((one) => one?.HasCertificate === true);
        const lacking = hostnames.filter(
          (one) => one?.HasCertificate === false && one.IsSystemHostname !== true,
        );
        return [
          { labels: { certificate: 'yes' }, value: having.length },
          { labels: { certificate: 'no' }, value: lacking.length },
        ];
      },
      ['certificate'],
    ),
    flag('optimizer_enabled', 'OptimizerEnabled', 'Whether Bunny Optimizer is enabled'),
    flag('origin_shield_enabled', 'EnableOriginShield', 'Whether Origin Shield is enabled'),
    flag('safehop_enabled', 'EnableSafeHop', 'Whether SafeHop is enabled'),
  ],
});
