import { normalisePlaceName, type Place } from '@tracking/contracts';
import { COUNTRY_CODES } from './locode-list.ts';

/** A named place with its state or province; `''` if the state is not known. */
export interface NamedPlace extends Pick<Place, 'code' | 'country' | 'name'> {
  readonly subdivision: string;
}

/** A country, or a state of it. */
interface CountryRegion {
  readonly country: string;
  /** Normalized name of the state; undefined for a whole country. */
  readonly subdivision?: string;
}

/** Maximum number of words in a name with its state and country. */
const MAX_PLACE_NAME_WORDS = 12;
/** Ends of the names of airports. Feeds often omit them. */
const AIRPORT_SUFFIX_PATTERN = / (?:international |intl |regional |municipal )?airport$/;

/** Finds places by the texts that feeds send instead of codes. */
export class PlaceNameIndex {
  /** Codes of places by normalized name. */
  private readonly placesByName = new Map<string, NamedPlace[]>();
  private readonly regionsByName = createRegionsByName();

  constructor(named: Iterable<NamedPlace>) {
    for (const place of named) {
      const name = normalisePlaceName(place.name ?? '');
      this.addPlaceToNameIndex(name, place);
      const shortName = name.replace(AIRPORT_SUFFIX_PATTERN, '');
      if (shortName !== name) this.addPlaceToNameIndex(shortName, place);
    }
  }

  /** Implements `PlaceLookup.lookUpPlaceCodesByName`. */
  findCodesByPlaceName(text: string): readonly string[] | undefined {
    const words = normalisePlaceName(text).split(' ');
    if (words.length > MAX_PLACE_NAME_WORDS) return undefined;
    const exact = this.placesByName.get(words.join(' '));
    if (exact !== undefined) return listPlaceCodes(exact);
    let isNameOfOthers = false;
    for (let length = words.length - 1; length > 0; length--) {
      const named = this.placesByName.get(words.slice(0, length).join(' '));
      if (named === undefined) continue;
      const suffix = words.slice(length);
      const regions = this.findRegionsNamedByWords(suffix);
      const own = suffix.join(' ');
      const within = selectPlacesInRegions(named, regions, own);
      if (within.length > 0) return listPlaceCodes(within);
      if (regions.length > 0) isNameOfOthers = true;
    }
    return isNameOfOthers ? [] : undefined;
  }

  private addPlaceToNameIndex(name: string, place: NamedPlace): void {
    const same = this.placesByName.get(name);
    if (same === undefined) this.placesByName.set(name, [place]);
    else if (!same.some(({ code }) => code === place.code)) same.push(place);
  }

  /** Returns the regions that the words name: a state, a country, or a state and its country. */
  private findRegionsNamedByWords(words: readonly string[]): readonly CountryRegion[] {
    const whole = this.regionsByName.get(words.join(' '));
    if (whole !== undefined) return whole;
    for (let length = 1; length < words.length; length++) {
      const states = this.regionsByName.get(words.slice(0, length).join(' ')) ?? [];
      const countries = this.regionsByName.get(words.slice(length).join(' ')) ?? [];
      const both = states.filter(
        ({ country, subdivision }) =>
          subdivision !== undefined &&
          countries.some((other) => other.subdivision === undefined && other.country === country),
      );
      if (both.length > 0) return both;
    }
    return [];
  }
}

/**
 * Returns the places in one of the regions, or in the state with the name. A place whose state is not known counts only
 * if no place with the name is in a known state.
 */
function selectPlacesInRegions(
  named: readonly NamedPlace[],
  regions: readonly CountryRegion[],
  stateName: string,
): readonly NamedPlace[] {
  const located = named.filter(({ subdivision }) => subdivision !== '');
  const within = located.filter(
    (place) =>
      normalisePlaceName(place.subdivision) === stateName ||
      regions.some(
        ({ country, subdivision }) =>
          country === place.country &&
          (subdivision === undefined || subdivision === normalisePlaceName(place.subdivision)),
      ),
  );
  const isKnownInCountry = (country: string) => located.some((place) => place.country === country);
  const others = named.filter(
    (place) =>
      place.subdivision === '' &&
      regions.some(
        ({ country, subdivision }) =>
          country === place.country && (subdivision === undefined || !isKnownInCountry(country)),
      ),
  );
  return [...within, ...others];
}

function listPlaceCodes(named: readonly NamedPlace[]): readonly string[] {
  return named.map(({ code }) => code);
}

/** Other names of countries in addresses. */
const OTHER_COUNTRY_NAMES: Readonly<Record<string, string>> = {
  usa: 'US',
  'u s a': 'US',
  uk: 'GB',
  'great britain': 'GB',
  england: 'GB',
  uae: 'AE',
  prc: 'CN',
  korea: 'KR',
  'republic of korea': 'KR',
  holland: 'NL',
  'czech republic': 'CZ',
  turkey: 'TR',
  'viet nam': 'VN',
  'russian federation': 'RU',
};

/** Abbreviations of states, by country. Addresses in these countries usually contain them. */
const STATE_ABBREVIATIONS: Readonly<Record<string, string>> = {
  US:
    'AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,' +
    'DC District of Columbia,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,' +
    'KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,' +
    'MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,' +
    'NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,PR Puerto Rico,RI Rhode Island,' +
    'SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,' +
    'WV West Virginia,WI Wisconsin,WY Wyoming',
  CA:
    'AB Alberta,BC British Columbia,MB Manitoba,NB New Brunswick,NL Newfoundland and Labrador,NS Nova Scotia,' +
    'NT Northwest Territories,NU Nunavut,ON Ontario,PE Prince Edward Island,QC Quebec,SK Saskatchewan,YT Yukon',
  AU:
    'ACT Australian Capital Territory,NSW New South Wales,NT Northern Territory,QLD Queensland,SA South Australia,' +
    'TAS Tasmania,VIC Victoria,WA Western Australia',
};

/** Returns countries and states by their normalized names and abbreviations. */
function createRegionsByName(): ReadonlyMap<string, readonly CountryRegion[]> {
  const regions = new Map<string, CountryRegion[]>();
  const add = (name: string, region: CountryRegion) => {
    const key = normalisePlaceName(name);
    regions.set(key, [...(regions.get(key) ?? []), region]);
  };
  const countryNames = new Intl.DisplayNames('en', { type: 'region' });
  for (const country of COUNTRY_CODES) {
    add(country, { country });
    add(countryNames.of(country) ?? country, { country });
  }
  for (const [name, country] of Object.entries(OTHER_COUNTRY_NAMES)) add(name, { country });
  for (const [country, states] of Object.entries(STATE_ABBREVIATIONS)) {
    for (const state of states.split(',')) {
      const [, abbreviation = '', name = ''] = /^(\S+) (.+)$/.exec(state) ?? [];
      const region = { country, subdivision: normalisePlaceName(name) };
      add(abbreviation, region);
      add(name, region);
    }
  }
  return regions;
}
