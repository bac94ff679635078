/** The volumes of a Magic Containers application (`/apps/{app}/volumes`). */
import { applicationPath, applications } from './application.ts';
import { count, countSamples, gauge, perElement, shown } from './families.ts';
import { enumeratedFieldsOf, gigabytes, listOf, object, oneOf, text, type ValueOf } from './fields.ts';
import { cursorPageFields, readCursorPages } from './pages.ts';
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

type ApplicationVolumeReading = readonly ValueOf<typeof volume>[];

export const applicationVolume = defineResource<ApplicationVolumeReading>({
  kind: 'application_volume',
  reference: 'GET /apps/{appId}/volumes',
  noun: "application's volumes",
  section: 'application_volumes',
  defaultIntervalSeconds: 600,
  listing: applications,
  fields: [...volume.names, ...cursorPageFields],
  enumeratedFields: enumeratedFieldsOf(volume),
  families: perElement('volume', 'name', volume),

  async read(get, ids, diagnostics) {
    const path = `${applicationPath(ids)}/volumes`;
    const found = await readCursorPages(
      { path, nouns: 'volumes', perPage: 1000, element: volume, identifier: 'name', isReading: true },
      get,
      diagnostics,
    );
    return [...found.values()];
  },
});
