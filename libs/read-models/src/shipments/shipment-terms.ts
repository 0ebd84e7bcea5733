import {
  SHIPMENT_FILTERS,
  type ShipmentFilterKind,
  type ShipmentFilterName,
  type ShipmentFilterOf,
  type ShipmentRecord,
  type ShipmentStatus,
  listFilterNamesOfFilterKinds,
} from '@tracking/contracts';

/** Statuses that the `active` filter excludes: delivered or later, or cancelled. */
export const INACTIVE_STATUSES: readonly ShipmentStatus[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** Kinds of exact-match filters, the most selective kind first. */
const TERM_FILTER_KINDS = {
  reference: true,
  container: true,
  party: true,
  port: true,
  carrier: true,
  choices: true,
  modes: true,
} satisfies Record<Exclude<ShipmentFilterKind, 'ids' | 'statuses' | 'flag' | 'time' | 'words'>, true>;

/** Exact-match filters, in the order of their kinds. */
export const EXACT_MATCH_TERM_FILTERS = listFilterNamesOfFilterKinds(
  ...(Object.keys(TERM_FILTER_KINDS) as (keyof typeof TERM_FILTER_KINDS)[]),
);
export type TermFilter = (typeof EXACT_MATCH_TERM_FILTERS)[number];
/** Kinds of filters whose values are also searchable by word. */
type ReferenceFilter = ShipmentFilterOf<'reference' | 'container'>;

/** Kind of an exact search term: a filter, or a property that only some shipments have. */
export type TermKind = TermFilter | 'status' | 'active' | 'has_open_exceptions';

const REFERENCE_TERM_KINDS: ReadonlySet<TermKind> = new Set(listFilterNamesOfFilterKinds('reference', 'container'));

/** Filters that compare the record field with the filter's name. */
type FieldFilter = {
  [Name in TermFilter]: Name extends keyof ShipmentRecord
    ? ShipmentRecord[Name] extends string | null
      ? Name
      : never
    : never;
}[TermFilter];

/**
 * Version of the read model that added the terms of a filter; 1 if absent. Add a new filter with the new version of
 * `shipmentsReadModel`. After an update, lists refuse the filter until the rows are rebuilt, because they would return
 * nothing.
 */
export const READ_MODEL_VERSION_BY_FILTER: Readonly<Partial<Record<TermFilter, number>>> = { incoterm: 4 };

type Values = readonly (string | null | undefined)[];

/**
 * Functions that read filter values that are not record fields. Their order decides which words are kept if a shipment
 * has too many words.
 */
const FILTER_VALUE_READERS: {
  readonly [Name in Exclude<TermFilter, FieldFilter>]: (record: ShipmentRecord) => Values;
} = {
  shipper: ({ shipper }) => [shipper?.external_id],
  consignee: ({ consignee }) => [consignee?.external_id],
  container_number: ({ container_numbers }) => container_numbers,
  reference: ({ references }) => references.map(({ value }) => value),
};

function isFieldFilter(filter: TermFilter): filter is FieldFilter {
  return !(filter in FILTER_VALUE_READERS);
}

/** Order of terms in a row: terms of field filters first, then terms of other filters. */
const SEARCH_TERM_ORDER_IN_ROW: readonly TermFilter[] = [
  ...(Object.keys(SHIPMENT_FILTERS) as ShipmentFilterName[]).filter(isFilterOnSearchTerms).filter(isFieldFilter),
  ...(Object.keys(FILTER_VALUE_READERS) as (keyof typeof FILTER_VALUE_READERS)[]),
];
const REFERENCE_FILTERS = SEARCH_TERM_ORDER_IN_ROW.filter((filter): filter is ReferenceFilter =>
  REFERENCE_TERM_KINDS.has(filter),
);
const NON_REFERENCE_FILTERS = SEARCH_TERM_ORDER_IN_ROW.filter((filter) => !REFERENCE_TERM_KINDS.has(filter));

function isFilterOnSearchTerms(filter: ShipmentFilterName): filter is TermFilter {
  return SHIPMENT_FILTERS[filter].kind in TERM_FILTER_KINDS;
}

/** Returns the values of a record that the filter compares. */
function readValuesComparedByFilter(record: ShipmentRecord, filter: TermFilter): Values {
  return isFieldFilter(filter) ? [record[filter]] : FILTER_VALUE_READERS[filter](record);
}

/**
 * Version of the read model from which terms of references ignore case, spaces and hyphens, and from which words
 * include those that hyphens join. Until the rows are rebuilt, references of earlier rows match exactly.
 */
export const FIRST_VERSION_WITH_FOLDED_REFERENCES = 5;

/**
 * Returns the index entry for a term.
 * @param version version of the read model that built the rows
 */
export function createTermIndexEntry(
  kind: TermKind,
  value: string | true,
  version = FIRST_VERSION_WITH_FOLDED_REFERENCES,
): string {
  if (value === true || !REFERENCE_TERM_KINDS.has(kind)) return `${kind}:${value}`;
  const reference = version >= FIRST_VERSION_WITH_FOLDED_REFERENCES ? foldReference(value) : value;
  return createReferenceIndexTerm(kind, reference, findLongestWord(splitIntoWords(reference)));
}

/** Returns the index entry for a word. The entry of a longer word starts with the entry of each of its prefixes. */
export function createWordIndexEntry(word: string): string {
  return `word:${word}`;
}

/**
 * Combines a reference and its longest word in one index entry. A search for the word also finds this entry, because
 * words contain no space. Nearly every entry writes its own index page, so fewer entries cost less.
 */
function createReferenceIndexTerm(kind: TermKind, reference: string, longest: string): string {
  return `${createWordIndexEntry(longest)} ${kind}:${reference}`;
}

const SPACES_PATTERN = /\s+/u;
const HYPHENS_PATTERN = /[\p{Pd}\u2212]+/gu;
const SPACES_AND_HYPHENS_PATTERN = /[\s\p{Pd}\u2212]+/gu;

/** Returns a reference in the form in which references are compared: without case, spaces and hyphens. */
export function foldReference(value: string): string {
  return foldCase(value).replace(SPACES_AND_HYPHENS_PATTERN, '');
}

/** Splits the text of a search into case-folded parts without spaces. */
export function splitIntoSearchParts(text: string): readonly string[] {
  return foldCase(text)
    .split(SPACES_PATTERN)
    .filter((part) => splitIntoWords(part).length > 0);
}

/** Returns the word prefixes that a part of a search requires. Hyphens join words, so `po-88` is `po88`. */
export function listSearchedWords(part: string, version: number): readonly string[] {
  const joined = version >= FIRST_VERSION_WITH_FOLDED_REFERENCES ? part.replace(HYPHENS_PATTERN, '') : part;
  return splitIntoWords(joined);
}

/** Length from which a joined word takes in no further word. It bounds the entries of references with many words. */
const MAX_JOINED_WORD_CHARS = 64;

/**
 * Lists the searchable words of a text: for each of its words, the word joined with the following ones. A search for
 * one of the words, or for several of them with and without separators between, finds the joined word.
 * @param runPattern matches each run of words that are joined with each other
 */
function listJoinedWords(text: string, runPattern: RegExp): readonly string[] {
  const joined: string[] = [];
  for (const [run] of text.matchAll(runPattern)) {
    const words = splitIntoWords(run);
    for (const [index, first] of words.entries()) {
      let word = first;
      for (let next = index + 1; next < words.length && word.length < MAX_JOINED_WORD_CHARS; next++)
        word += words[next];
      joined.push(word);
    }
  }
  return joined;
}

/** Matches words of a reference with the spaces and hyphens between them. */
const REFERENCE_RUN_PATTERN = /[\p{L}\p{M}\p{N}\s\p{Pd}\u2212]+/gu;
/** Matches words of a name with the hyphens between them. Spaces separate the words of names. */
const HYPHENATED_WORDS_PATTERN = /[\p{L}\p{M}\p{N}\p{Pd}\u2212]+/gu;

/** Returns the longest word, or the first one if several words are the longest. */
function findLongestWord(words: readonly string[]): string {
  return words.reduce((one, other) => (other.length > one.length ? other : one), '');
}

/** Maximum number of distinct searchable words per shipment. If there are more, words of references are kept first. */
export const MAX_INDEXED_WORDS = 1_000;

/** Record fields with terms that rarely change. */
const RARELY_CHANGED_TERM_FIELDS: readonly (keyof ShipmentRecord)[] = [
  ...EXACT_MATCH_TERM_FILTERS.filter(isFieldFilter),
  'container_numbers',
  'references',
  'shipper',
  'consignee',
  'legs',
];
const OFTEN_CHANGED_TERM_FIELDS: readonly (keyof ShipmentRecord)[] = ['status', 'open_exceptions_count'];

/**
 * Returns all search terms of a shipment, each once. Terms depend on the record alone; the terms of unchanged fields
 * are copied from the previous row.
 */
export function listShipmentSearchTerms(
  record: ShipmentRecord,
  before?: { readonly record: ShipmentRecord; readonly terms: readonly string[] },
): readonly string[] {
  const isSame = (field: keyof ShipmentRecord) => record[field] === before?.record[field];
  if (before === undefined || !RARELY_CHANGED_TERM_FIELDS.every(isSame))
    return [...listIndexTermsOfStatusAndExceptions(record), ...listStableSearchTerms(record)];
  if (OFTEN_CHANGED_TERM_FIELDS.every(isSame)) return before.terms;
  return [
    ...listIndexTermsOfStatusAndExceptions(record),
    ...before.terms.slice(listIndexTermsOfStatusAndExceptions(before.record).length),
  ];
}

function listIndexTermsOfStatusAndExceptions({ status, open_exceptions_count }: ShipmentRecord): string[] {
  return [
    createTermIndexEntry('status', status),
    ...(INACTIVE_STATUSES.includes(status) ? [] : [createTermIndexEntry('active', true)]),
    ...(open_exceptions_count > 0 ? [createTermIndexEntry('has_open_exceptions', true)] : []),
  ];
}

function listStableSearchTerms(record: ShipmentRecord): Iterable<string> {
  const terms = new Set<string>();
  for (const filter of NON_REFERENCE_FILTERS) {
    for (const value of readValuesComparedByFilter(record, filter))
      if (value != null) terms.add(createTermIndexEntry(filter, value));
  }
  addReferenceAndWordTerms(terms, record);
  return terms;
}

function addReferenceAndWordTerms(terms: Set<string>, record: ShipmentRecord): void {
  const words = new Set<string>();
  const found = new Set<string>();
  const addWords = (some: readonly string[]) => {
    for (const word of some) if (words.size < MAX_INDEXED_WORDS) words.add(word);
  };
  for (const [kind, value] of listReferenceValues(record)) {
    const reference = foldReference(value);
    const own = splitIntoWords(reference);
    const longest = findLongestWord(own);
    terms.add(createReferenceIndexTerm(kind, reference, longest));
    found.add(longest);
    addWords(own);
    addWords(listJoinedWords(value, REFERENCE_RUN_PATTERN));
  }
  for (const name of listPartyAndVesselNames(record))
    if (name != null) addWords(listJoinedWords(name, HYPHENATED_WORDS_PATTERN));
  for (const word of words) if (!found.has(word)) terms.add(createWordIndexEntry(word));
}

/**
 * Yields reference values in the order in which their words are kept if there are too many. Words of names come after
 * them.
 */
function* listReferenceValues(record: ShipmentRecord): Iterable<readonly [ReferenceFilter, string]> {
  for (const filter of REFERENCE_FILTERS) {
    for (const value of readValuesComparedByFilter(record, filter)) if (value != null) yield [filter, value];
  }
}

function* listPartyAndVesselNames(record: ShipmentRecord): Iterable<string | null | undefined> {
  yield record.shipper?.name;
  yield record.consignee?.name;
  for (const { vessel } of record.legs) yield vessel;
}

const WORD_PATTERN = /[\p{L}\p{M}\p{N}]+/gu;
const NON_ASCII_PATTERN = /[^\0-\x7f]/;
/** The last Unicode code point. It is not a letter, so it sorts after every word with the same prefix. */
const LAST_CODE_POINT = '\u{10FFFF}';

/**
 * Splits a text into normalized words: runs of letters and digits, in NFKC, case-folded. Accents are kept. Text without
 * spaces is one word.
 */
export function splitIntoWords(text: string): readonly string[] {
  return foldCase(text).match(WORD_PATTERN) ?? [];
}

/** Returns the smallest text that sorts after all words with the prefix. */
export function prefixUpperBound(beginning: string): string {
  return beginning + LAST_CODE_POINT;
}

/**
 * Folds case through upper case, so that variants become equal: `ß` becomes `ss`, `ς` becomes `σ`. The dot of the
 * Turkish dotted capital is removed.
 */
function foldCase(text: string): string {
  if (!NON_ASCII_PATTERN.test(text)) return text.toLowerCase();
  const small = text.normalize('NFKC').toUpperCase().toLowerCase();
  return small.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFKC');
}
