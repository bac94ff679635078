/** The volumes of a Magic Containers application (`/apps/{app}/volumes`). */
import { applicationPath, applications } from './application.ts';
import { count, countSamples, gauge, perElement, shown } from './families.ts';
import {
  anything,
  enumeratedFieldsOf,
  gigabytes,
  listOf,
  object,
  oneOf,
  readElements,
  readFields,
  text,
  type ValueOf,
} from './fields.ts';
import { defineResource } from './resource.ts';

const states = [
  'unknown',
  'attached',
  'detached',
  'extending',
  'deleting',
  'creating',
  'notScheduled',
  'scheduled',
  'failed',
  'maintenance',
] as const;

const asGigabytes = 'taking what the API reports as gigabytes (%s, times 1e9)';

const volume = object({
  name: text,
  id: text,
  size: gauge('capacity_bytes', gigabytes, `Size of each volume, ${asGigabytes}`),
  totalUsage: gauge('usage_bytes', gigabytes, `What is stored on each volume, ${asGigabytes}`),
  containersCount: count('containers', 'Containers that use each volume'),
  volumeInstances: shown(listOf(object({ status: oneOf(states) })), {
    name: 'instances',
    words: 'Number of instances of each volume by their state',
    labels: ['state'],
    series: (all) =>
      countSamples(
        'state',
        states,
        all.map((one) => one?.status),
      ),
  }),
});

/** All volumes come at once: the operation has no parameters, and its cursor leads nowhere. */
const answer = object({ items: anything }, 'meta', 'cursor', 'summary');

type ApplicationVolumeReading = readonly ValueOf<typeof volume>[];

export const applicationVolume = defineResource<ApplicationVolumeReading>({
  kind: 'application_volume',
  product: 'Magic Containers',
  reference: 'GET /apps/{appId}/volumes',
  noun: 'volumes of the application',
  section: 'application_volumes',
  defaultIntervalSeconds: 600,
  listing: applications,
  fields: [...volume.names, ...answer.names],
  enumeratedFields: enumeratedFieldsOf(volume),
  families: perElement({ volume: 'name', volume_id: 'id' }, volume, true),

  async read(get, ids, diagnostics) {
    const { items } = readFields(answer, await get(`${applicationPath(ids)}/volumes`), diagnostics);
    return readElements(volume, 'name', items, diagnostics);
  },
});
