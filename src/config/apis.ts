/** The APIs: their default addresses and paces, and the variables that set the addresses. */
import type { ApiName } from '../resources/resource.ts';

const usualPace = { maxConcurrency: 8, requestsPerSecond: 10 };
const slowPace = { maxConcurrency: 2, requestsPerSecond: 2 };

export const apis = {
  application: { baseUrl: 'https://api.bunny.net/mc', ...usualPace },
  shield: { baseUrl: 'https://api.bunny.net', ...usualPace },
  core: { baseUrl: 'https://api.bunny.net', ...usualPace },
  video: { baseUrl: 'https://video.bunnycdn.com', ...slowPace },
  origin_errors: { baseUrl: 'https://cdn-origin-logging.bunny.net', ...slowPace },
} satisfies Record<ApiName, object>;

export function urlVariable(api: ApiName): string {
  return `BUNNYNET_${api.toUpperCase()}_URL`;
}
