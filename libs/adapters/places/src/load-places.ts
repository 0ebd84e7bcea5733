import { readFile } from 'node:fs/promises';
import { computeDistanceKm, type Place, type PlaceDirectory, splitIntoWords } from '@tracking/contracts';
import { CITY_AIRPORTS } from './city-airports.ts';
import { COUNTRY_CODES, type LocodeLocation, LocodeList } from './locode-list.ts';
import { PlaceIndex } from './place-index.ts';
import { type NamedPlace, PlaceNameIndex } from './place-names.ts';

/** The pattern accepts letters only, because words of names contain no digits. */
const LETTERS_ONLY_LOCODE_PATTERN = /^[A-Z]{5}$/;

/** Distance in km within which a port and the airport with its letters belong to one city. */
const MAX_KM_WITHIN_CITY = 80;

interface LoadPlacesOptions {
  /** Path of the operator's UN/LOCODE list (`PLACES_FILE`). */
  readonly file?: string | undefined;
}

/**
 * Loads the tables of known sea ports and airports, and the operator's list if given. Names of the list take
 * precedence; missing coordinates and time zones come from the tables.
 * @throws PlacesFileError
 */
export async function loadPlaces({ file }: LoadPlacesOptions = {}): Promise<PlaceDirectory> {
  const [known, list] = await Promise.all([
    PlaceCatalog.loadPlaceCatalog(),
    file ? LocodeList.readLocodeListFile(file) : undefined,
  ]);
  const find = (code: string): Place | undefined => {
    const listed = list?.findLocation(code);
    const place = known.findPlace(code);
    return listed === undefined ? place : mergePlaceSources(code, listed, place);
  };
  let index: PlaceIndex | undefined;
  let names: PlaceNameIndex | undefined;
  return {
    find,
    searchPlaces(text, limit) {
      // The index is created at the first search, so that it does not delay the start.
      index ??= new PlaceIndex(new Set([...known.codes, ...(list?.codes ?? [])]), find);
      return index.searchPlaces(text, limit);
    },
    isUnknownLocationCode(code) {
      // A UN/LOCODE list has no information about IATA codes of airports.
      if (code.length !== 5) return false;
      return !COUNTRY_CODES.has(code.slice(0, 2)) || (list !== undefined && !list.containsLocationCode(code));
    },
    isWordOfPlaceName: (code) => list?.containsLocationCode(code) !== true && known.isWordOfPlaceName(code),
    lookUpPlaceCodesByName(text) {
      names ??= new PlaceNameIndex(listNamedPlaces(known, list));
      return names.findCodesByPlaceName(text);
    },
    listAliases: (code) => known.listAliasesOfPlaceCode(code),
  };
}

function* listNamedPlaces(known: PlaceCatalog, list: LocodeList | undefined): Iterable<NamedPlace> {
  yield* known.listNamedPlaces();
  for (const [code, { name }] of Object.entries(CITY_AIRPORTS)) {
    const country = known.findPlace(code)?.country;
    if (country !== undefined) yield { code, country, name, subdivision: '' };
  }
  if (list === undefined) return;
  for (const code of list.codes) {
    const name = list.findLocation(code)?.name ?? null;
    yield {
      code,
      country: code.slice(0, 2),
      name,
      subdivision: known.findPlaceByCodeIncludingSubdivision(code)?.subdivision ?? '',
    };
  }
}

/** Merges a location of the list with the tables. Both coordinates come from the same source. */
function mergePlaceSources(code: string, listed: LocodeLocation, known: Place | undefined): Place {
  const isLocated = listed.latitude !== null && listed.longitude !== null;
  const { latitude = null, longitude = null } = (isLocated ? listed : known) ?? {};
  const { name = null, timezone = null } = known ?? {};
  return { code, country: code.slice(0, 2), name: listed.name ?? name, latitude, longitude, timezone };
}

/** Sea ports by UN/LOCODE and airports by IATA code. */
class PlaceCatalog {
  /** The tables are parsed line by line on demand, so that 12,000 places add only a few milliseconds to the start. */
  readonly #lines: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, Place>();
  /** Words of place names that look like codes. They are computed when an unknown code is first looked up. */
  #names: ReadonlySet<string> | undefined;

  private constructor(lines: ReadonlyMap<string, string>) {
    this.#lines = lines;
  }

