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
