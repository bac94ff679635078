/** The storage zones of an account (`/storagezone`): one paged listing gives them all. */
import { boolean, id, integer, list, object, text, type ValueOf } from './fields.ts';
import { corePageFields, mapEach, readCorePages } from './pages.ts';
import { defineResource, familiesOf, type Listing } from './resource.ts';

/** Only what is named here is kept: an answer also holds the passwords of the zone. */
const storageZoneFields = object({
  Id: id,
  Name: text,
  StorageUsed: integer,
  FilesStored: integer,
  Region: text,
  ReplicationRegions: list,
  ZoneTier: integer,
  ReplicationChangeInProgress: boolean,
});

export type StorageZoneReading = ValueOf<typeof storageZoneFields>;

/** By the codes of `ZoneTier`. */
const tiers = ['standard', 'edge'] as const;

/** Every storage zone with its name and its figures. */
export const storageZones: Listing<StorageZoneReading> = {
  kind: 'storage_zone',
  api: 'core',
  nouns: 'storage zones',
  fields: [...storageZoneFields.names, ...corePageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      {
        path: '/storagezone',
        nouns: 'storage zones',
        perPage: 100,
        element: storageZoneFields,
        identifier: 'Id',
      },
      get,
      diagnostics,
    );
    return mapEach(found, ([storageZoneId, reading]) => {
      const { Name, ZoneTier } = reading;
      if (typeof ZoneTier === 'number' && !tiers[ZoneTier]) diagnostics.unrecognized('ZoneTier');
      return { ids: { storage_zone_id: storageZoneId }, name: Name ?? undefined, reading };
    });
  },
};

const { gauge, info } = familiesOf<StorageZoneReading>('bunnynet_storage_zone');

export const storageZone = defineResource({
  kind: 'storage_zone',
  api: 'core',
  reference: 'GET /storagezone',
  noun: 'storage zone',
  section: 'storage_zones',
  ids: [{ label: 'storage_zone_id', setting: 'id', form: 'integer' }],
  defaultIntervalSeconds: 600,
  fields: storageZones.fields,
  enumeratedFields: ['ZoneTier'],
  listing: storageZones,

  families: [
    info(
      'The name of the storage zone, its tier and its main region (API fields Name, ZoneTier, Region).',
      ['name', 'tier', 'region'],
      ({ Name, ZoneTier, Region }, { name }) => ({
        name: name ?? Name,
        tier: tiers[ZoneTier ?? -1] ?? ZoneTier?.toString(),
        region: Region,
      }),
    ),
    gauge(
      'used_bytes',
      'Bytes stored in the main region (API field StorageUsed).',
      ({ StorageUsed }) => StorageUsed ?? undefined,
    ),
    gauge('files', 'Number of files (API field FilesStored).', ({ FilesStored }) => FilesStored ?? undefined),
    gauge(
      'regions',
      'Number of regions that hold the files: the main one and the replicas (API field ReplicationRegions, plus 1).',
      ({ ReplicationRegions: replicas }) => (replicas ? replicas.length + 1 : undefined),
    ),
    gauge(
      'replication_change_in_progress',
      'Whether a change of the replication is in progress: 1 yes, 0 no (API field ReplicationChangeInProgress).',
      ({ ReplicationChangeInProgress: value }) => (typeof value === 'boolean' ? Number(value) : undefined),
    ),
  ],
});
