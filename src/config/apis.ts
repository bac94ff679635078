/** The APIs: their default addresses and paces, and the variables that set the addresses. */
import type { ApiName } from '../resources/resource.ts';

export const apis = {
  application: {
    baseUrl: 'https://api.bunny.net/mc',
    urlVariable: 'BUNNYNET_APPLICATION_URL',
    maxConcurrency: 8,
    requestsPerSecond: 10,
  },
  shield: {
    baseUrl: 'https://api.bunny.net',
    urlVariable: 'BUNNYNET_SHIELD_URL',
    maxConcurrency: 8,
    requestsPerSecond: 10,
  },
  core: {
    baseUrl: 'https://api.bunny.net',
    urlVariable: 'BUNNYNET_CORE_URL',
    maxConcurrency: 8,
    requestsPerSecond: 10,
  },
  video: {
    baseUrl: 'https://video.bunnycdn.com',
    urlVariable: 'BUNNYNET_VIDEO_URL',
    maxConcurrency: 2,
    requestsPerSecond: 2,
  },
} satisfies Record<ApiName, object>;
