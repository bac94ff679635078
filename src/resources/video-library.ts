/** The video libraries of an account (`/videolibrary`), each with the key that opens it. */
import { z } from 'zod';
import { id, text } from './fields.ts';
import { corePageFields, readCorePages } from './pages.ts';
import type { Listing } from './resource.ts';

const library = z.object({ Id: id, Name: text, ApiKey: text });

/** Every video library with its name and its key. */
export const videoLibraries: Listing = {
  kind: 'video_library',
  api: 'core',
  nouns: 'video libraries',
  fields: [...Object.keys(library.shape), ...corePageFields],
  async discover(get, _parent, diagnostics) {
    const found = await readCorePages(
      { path: '/videolibrary', nouns: 'libraries', perPage: 100, element: library, identifier: 'Id' },
      get,
      diagnostics,
    );
    return [...found].map(([libraryId, { Name, ApiKey }]) => ({
      ids: { library_id: libraryId },
      name: Name ?? undefined,
      key: ApiKey ? () => ApiKey : undefined,
    }));
  },
};
