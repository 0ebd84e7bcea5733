import type { Environment } from './shipment.ts';

/** Whose data it is: nothing of one workspace and environment is ever answered to another. */
export interface Scope {
  readonly workspace_id: string;
  readonly environment: Environment;
}

/** Whether something is of the scope. */
export function isInScope(owned: Scope, { workspace_id, environment }: Scope): boolean {
  return owned.workspace_id === workspace_id && owned.environment === environment;
}

/** Every list answer. `next_cursor` is opaque and bound to the filters and sort that it came with. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}
export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** Which page is asked for, of a list inside. */
export interface PageRequest {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: readonly string[];
}
/** A page as the edge is handed it, which makes a {@link Page} of it. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null after the last. */
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
/** Looks up places; pure and synchronous, from tables that do not change while the process lives. */
export interface Places {
  /** The place of a normalised code, if a table knows it. */
  find(code: string): Place | undefined;
  /** Whether the code is known to be wrong: no such country, or absent from the operator's own UN/LOCODE list. */
  isUnknown(code: string): boolean;
  /** Whether it only has the form of a UN/LOCODE: no table has the code, and places are called so (TOKYO, GENOA). */
  isName(code: string): boolean;
}

/** Places that people look for by what they remember of them. */
export interface PlaceDirectory extends Places {
  /**
   * Those whose code begins so, or of whose name each of these words begins a word, whatever the accents and the case. The
   * code that it is comes first, then sea ports before airports, each by name.
   * @param limit at least 1
   */
  search(text: string, limit: number): readonly Place[];
}

/** What survives a trip through JSON unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** Where clients reach the product: links in answers and events begin with these, which have no slash at the end. */
export interface PublicAddresses {
  /** The web application. */
  readonly appUrl: string;
  /** The API, without `/v1`. */
  readonly baseUrl: string;
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

export interface Trace {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** 2 hexadecimal digits. */
  readonly flags: string;
}

/** The trace that a `traceparent` belongs to; undefined where it is none of version 00. Source: W3C Trace Context, 3.2. */
export function traceOf(traceparent: unknown): Trace | undefined {
  const [, id, flags] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  return id === undefined || flags === undefined ? undefined : { id, flags };
}
