import type { Environment } from './shipment.ts';

/** The workspace and environment that own data. Data of one scope is never returned to another. */
export interface Scope {
  readonly workspace_id: string;
  readonly environment: Environment;
}

/** Reports whether something belongs to the scope. */
export function isInScope(owned: Scope, { workspace_id, environment }: Scope): boolean {
  return owned.workspace_id === workspace_id && owned.environment === environment;
}

/** The body of every list response. `next_cursor` is opaque and bound to the filters and sort that it came with. */
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
  /** `next` of the previous page. */
  readonly after?: readonly string[];
}
/** A page of an internal list, from which the HTTP layer makes a {@link Page}. */
export interface ItemPage<T> {
  readonly items: readonly T[];
  /** Start of the next page; null after the last page. */
  readonly next: readonly string[] | null;
}

/** A place that a port code names. */
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
/** Looks up places. All methods are pure and synchronous; the tables do not change while the process runs. */
export interface Places {
  /** Returns the place with a normalised code; undefined if no table has the code. */
  find(code: string): Place | undefined;
  /**
   * Reports whether a code is known to be wrong: its country does not exist, or the operator's own UN/LOCODE list does
   * not contain it.
   */
  isUnknown(code: string): boolean;
  /**
   * Reports whether a text only looks like a UN/LOCODE: no table has the code, and it is the name of a place (TOKYO,
   * GENOA).
   */
  isName(code: string): boolean;
}

/** Places that people search by code or name. */
export interface PlaceDirectory extends Places {
  /**
   * Returns the places whose code begins with the text, and those where each word of the text begins a word of the name,
   * ignoring accents and case. An exact code comes first, then sea ports, then airports, each group sorted by name.
   * @param limit at least 1
   */
  search(text: string, limit: number): readonly Place[];
}

/** A value that JSON can represent without loss. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** Base addresses of the product, without a slash at the end. Links in responses and events begin with them. */
export interface PublicAddresses {
  /** URL of the web application. */
  readonly appUrl: string;
  /** URL of the API, without `/v1`. */
  readonly baseUrl: string;
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

export interface Trace {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** 2 hexadecimal digits. */
  readonly flags: string;
}

/** Parses a `traceparent`; undefined unless it is valid and of version 00. Source: W3C Trace Context, 3.2. */
export function parseTraceparent(traceparent: unknown): Trace | undefined {
  const [, id, flags] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  return id === undefined || flags === undefined ? undefined : { id, flags };
}
