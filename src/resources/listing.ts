/** Listings as data: what is asked for, what of an element is read, and what tells one from another. Their pages are read in pages.ts. */
import { enumeratedFieldsOf, type ObjectType } from './fields.ts';
import {
  corePageFields,
  cursorPageFields,
  mapEach,
  readCorePages,
  readCursorPages,
  readShieldPages,
  readVideoPages,
  shieldPageFields,
  videoPageFields,
} from './pages.ts';
import type { ApiName, Found, IdField, Ids, Listing } from './resource.ts';

/** How each API pages its lists, and how many elements are asked for at once. */
const paging = {
  application: { readPages: readCursorPages, pageFields: cursorPageFields, perPage: 1000 },
  shield: { readPages: readShieldPages, pageFields: shieldPageFields, perPage: 100 },
  core: { readPages: readCorePages, pageFields: corePageFields, perPage: 100 },
  video: { readPages: readVideoPages, pageFields: videoPageFields, perPage: 1000 },
} as const;

interface ListingDeclaration<Element>
  extends Pick<Listing, 'kind' | 'nouns' | 'parent' | 'names' | 'isEmpty'> {
  readonly api: ApiName;
  /** With its query, if it has one beside the page. */
  readonly path: (parent: Ids) => string;
  readonly element: ObjectType<Element>;
  /** What its messages call the elements. Default: the nouns. */
  readonly elementNouns?: string;
  /** What identifies an element: the ids of the parent's, and the field that is the last. */
  readonly ids: readonly IdField[];
  readonly identifier: keyof Element & string;
  /** What of an element is of use beside its reading. */
  readonly about: (element: Element) => Omit<Found, 'ids' | 'reading'>;
}

/** Declares a listing: what it finds are its elements, each with its fields for a reading. */
export function defineListing<Element>(declaration: ListingDeclaration<Element>): Listing<Element> {
  const { path, element, elementNouns, identifier, about, ...listing } = declaration;
  const label = listing.ids.at(-1)?.label ?? '';
  const { readPages, pageFields, perPage } = paging[listing.api];
  return {
    ...listing,
    fields: [...element.names, ...pageFields],
    enumeratedFields: enumeratedFieldsOf(element),
    async discover(get, parent = {}, diagnostics) {
      const found = await readPages(
        { path: path(parent), nouns: elementNouns ?? listing.nouns, perPage, element, identifier },
        get,
        diagnostics,
      );
      return mapEach(found, ([id, reading]) => ({
        ids: { ...parent, [label]: id },
        ...about(reading),
        reading,
      }));
    },
  };
}

/** Which of these features are switched on, each by its flag. */
export function featuresOf(flags: Readonly<Record<string, boolean | undefined>>): readonly string[] {
  return Object.keys(flags).filter((feature) => flags[feature] === true);
}
