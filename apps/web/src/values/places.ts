import { queryOptions } from '@tanstack/react-query';
import type { Shipment, TrackingClient } from '@tracking/client';
import { type Environment, getApiClient } from '../session/api.ts';
import { getDayAtPlace } from './zones.ts';

/**
 * Query of one place by its code. The result is null if the code is unknown. Queries that start at the same time share
 * one API request.
 */
export function placeQuery(environment: Environment, code: string) {
  return queryOptions({
    queryKey: ['place', environment, code],
    queryFn: () => placeLoadersByEnvironment[environment].loadPlace(code),
    staleTime: Infinity,
  });
}

/** Query of the places that match a text, which contains words of their names or the start of their codes. */
export function placeSearchQuery(environment: Environment, words: string) {
  return queryOptions({
    queryKey: ['places', environment, words],
    queryFn: async ({ signal }) =>
      (await getApiClient(environment).places.find({ q: words, limit: 20 }, { signal })).data,
    enabled: words !== '',
    staleTime: Infinity,
  });
}

export type Place = Awaited<ReturnType<TrackingClient['places']['find']>>['data'][number];

/** Maximum number of place codes in one request. The query string is limited to 1,000 characters. */
const MAX_PLACE_CODES_PER_REQUEST = 120;
/** Milliseconds for which place codes are collected before one request reads them. */
const PLACE_CODE_COLLECTION_MS = 10;

type PendingPlace = ReturnType<typeof Promise.withResolvers<Place | null>>;

/** Loads places by code. It collects the codes of simultaneous queries and reads many of them with one request. */
export class PlaceLoader {
  private waiting = new Map<string, PendingPlace>();
  private readonly zones = new Map<string, string>();

  constructor(private readonly find: (codes: readonly string[]) => Promise<readonly Place[]>) {}

  loadPlace(code: string): Promise<Place | null> {
    const known = this.waiting.get(code);
    if (known !== undefined) return known.promise;
    if (this.waiting.size === 0) setTimeout(() => this.requestWaitingPlaces(), PLACE_CODE_COLLECTION_MS);
    const pending = Promise.withResolvers<Place | null>();
    this.waiting.set(code, pending);
    return pending.promise;
  }

  private requestWaitingPlaces(): void {
    const all = [...this.waiting];
    this.waiting = new Map();
    for (let from = 0; from < all.length; from += MAX_PLACE_CODES_PER_REQUEST)
      void this.loadPlaceBatch(all.slice(from, from + MAX_PLACE_CODES_PER_REQUEST));
  }

  /** Loads the places whose time zones are not known yet. Missing codes are ignored. */
  async loadTimeZonesOfPlaces(codes: readonly (string | null)[]): Promise<void> {
    const unknown = [...new Set(codes)].filter((code) => code !== null && !this.zones.has(code)) as string[];
    await Promise.all(unknown.map((code) => this.loadPlace(code)));
  }

  /** Returns the time zone of a place that was loaded before. Returns undefined if it is unknown. */
  findLoadedZone(code: string): string | undefined {
    return this.zones.get(code);
  }

  private async loadPlaceBatch(some: readonly (readonly [string, PendingPlace])[]): Promise<void> {
    try {
      const places = await this.find(some.map(([code]) => code));
      const byCode = new Map(places.map((place) => [place.code, place]));
      for (const { code, timezone } of places) if (timezone !== null) this.zones.set(code, timezone);
      for (const [code, { resolve }] of some) resolve(byCode.get(code) ?? null);
    } catch (error) {
      for (const [, { reject }] of some) reject(error);
    }
  }
}

const createPlaceLoaderForEnvironment = (environment: Environment) =>
  new PlaceLoader(
    async (codes) => (await getApiClient(environment).places.find({ code: [...codes], limit: 200 })).data,
  );
const placeLoadersByEnvironment: Readonly<Record<Environment, PlaceLoader>> = {
  live: createPlaceLoaderForEnvironment('live'),
  test: createPlaceLoaderForEnvironment('test'),
};

/** Loads the time zones of ports, so that {@link toTimeOrDate} knows them. Missing codes are ignored. */
export function loadPortZones(environment: Environment, ports: readonly (string | null)[]): Promise<void> {
  return placeLoadersByEnvironment[environment].loadTimeZonesOfPlaces(ports);
}

/**
 * Returns an expected time as the API accepts it: of a whole day its date at the port, otherwise the time.
 * @param port port whose place was loaded before; without it, the date in UTC−12 is used, as for unknown places
 */
export function toTimeOrDate(
  time: string | null,
  precision: Shipment['eta_precision'],
  port: string | null,
): string | null {
  if (time === null || precision === 'time') return time;
  const code = port ?? '';
  return getDayAtPlace(
    time,
    placeLoadersByEnvironment.live.findLoadedZone(code) ?? placeLoadersByEnvironment.test.findLoadedZone(code),
  );
}
