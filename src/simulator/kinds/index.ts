/** Every kind of the simulated API. A kind may build on the dataset of those before it. A new kind is one line here. */
import { apiGuardian } from './api-guardian.ts';
import { application } from './application.ts';
import { rateLimit } from './rate-limit.ts';
import { shieldZone } from './shield-zone.ts';
import { videoLibrary } from './video-library.ts';
import { videoStorage } from './video-storage.ts';

export const kinds = [application, shieldZone, apiGuardian, rateLimit, videoStorage, videoLibrary] as const;
