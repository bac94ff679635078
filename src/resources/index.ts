/** Every kind there is, in the order of the page. A new kind is one line here, and its file. */
import { apiGuardian } from './api-guardian.ts';
import { application } from './application.ts';
import { rateLimit } from './rate-limit.ts';
import type { Resource } from './resource.ts';
import { shieldZone } from './shield-zone.ts';
import { videoLibrary } from './video-library.ts';
import { videoStorage } from './video-storage.ts';

export const resources: readonly Resource[] = [
  application,
  shieldZone,
  apiGuardian,
  rateLimit,
  videoStorage,
  videoLibrary,
];
