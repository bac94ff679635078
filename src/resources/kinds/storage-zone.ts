/** The storage zones of an account (`/storagezone`): one paged listing gives them all. */
import { defineListedResource, defineListing } from '../define.ts';
import { count, flag, label, shown } from '../families.ts';
import { codeName, id, list, object } from '../fields.ts';

/** Only what is named here is read: an answer also holds the passwords of the zone. */
const zone = object({
  Id: id,
  Name: label('name'),
  ZoneTier: label('tier', codeName(['standard', 'edge'])),
  Region: label('region'),
  StorageUsed: count('used_bytes', 'Bytes stored in the zone'),
  FilesStored: count('files', 'Number of files'),
  ReplicationRegions: shown(list, {
    name: 'regions',
    words: 'Number of regions that hold the files: the main one and the replicas (%s, plus 1)',
    series: (replicas) => replicas.length + 1,
  }),
  ReplicationChangeInProgress: flag(
    'replication_change_in_progress',
    'Whether a change of the replication is in progress',
  ),
}).ignoring('Password DateModified Deleted ReadOnlyPassword');

export const storageZones = defineListing({
  kind: 'storage_zone',
  product: 'Storage',
  nouns: 'storage zones',
  path: '/storagezone',
  element: zone,
  ids: [{ label: 'storage_zone_id', setting: 'id', form: 'integer' }],
});

export const storageZone = defineListedResource({
  noun: 'storage zone',
  section: 'storage_zones',
  listing: storageZones,
  info: 'The name of the storage zone, its tier and its main region',
});
