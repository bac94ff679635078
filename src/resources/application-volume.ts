/** The volumes of a Magic Containers application (`/apps/{app}/volumes`). */
import { applications } from './application.ts';
import { integer, listOf, number, object, text, type ValueOf } from './fields.ts';
import { cursorPageFields, readCursorPages } from './pages.ts';
import { defineResource, familiesOf, type Sample } from './resource.ts';

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

const instance = object({ status: text });
const volume = object({
  name: text,
  size: number,
  totalUsage: number,
  containersCount: integer,
  volumeInstances: listOf(instance),
});

interface VolumeReading extends Omit<ValueOf<typeof volume>, 'volumeInstances'> {
  readonly name: string;
  /** Instances by state, where the API lists them. */
  readonly instances: ReadonlyMap<string, number> | undefined;
}

export type ApplicationVolumeReading = readonly VolumeReading[];

const { gauge } = familiesOf<ApplicationVolumeReading>('bunnynet_application_volume');

function inBytes(gigabytes: number | null | undefined): number | undefined {
  return typeof gigabytes === 'number' ? Math.round(gigabytes * 1e9) : undefined;
}

/** A family with one series for each volume that has the value. */
function perVolume(name: string, help: string, pick: (volume: VolumeReading) => number | null | undefined) {
  return gauge(
    name,
    help,
    (volumes) =>
      volumes.flatMap((one): Sample[] => {
        const value = pick(one);
        return typeof value === 'number' ? [{ labels: { volume: one.name }, value }] : [];
      }),
    ['volume'],
  );
}

export const applicationVolume = defineResource({
  kind: 'application_volume',
  api: 'application',
  reference: 'GET /apps/{appId}/volumes',
  noun: "application's volumes",
  section: 'application_volumes',
  ids: [{ label: 'app_id', setting: 'id', form: 'opaque' }],
  defaultIntervalSeconds: 600,
  fields: [...volume.names, ...cursorPageFields],
  enumeratedFields: ['volumeInstances'],
  listing: applications,

  async read(get, ids, diagnostics): Promise<ApplicationVolumeReading> {
    const found = await readCursorPages(
      {
        path: `/apps/${encodeURIComponent(ids['app_id'] ?? '')}/volumes`,
        nouns: 'volumes',
        perPage: 1000,
        element: volume,
        identifier: 'name',
        isReading: true,
      },
      get,
      diagnostics,
    );
    return Array.from(found, ([name, { volumeInstances, ...rest }]) => {
      const instances = new Map<string, number>(states.map((state) => [state, 0]));
      for (const one of volumeInstances ?? []) {
        if (!one?.status) continue;
        const given = one.status.toLowerCase();
        const state = states.find((known) => known.toLowerCase() === given);
        if (!state) diagnostics.unrecognized('volumeInstances');
        instances.set(state ?? 'unknown', (instances.get(state ?? 'unknown') ?? 0) + 1);
      }
      return { ...rest, name, instances: volumeInstances ? instances : undefined };
    });
  },

  families: [
    perVolume(
      'capacity_bytes',
      'Size of each volume, taking what the API reports as gigabytes (API field size, times 1e9).',
      ({ size }) => inBytes(size),
    ),
    perVolume(
      'usage_bytes',
      'What is stored on each volume, taking what the API reports as gigabytes (API field totalUsage, times 1e9).',
      ({ totalUsage }) => inBytes(totalUsage),
    ),
    perVolume(
      'containers',
      'Containers that use each volume (API field containersCount).',
      ({ containersCount }) => containersCount,
    ),
    gauge(
      'instances',
      'Number of instances of each volume by their state (API field volumeInstances).',
      (volumes) =>
        volumes.flatMap(({ name, instances = [] }) =>
          Array.from(instances, ([state, value]) => ({ labels: { volume: name, state }, value })),
        ),
      ['volume', 'state'],
    ),
  ],
});
