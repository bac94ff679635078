/** The pull zones of an account (`/pullzone`). */
import { z } from 'zod';
import { id, text } from './fields.ts';
import { corePageFields, readCorePages } from './pages.ts';
import type { Listing } from './resource.ts';

const pullZone = z.object({ Id: id, Name: text });

/** Every pull zone with its name. One has some 170 fields, so a page is kept small. */
export const pullZones: Listing = {
  kind: 'pull_zone',
  api: 'core',
  nouns: 'pull zones',
  fields: [...Object.keys(pullZone.shape), ...corePageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      { path: '/pullzone', nouns: 'pull zones', perPage: 100, element: pullZone, identifier: 'Id' },
      get,
      diagnostics,
    );
    return [...found].map(([pullZoneId, { Name }]) => ({
      ids: { pull_zone_id: pullZoneId },
      name: Name ?? undefined,
    }));
  },
};
