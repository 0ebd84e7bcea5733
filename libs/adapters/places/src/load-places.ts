import { readFile } from 'node:fs/promises';
import type { Place, PlaceDirectory } from '@tracking/contracts';
import { COUNTRY_CODES, type Location, LocodeList } from './locode-list.ts';
import { PlaceIndex, splitIntoWords } from './place-index.ts';

/** The pattern accepts letters only, because words of names contain no digits. */
const CODE_PATTERN = /^[A-Z]{5}$/;

interface PlacesOptions {
  /** Path of the operator's UN/LOCODE list (`PLACES_FILE`). */
  readonly file?: string | undefined;
}

/**
 * Loads the tables of known sea ports and airports, and the operator's list if given. Names of the list take
 * precedence; missing coordinates and time zones come from the tables.
 * @throws PlacesFileError
 */
export async function loadPlaces({ file }: PlacesOptions = {}): Promise<PlaceDirectory> {
  const [known, list] = await Promise.all([PlaceCatalog.load(), file ? LocodeList.load(file) : undefined]);
  const find = (code: string): Place | undefined => {
    const listed = list?.find(code);
    const place = known.find(code);
    return listed === undefined ? place : mergePlace(code, listed, place);
  };
  let index: PlaceIndex | undefined;
  return {
    find,
    search(text, limit) {
      // The index is created at the first search, so that it does not delay the start.
      index ??= new PlaceIndex(new Set([...known.codes, ...(list?.codes ?? [])]), find);
      return index.search(text, limit);
    },
    isUnknown(code) {
      // A UN/LOCODE list has no information about IATA codes of airports.
      if (code.length !== 5) return false;
      return !COUNTRY_CODES.has(code.slice(0, 2)) || (list !== undefined && !list.has(code));
    },
    isName: (code) => list?.has(code) !== true && known.isName(code),
  };
}

/** Merges a location of the list with the tables. Both coordinates come from the same source. */
function mergePlace(code: string, listed: Location, known: Place | undefined): Place {
  const isLocated = listed.latitude !== null && listed.longitude !== null;
  const { latitude = null, longitude = null } = (isLocated ? listed : known) ?? {};
  const { name = null, timezone = null } = known ?? {};
  return { code, country: code.slice(0, 2), name: listed.name ?? name, latitude, longitude, timezone };
}

/** Sea ports by UN/LOCODE and airports by IATA code. */
class PlaceCatalog {
  /** The tables are parsed line by line on demand, so that 12,000 places add only a few milliseconds to the start. */
  readonly #lines: ReadonlyMap<string, string>;
  /** Words of place names that look like codes. They are computed when an unknown code is first looked up. */
  #names: ReadonlySet<string> | undefined;

  private constructor(lines: ReadonlyMap<string, string>) {
    this.#lines = lines;
  }

  static async load(): Promise<PlaceCatalog> {
    const text = await readFile(new URL('./table/places.tsv', import.meta.url), 'utf8');
    const lines = new Map<string, string>();
    for (const line of text.split('\n')) {
      const end = line.indexOf('\t');
      if (end > 0) lines.set(line.slice(0, end), line);
    }
    return new PlaceCatalog(lines);
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

  /** Implements `Places.isName`. */
  isName(code: string): boolean {
    return !this.#lines.has(code) && (this.#names ??= this.findNamesLikeCodes()).has(code);
  }

  private findNamesLikeCodes(): ReadonlySet<string> {
    const words = [...this.#lines.values()].flatMap((line) => splitIntoWords(line.split('\t')[2] ?? ''));
    return new Set(words.map((word) => word.toUpperCase()).filter((word) => CODE_PATTERN.test(word)));
  }
}
