import type { Place, PlaceDirectory } from '@tracking/contracts';
import { COUNTRIES } from './countries.ts';
import { KnownPlaces } from './known-places.ts';
import { LocodeList, type Location } from './locode-list.ts';
import { PlaceIndex } from './place-index.ts';

export interface PlacesOptions {
  /** Path of the operator's own UN/LOCODE list (`PLACES_FILE`). */
  readonly file?: string | undefined;
}

/**
 * The tables of known sea ports and airports, and the operator's list where there is one. Its names go before those of
 * the tables; coordinates and time zones that it lacks come from them.
 * @throws PlacesFileError
 */
export async function loadPlaces({ file }: PlacesOptions = {}): Promise<PlaceDirectory> {
  const [known, list] = await Promise.all([KnownPlaces.load(), file ? LocodeList.load(file) : undefined]);
  const find = (code: string): Place | undefined => {
    const listed = list?.find(code);
    const place = known.find(code);
    return listed === undefined ? place : completed(code, listed, place);
  };
  let index: PlaceIndex | undefined;
  return {
    find,
    search(text, limit) {
      // Made when somebody first searches: a start does not wait for it.
      index ??= new PlaceIndex(new Set([...known.codes, ...(list?.codes ?? [])]), find);
      return index.search(text, limit);
    },
    isUnknown(code) {
      // a UN/LOCODE list says nothing about the three letters of an airport
      if (code.length !== 5) return false;
      return !COUNTRIES.has(code.slice(0, 2)) || (list !== undefined && !list.has(code));
    },
    isName: (code) => list?.has(code) !== true && known.isName(code),
  };
}

/** What the list says of a place, with what the tables add. Coordinates come whole from one of them. */
function completed(code: string, listed: Location, known: Place | undefined): Place {
  const isLocated = listed.latitude !== null && listed.longitude !== null;
  const { latitude = null, longitude = null } = (isLocated ? listed : known) ?? {};
  const { name = null, timezone = null } = known ?? {};
  return { code, country: code.slice(0, 2), name: listed.name ?? name, latitude, longitude, timezone };
}
