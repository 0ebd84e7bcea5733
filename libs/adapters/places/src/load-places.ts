import { readFile } from 'node:fs/promises';
import type { Place, PlaceDirectory } from '@tracking/contracts';
import { COUNTRIES, type Location, LocodeList } from './locode-list.ts';
import { PlaceIndex, wordsOf } from './place-index.ts';

/** Letters alone: no word of a name has a digit. */
const CODE_PATTERN = /^[A-Z]{5}$/;

interface PlacesOptions {
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

/** A place of the list, completed from the tables. Both coordinates come from the same source. */
function completed(code: string, listed: Location, known: Place | undefined): Place {
  const isLocated = listed.latitude !== null && listed.longitude !== null;
  const { latitude = null, longitude = null } = (isLocated ? listed : known) ?? {};
  const { name = null, timezone = null } = known ?? {};
  return { code, country: code.slice(0, 2), name: listed.name ?? name, latitude, longitude, timezone };
}

/** Sea ports by UN/LOCODE and airports by IATA code. */
class KnownPlaces {
  /** Lines are kept as they are and taken apart when asked for: 12,000 places cost a start a few milliseconds. */
  readonly #lines: ReadonlyMap<string, string>;
  /** Words of names that have the form of a code; made when a code that is none of these is first asked for. */
  #names: ReadonlySet<string> | undefined;

  private constructor(lines: ReadonlyMap<string, string>) {
    this.#lines = lines;
  }

  static async load(): Promise<KnownPlaces> {
    const text = await readFile(new URL('./table/places.tsv', import.meta.url), 'utf8');
    const lines = new Map<string, string>();
    for (const line of text.split('\n')) {
      const end = line.indexOf('\t');
      if (end > 0) lines.set(line.slice(0, end), line);
    }
    return new KnownPlaces(lines);
  }

  get codes(): Iterable<string> {
    return this.#lines.keys();
  }

  find(code: string): Place | undefined {
    const line = this.#lines.get(code);
    if (line === undefined) return undefined;
    const [, country = '', name = '', latitude = '', longitude = '', timezone = ''] = line.split('\t');
    return {
      code,
      name,
      country,
      latitude: latitude === '' ? null : Number(latitude),
      longitude: longitude === '' ? null : Number(longitude),
      timezone: timezone === '' ? null : timezone,
    };
  }

  /** As of `Places.isName`. */
  isName(code: string): boolean {
    return !this.#lines.has(code) && (this.#names ??= this.namesLikeCodes()).has(code);
  }

  private namesLikeCodes(): ReadonlySet<string> {
    const words = [...this.#lines.values()].flatMap((line) => wordsOf(line.split('\t')[2] ?? ''));
    return new Set(words.map((word) => word.toUpperCase()).filter((word) => CODE_PATTERN.test(word)));
  }
}
