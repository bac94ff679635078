/** The panels of every kind, in the order in which they share a dashboard. A new kind is one line here, and its file. */
import type { KindPanels } from '../dashboard.ts';
import { apiGuardianPanels } from './api-guardian.ts';
import { applicationPanels } from './application.ts';
import { rateLimitPanels } from './rate-limit.ts';
import { shieldZonePanels } from './shield-zone.ts';
import { videoStoragePanels } from './video-storage.ts';

export const kindPanels: readonly KindPanels[] = [
  applicationPanels,
  shieldZonePanels,
  apiGuardianPanels,
  rateLimitPanels,
  videoStoragePanels,
];
