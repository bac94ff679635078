/** The volumes of a Magic Containers application (`/apps/{app}/volumes`). */
import { defineResource } from '../define.ts';
import { within } from '../envelope.ts';
import { count, countedBy, gauge, label, shown } from '../families.ts';
import {
  elements,
  fieldOf,
  gigabytes,
  isObject,
  listOf,
  object,
  oneOf,
  textId,
  type ValueOf,
} from '../fields.ts';
import { applications } from './application.ts';

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
];

const asGigabytes = 'assuming that the API reports gigabytes (%s, times 1e9)';

const instance = object({ status: oneOf(states) }).ignoring(
  'id attachedPods[] attachedContainers[] region size usage set',
);

const volume = object({
  name: label('volume'),
  id: label('volume_id', textId),
  size: gauge('capacity_bytes', `Size of each volume, ${asGigabytes}`, gigabytes),
  totalUsage: gauge('usage_bytes', `What is stored on each volume, ${asGigabytes}`, gigabytes),
  containersCount: count('containers', 'Containers that use each volume'),
  volumeInstances: shown(listOf(instance), {
    name: 'instances',
    words: 'Number of instances of each volume by status',
    ...countedBy(states, ({ status }: ValueOf<typeof instance>) => status),
  }),
}).ignoring('totalInstancesCount attachedInstancesCount');

function countsNone(body: unknown): boolean {
  const meta = isObject(body) && fieldOf(body, 'meta');
  return isObject(meta) && fieldOf(meta, 'totalItems') === 0;
}

export const applicationVolume = defineResource({
  kind: 'application_volume',
  noun: 'application volumes',
  section: 'application_volumes',
  listing: applications,
  path: '/apps/{appId}/volumes',
  // All volumes come at once: the operation has no parameters, and its cursor leads nowhere.
  answer: within(
    'items',
    elements(volume, { addsUp: true, identifiers: ['name', 'id'] }),
    'meta{totalItems} cursor summary{totalPods totalContainers totalStorage}',
    countsNone,
  ),
});
