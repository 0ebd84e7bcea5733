import { computeDistanceKm, normalisePlaceName, type PlaceLookup } from '@tracking/contracts';
import { getCountryOfLocation, toComparablePlace } from './references.ts';

/** Distance within which two places in one country are the same place. */
const MAX_SAME_PLACE_KM = 50;
const MAX_CACHED_LOCATION_NAMES = 10_000;

/** The place of a milestone, compared with the places of the shipment. */
export interface MilestonePlace {
  /**
   * Key of the place: two milestones with the same key are at the same place. For a place of the shipment, it is the
   * code of that place; for a missing location, it is empty.
   */
  readonly key: string;
  /** False if the location is missing, or a text that names no known place. Such a milestone can be anywhere. */
  readonly isKnown: boolean;
  readonly country: string | undefined;
  /** True for the places of the shipment: its origin, its destination, and the ports of its legs. */
  readonly isOfShipment: boolean;
  /** Distance from the destination; null if the coordinates of one of the places are not known. */
  readonly kmFromDestination: number | null;
}

const UNKNOWN_PLACE = { country: undefined, isOfShipment: false, kmFromDestination: null };
const MISSING_LOCATION: MilestonePlace = { key: '', isKnown: false, ...UNKNOWN_PLACE };

/** Number of locations that several place resolvers keep together. */
export interface SharedLocationCacheSize {
  count: number;
}

/** Finds the places of milestones. It keeps the results, because the milestones of a shipment share few places. */
export class MilestoneLocationToPlaceResolver {
  private readonly found = new Map<string, MilestonePlace>();

  /**
   * @param ports places of the shipment: its origin, its destination, and the ports of its legs
   * @param kept count of kept locations, which the locator increases
   */
  constructor(
    private readonly ports: readonly string[],
    private readonly destination: string | null,
    private readonly places: PlaceLookup,
    private readonly kept: SharedLocationCacheSize,
  ) {}

  findPlaceOfLocation(location: string | null): MilestonePlace {
    if (location === null) return MISSING_LOCATION;
    let located = this.found.get(location);
    if (located === undefined) {
      located = this.lookUpLocation(location);
      this.found.set(location, located);
      this.kept.count++;
    }
    return located;
  }

  private lookUpLocation(location: string): MilestonePlace {
    const code = toComparablePlace(location) ?? '';
    if (this.ports.includes(code)) return this.describePlaceOfCode(code);
    const country = getCountryOfLocation(code, this.places);
    if (country !== undefined)
      return this.describePlaceOfCode(this.findShipmentPortOfCode([code]) ?? this.findCommonCodeOfCity(code));
    const named = findPlaceCodesByName(location, this.places);
    const key = `name ${normalisePlaceName(location)}`;
    if (named === undefined) return { key, isKnown: false, ...UNKNOWN_PLACE };
    const [first] = named;
    const found = this.findShipmentPortOfCode(named) ?? (named.length === 1 ? first : undefined);
    return found === undefined ? { key, isKnown: true, ...UNKNOWN_PLACE } : this.describePlaceOfCode(found);
  }

  private describePlaceOfCode(key: string): MilestonePlace {
    const country = getCountryOfLocation(key, this.places);
    const measure = () => this.computeDistanceFromDestination(key);
    return {
      key,
      isKnown: true,
      country,
      isOfShipment: this.ports.includes(key),
      // The distance is computed on demand, because few milestones need it and it reads the table of places.
      get kmFromDestination() {
        return measure();
      },
    };
  }

  private computeDistanceFromDestination(code: string): number | null {
    const [place, end] = [this.places.find(code), this.destination && this.places.find(this.destination)];
    const km = place && end ? computeDistanceKm(place, end) : Infinity;
    return km === Infinity ? null : km;
  }

  /** Returns the place of the shipment that is the same as one of the codes: equal, an alias, or the nearest one. */
  private findShipmentPortOfCode(codes: readonly string[]): string | undefined {
    const same =
      this.ports.find((port) => codes.includes(port)) ?? this.ports.find((port) => this.isAliasOfPort(port, codes));
    if (same !== undefined) return same;
    let nearest: string | undefined;
    let least = MAX_SAME_PLACE_KM;
    for (const port of this.ports) {
      for (const code of codes) {
        const km = this.computeDistanceWithinCountry(port, code);
        if (km <= least && (km < least || nearest === undefined)) [nearest, least] = [port, km];
      }
    }
    return nearest;
  }

  private isAliasOfPort(port: string, codes: readonly string[]): boolean {
    const aliases = this.places.listAliases(port);
    return codes.some((code) => aliases.includes(code) || this.places.listAliases(code).includes(port));
  }

  private computeDistanceWithinCountry(port: string, code: string): number {
    const [a, b] = [this.places.find(port), this.places.find(code)];
    return a === undefined || a.country !== b?.country ? Infinity : computeDistanceKm(a, b);
  }

  /** Returns the same code for all codes of one city. */
  private findCommonCodeOfCity(code: string): string {
    return this.places.listAliases(code).reduce((first, alias) => (alias < first ? alias : first), code);
  }
}

/** Cached results of `PlaceLookup.lookUpPlaceCodesByName`, because feeds repeat their texts. */
const cachedPlaceCodesByName = new WeakMap<PlaceLookup, Map<string, readonly string[] | undefined>>();

function findPlaceCodesByName(text: string, places: PlaceLookup): readonly string[] | undefined {
  const known = cachedPlaceCodesByName.get(places) ?? new Map<string, readonly string[] | undefined>();
  cachedPlaceCodesByName.set(places, known);
  if (known.has(text)) return known.get(text);
  if (known.size >= MAX_CACHED_LOCATION_NAMES) known.clear();
  const found = places.lookUpPlaceCodesByName(text);
  known.set(text, found);
  return found;
}