  static async loadPlaceCatalog(): Promise<PlaceCatalog> {
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

  /** Finds a port, an airport, a city with several airports, or the UN/LOCODE of one of these airports or cities. */
  findPlace(code: string): Place | undefined {
    const place = this.#findPortOrAirport(code);
    if (place !== undefined) return place;
    const city = Object.hasOwn(CITY_AIRPORTS, code) ? CITY_AIRPORTS[code] : undefined;
    const first = city?.airports
      .map((airport) => this.#findPortOrAirport(airport))
      .find((airport) => airport !== undefined);
    if (city !== undefined && first !== undefined) return { ...first, code, name: city.name };
    if (!LETTERS_ONLY_LOCODE_PATTERN.test(code) || this.isWordOfPlaceName(code)) return undefined;
    const airport = this.findPlace(code.slice(2));
    return airport?.country === code.slice(0, 2) ? { ...airport, code } : undefined;
  }

  /** Implements `PlaceLookup.listAliases`. */
  listAliasesOfPlaceCode(code: string): readonly string[] {
    if (code.length === 5) {
      const airport =
        this.#findPortOrAirport(code) === undefined
          ? this.findPlace(code)?.code.slice(2)
          : this.#findAirportOfPort(code);
      return airport === undefined ? [] : [airport, ...listOtherCodesOfCity(airport)];
    }
    const country = this.findPlace(code)?.country;
    if (country === undefined) return [];
    const iata = [code, ...listOtherCodesOfCity(code)];
    const locodes = iata
      .map((each) => `${country}${each}`)
      .filter((each) => this.listAliasesOfPlaceCode(each).includes(code));
    return [...iata.slice(1), ...locodes];
  }

  /** Returns the airport with the last three letters of a UN/LOCODE, if it is in the same city. */
  #findAirportOfPort(code: string): string | undefined {
    const [port, airport] = [this.#findPortOrAirport(code), this.findPlace(code.slice(2))];
    if (port === undefined || airport?.country !== port.country) return undefined;
    return computeDistanceKm(port, airport) <= MAX_KM_WITHIN_CITY ? airport.code : undefined;
  }

  *listNamedPlaces(): Iterable<NamedPlace> {
    for (const code of this.codes) {
      const place = this.findPlaceByCodeIncludingSubdivision(code);
      if (place !== undefined) yield place;
    }
  }

  /** Returns a place of the table with its state. */
  findPlaceByCodeIncludingSubdivision(code: string): NamedPlace | undefined {
    const place = this.#findPortOrAirport(code);
    return place && { ...place, subdivision: this.#lines.get(code)?.split('\t')[6] ?? '' };
  }

  /** Finds a port or airport of the table. Keeps parsed lines, because shipments share most of their places. */
  #findPortOrAirport(code: string): Place | undefined {
    const parsed = this.#parsed.get(code) ?? this.#parsePlaceLine(code);
    if (parsed !== undefined) this.#parsed.set(code, parsed);
    return parsed;
  }

  #parsePlaceLine(code: string): Place | undefined {
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

  /** Returns true if a word that looks like a code is part of a place's name and is not itself a code. */
  isWordOfPlaceName(code: string): boolean {
    return !this.#lines.has(code) && (this.#names ??= this.collectNameWordsLikeLocodes()).has(code);
  }

  private collectNameWordsLikeLocodes(): ReadonlySet<string> {
    const words = [...this.#lines.values()].flatMap((line) => splitIntoWords(line.split('\t')[2] ?? ''));
    return new Set(words.map((word) => word.toUpperCase()).filter((word) => LETTERS_ONLY_LOCODE_PATTERN.test(word)));
  }
}

/** Returns the airports of a city, or the city of an airport. */
function listOtherCodesOfCity(code: string): readonly string[] {
  const airports = Object.hasOwn(CITY_AIRPORTS, code) ? (CITY_AIRPORTS[code]?.airports ?? []) : [];
  const city = CITIES_BY_AIRPORT.get(code);
  return [...airports, ...(city === undefined ? [] : [city])].filter((alias) => alias !== code);
}

const CITIES_BY_AIRPORT: ReadonlyMap<string, string> = new Map(
  Object.entries(CITY_AIRPORTS).flatMap(([city, { airports }]) => airports.map((airport) => [airport, city] as const)),
);
