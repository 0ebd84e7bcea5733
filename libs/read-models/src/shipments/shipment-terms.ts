import {
  SHIPMENT_FILTERS,
  type ShipmentFilterKind,
  type ShipmentFilterName,
  type ShipmentFilterOf,
  type ShipmentRecord,
  type ShipmentStatus,
  shipmentFiltersOfKinds,
} from '@tracking/contracts';

/** Statuses of shipments that the filter `active` leaves out: delivered or beyond, or cancelled. */
export const INACTIVE_STATUSES: readonly ShipmentStatus[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** Kinds of filters that find a shipment by one exact value, those first that fewer shipments share a value of. */
const TERM_KINDS = {
  reference: true,
  container: true,
  party: true,
  port: true,
  carrier: true,
  choice: true,
  mode: true,
} satisfies Record<Exclude<ShipmentFilterKind, 'ids' | 'statuses' | 'flag' | 'time' | 'words'>, true>;

/** Filters of these kinds, in their order. */
export const TERM_FILTERS = shipmentFiltersOfKinds(...(Object.keys(TERM_KINDS) as (keyof typeof TERM_KINDS)[]));
export type TermFilter = (typeof TERM_FILTERS)[number];
/** Filters whose values are found by their words too. */
type ReferenceFilter = ShipmentFilterOf<'reference' | 'container'>;

/** What a shipment is found by exactly: the value of a filter, or a term that only some shipments have. */
export type TermKind = TermFilter | 'status' | 'active' | 'has_open_exceptions';

const REFERENCE_KINDS: ReadonlySet<TermKind> = new Set(shipmentFiltersOfKinds('reference', 'container'));

/** Filters whose value is the field of their name. */
type FieldFilter = {
  [Name in TermFilter]: Name extends keyof ShipmentRecord
    ? ShipmentRecord[Name] extends string | null
      ? Name
      : never
    : never;
}[TermFilter];

/**
 * The version of the read model from which on rows have the terms of a filter; 1 where it is absent. A filter that is new
 * gets the new version of `shipmentsModel`: until rows are rebuilt after an update, lists refuse it instead of finding nothing.
 */
export const FILTERS_SINCE: Readonly<Partial<Record<TermFilter, number>>> = { incoterm: 4 };

type Values = readonly (string | null | undefined)[];

/** Values of the other filters. In the order in which their words count where a shipment has too many. */
const VALUE_READERS: { readonly [Name in Exclude<TermFilter, FieldFilter>]: (record: ShipmentRecord) => Values } = {
  shipper: ({ shipper }) => [shipper?.external_id],
  consignee: ({ consignee }) => [consignee?.external_id],
  container_number: ({ container_numbers }) => container_numbers,
  reference: ({ references }) => references.map(({ value }) => value),
};

function isFieldFilter(filter: TermFilter): filter is FieldFilter {
  return !(filter in VALUE_READERS);
}

/** In the order in which rows hold their terms: fields in the order of the filters, then the others. */
const ROW_TERM_ORDER: readonly TermFilter[] = [
  ...(Object.keys(SHIPMENT_FILTERS) as ShipmentFilterName[]).filter(isTermFilter).filter(isFieldFilter),
  ...(Object.keys(VALUE_READERS) as (keyof typeof VALUE_READERS)[]),
];
const REFERENCE_FILTERS = ROW_TERM_ORDER.filter((filter): filter is ReferenceFilter => REFERENCE_KINDS.has(filter));
const NON_REFERENCE_FILTERS = ROW_TERM_ORDER.filter((filter) => !REFERENCE_KINDS.has(filter));

function isTermFilter(filter: ShipmentFilterName): filter is TermFilter {
  return SHIPMENT_FILTERS[filter].kind in TERM_KINDS;
}

/** The values by which a filter finds a shipment. */
function filterValues(record: ShipmentRecord, filter: TermFilter): Values {
  return isFieldFilter(filter) ? [record[filter]] : VALUE_READERS[filter](record);
}

/** One entry of a row in the index that finds shipments. */
export function term(kind: TermKind, value: string | true): string {
  if (value !== true && REFERENCE_KINDS.has(kind)) return referenceTerm(kind, value, longestWord(wordsOf(value)));
  return `${kind}:${value}`;
}

/** The beginning of such a term is that of a word. */
export function wordTerm(word: string): string {
  return `word:${word}`;
}

/**
 * One entry for a reference and the longest of its words: whoever looks for the word finds it, since no word goes on with a
 * space. Nearly each is on a page of the index of its own, and that is what an entry costs.
 */
function referenceTerm(kind: TermKind, value: string, word: string): string {
  return `${wordTerm(word)} ${kind}:${value}`;
}

/** The first of them where there are several. */
function longestWord(words: readonly string[]): string {
  return words.reduce((one, other) => (other.length > one.length ? other : one), '');
}

/** Most different words of one shipment that are found; those of its references come first. */
export const MAX_WORDS = 1_000;

/** Fields that the terms are made of and that seldom change. */
const STABLE_FIELDS: readonly (keyof ShipmentRecord)[] = [
  ...TERM_FILTERS.filter(isFieldFilter),
  'container_numbers',
  'references',
  'shipper',
  'consignee',
  'legs',
];
const VOLATILE_FIELDS: readonly (keyof ShipmentRecord)[] = ['status', 'open_exceptions_count'];

/**
 * Everything that a shipment can be found by, each once. Made of the record alone; where little changed of the one
 * before, most is taken from there.
 */
export function termsOf(
  record: ShipmentRecord,
  before?: { readonly record: ShipmentRecord; readonly terms: readonly string[] },
): readonly string[] {
  const isSame = (field: keyof ShipmentRecord) => record[field] === before?.record[field];
  if (before === undefined || !STABLE_FIELDS.every(isSame)) return [...volatileTerms(record), ...stableTerms(record)];
  if (VOLATILE_FIELDS.every(isSame)) return before.terms;
  return [...volatileTerms(record), ...before.terms.slice(volatileTerms(before.record).length)];
}

function volatileTerms({ status, open_exceptions_count }: ShipmentRecord): string[] {
  return [
    term('status', status),
    ...(INACTIVE_STATUSES.includes(status) ? [] : [term('active', true)]),
    ...(open_exceptions_count > 0 ? [term('has_open_exceptions', true)] : []),
  ];
}

function stableTerms(record: ShipmentRecord): Iterable<string> {
  const terms = new Set<string>();
  for (const filter of NON_REFERENCE_FILTERS) {
    for (const value of filterValues(record, filter)) if (value != null) terms.add(term(filter, value));
  }
  addReferencesAndWords(terms, record);
  return terms;
}

function addReferencesAndWords(terms: Set<string>, record: ShipmentRecord): void {
  const words = new Set<string>();
  const found = new Set<string>();
  const addWords = (some: readonly string[]) => {
    for (const word of some) if (words.size < MAX_WORDS) words.add(word);
  };
  for (const [kind, value] of referenceValues(record)) {
    const own = wordsOf(value);
    const word = longestWord(own);
    terms.add(referenceTerm(kind, value, word));
    found.add(word);
    addWords(own);
  }
  for (const name of partyAndVesselNames(record)) if (name != null) addWords(wordsOf(name));
  for (const word of words) if (!found.has(word)) terms.add(wordTerm(word));
}

/** In the order in which their words count where there are too many; the words of names come after them. */
function* referenceValues(record: ShipmentRecord): Iterable<readonly [ReferenceFilter, string]> {
  for (const filter of REFERENCE_FILTERS) {
    for (const value of filterValues(record, filter)) if (value != null) yield [filter, value];
  }
}

function* partyAndVesselNames(record: ShipmentRecord): Iterable<string | null | undefined> {
  yield record.shipper?.name;
  yield record.consignee?.name;
  for (const { vessel } of record.legs) yield vessel;
}

const WORD_PATTERN = /[\p{L}\p{M}\p{N}]+/gu;
const NON_ASCII_PATTERN = /[^\0-\x7f]/;
/** Behind every word that a word can begin: of no letter, and the last of all code points. */
const LAST_CODE_POINT = '\u{10FFFF}';

/**
 * The words of a text, in the form in which they are compared: runs of letters and digits, compatibility forms made one
 * (NFKC), whatever the case. Accents count; text that is written without spaces is one word.
 */
export function wordsOf(text: string): readonly string[] {
  return foldCase(text).match(WORD_PATTERN) ?? [];
}

/** The least text that comes behind all words which begin with this one. */
export function endOfPrefix(beginning: string): string {
  return beginning + LAST_CODE_POINT;
}

/**
 * By way of capitals, so that what has several small forms has one: `ß` is `ss`, `ς` is `σ`. The Turkish dotted capital
 * leaves its dot behind.
 */
function foldCase(text: string): string {
  if (!NON_ASCII_PATTERN.test(text)) return text.toLowerCase();
  const small = text.normalize('NFKC').toUpperCase().toLowerCase();
  return small.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFKC');
}
