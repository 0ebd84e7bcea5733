import type { Environment } from './shipment.ts';

/** The workspace and environment to which data belongs. A request in one scope never returns data of another scope. */
export interface WorkspaceScope {
  readonly workspace_id: string;
  readonly environment: Environment;
}

/** Returns true if a resource belongs to the scope. */
export function isResourceInScope(owned: WorkspaceScope, { workspace_id, environment }: WorkspaceScope): boolean {
  return owned.workspace_id === workspace_id && owned.environment === environment;
}

/** Returns the workspaces and environments of the scopes, by field. */
export function collectScopeFieldValues(scopes: readonly WorkspaceScope[]): {
  readonly workspace_id: readonly string[];
  readonly environment: readonly Environment[];
} {
  return {
    workspace_id: [...new Set(scopes.map(({ workspace_id }) => workspace_id))],
    environment: [...new Set(scopes.map(({ environment }) => environment))],
  };
}

/** The body of every list response. `next_cursor` is opaque and valid only with the same filters and sort. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}
export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** A request for one page of an internal list. */
export interface PageRequest {
  readonly limit: number;
  /** Value of `next` from the previous page. */
  readonly after?: readonly string[];
}
/** A page of an internal list. The HTTP layer converts it to a {@link Page}. */
export interface ItemPage<T> {
  readonly items: readonly T[];
  /** Start of the next page; null after the last page. */
  readonly next: readonly string[] | null;
}

/** A place with a port or airport code. */
export interface Place {
  /** UN/LOCODE (five characters) or IATA airport code (three). */
  readonly code: string;
  readonly name: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** IANA name. */
  readonly timezone: string | null;
}
/** Looks up places in tables. All methods are pure and synchronous; the tables do not change while the process runs. */
export interface PlaceLookup {
  /** Returns the place with a normalized code; undefined if no table contains the code. */
  find(code: string): Place | undefined;
  /**
   * Returns true if a code is certainly wrong: its country does not exist, or the operator's UN/LOCODE list does not
   * contain it.
   */
  isUnknownLocationCode(code: string): boolean;
  /**
   * Returns true if a text has the format of a UN/LOCODE but is the name of a place, such as TOKYO or GENOA, and no
   * table contains the code.
   */
  isWordOfPlaceName(code: string): boolean;
  /**
   * Returns the codes of the places that a text names: the name of a place, optionally with its state or country
   * (`LOS ANGELES, CA`). Case, accents and punctuation do not matter. Returns an empty list if places have the name,
   * but none is in the state or country; undefined if no place has the name.
   */
  lookUpPlaceCodesByName(text: string): readonly string[] | undefined;
  /**
   * Returns other codes of the place: of an airport, its UN/LOCODE and the IATA code of its city; of a city, its
   * airports. The codes need not be in a table.
   */
  listAliases(code: string): readonly string[];
}

type Coordinates = Pick<Place, 'latitude' | 'longitude'>;

/** Returns the great-circle distance of two places in km; `Infinity` if the coordinates of one are not known. */
export function computeDistanceKm(a: Coordinates, b: Coordinates): number {
  if (a.latitude === null || a.longitude === null || b.latitude === null || b.longitude === null) return Infinity;
  const radians = Math.PI / 180;
  const height = Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2;
  const width = Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  const chord = height + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * width;
  return 12_742 * Math.asin(Math.sqrt(Math.min(1, chord)));
}

const COMBINING_MARKS = /\p{M}/gu;
const WORD_PATTERN = /[\p{L}\p{N}]+/gu;

/** Splits a text into words in lower case without accents. */
export function splitIntoWords(text: string): readonly string[] {
  return text.normalize('NFKD').replaceAll(COMBINING_MARKS, '').toLowerCase().match(WORD_PATTERN) ?? [];
}

/** Returns the form in which names of places are compared: words in folded case without accents and punctuation. */
export function normalisePlaceName(text: string): string {
  return splitIntoWords(text.toUpperCase()).join(' ');
}

/** Searches places by code or name. */
export interface PlaceDirectory extends PlaceLookup {
  /**
   * Returns places whose code starts with the text, and places whose name contains a word that starts with each word of
   * the text. Ignores accents and case. An exact code comes first, then sea ports, then airports; each group is sorted
   * by name.
   * @param limit at least 1
   */
  searchPlaces(text: string, limit: number): readonly Place[];
}

/** A value that JSON can represent without loss. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** Base addresses of the product, without a final slash. Links in responses and events start with these addresses. */
export interface PublicAddresses {
  /** URL of the web application. */
  readonly appUrl: string;
  /** URL of the API, without `/v1`. */
  readonly baseUrl: string;
}

const TRACEPARENT_PATTERN = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** 2 hexadecimal digits. */
  readonly flags: string;
}

/**
 * Parses a `traceparent` header. Returns undefined unless the header is valid and has version 00. Source: W3C Trace
 * Context, 3.2.
 */
export function parseTraceparent(traceparent: unknown): TraceContext | undefined {
  const [, id, flags] = (typeof traceparent === 'string' && TRACEPARENT_PATTERN.exec(traceparent)) || [];
  return id === undefined || flags === undefined ? undefined : { id, flags };
}
