/** Every kind of the simulated API. A kind may build on the dataset of those before it. A new kind is one line here. */
import { apiGuardian } from './api-guardian.ts';
import { application } from './application.ts';
import { applicationLimits } from './application-limits.ts';
import { applicationOverview } from './application-overview.ts';
import { applicationVolume } from './application-volume.ts';
import { billing } from './billing.ts';
import { edgeScript } from './edge-script.ts';
import { rateLimit } from './rate-limit.ts';
import { shieldZone } from './shield-zone.ts';
import { videoLibrary } from './video-library.ts';
import { videoStorage } from './video-storage.ts';

export const kinds = [
  application,
  applicationOverview,
  applicationVolume,
  applicationLimits,
  shieldZone,
  apiGuardian,
  rateLimit,
  videoStorage,
  videoLibrary,
  edgeScript,
  billing,
] as const;
