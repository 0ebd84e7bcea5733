import type { ShipmentRecord, ShipmentStatus } from '@tracking/contracts';

/** Still on its way: neither delivered or beyond, nor cancelled. */
export const ENDED: readonly ShipmentStatus[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** References by which a shipment is found exactly, and by each of their words. */
export type ReferenceKind =
  'external_id' | 'house_bill' | 'master_bill' | 'booking_number' | 'reference' | 'container_number';

/** What a shipment can be found by exactly; of those that list filters know, the filter's name. */
type TermKind =
  | ReferenceKind
  | 'status'
  /** Only of those that are on their way. */
  | 'active'
  /** Only of those that have some. */
  | 'has_open_exceptions'
  | 'mode'
  | 'incoterm'
  | 'shipper'
  | 'consignee'
  | 'carrier_scac'
  | 'origin_port'
  | 'destination_port';

const REFERENCE_KINDS: ReadonlySet<TermKind> = new Set<ReferenceKind>([
  'external_id',
  'house_bill',
  'master_bill',
  'booking_number',
  'reference',
  'container_number',
]);

/** One entry of a row in the index that finds shipments. */
export function term(kind: TermKind, value: string | true): string {
  if (value !== true && REFERENCE_KINDS.has(kind)) return referenceTerm(kind, value, longest(wordsOf(value)));
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
function longest(words: readonly string[]): string {
  return words.reduce((one, other) => (other.length > one.length ? other : one), '');
}

/** Most different words of one shipment that are found; those of its references come first. */
export const MAX_WORDS = 1_000;

/** Fields whose value is a term as it is. */
const AS_THEY_ARE = ['mode', 'incoterm', 'carrier_scac', 'origin_port', 'destination_port'] as const;
const REFERENCE_FIELDS = ['external_id', 'house_bill', 'master_bill', 'booking_number'] as const;

/** What the terms are made of that seldom change. */
const LASTING: readonly (keyof ShipmentRecord)[] = [
  ...AS_THEY_ARE,
  ...REFERENCE_FIELDS,
  'container_numbers',
  'references',
  'shipper',
  'consignee',
  'legs',
];
const PASSING: readonly (keyof ShipmentRecord)[] = ['status', 'open_exceptions_count'];

/**
 * Everything that a shipment can be found by, each once. Made of the record alone; where little changed of the one
 * before, most is taken from there.
 */
export function termsOf(
  record: ShipmentRecord,
  before?: { readonly record: ShipmentRecord; readonly terms: readonly string[] },
): readonly string[] {
  const isSame = (field: keyof ShipmentRecord) => record[field] === before?.record[field];
  if (before === undefined || !LASTING.every(isSame)) return [...passingTerms(record), ...lastingTerms(record)];
  if (PASSING.every(isSame)) return before.terms;
  return [...passingTerms(record), ...before.terms.slice(passingTerms(before.record).length)];
}

function passingTerms({ status, open_exceptions_count }: ShipmentRecord): string[] {
  return [
    term('status', status),
    ...(ENDED.includes(status) ? [] : [term('active', true)]),
    ...(open_exceptions_count > 0 ? [term('has_open_exceptions', true)] : []),
  ];
}

function lastingTerms(record: ShipmentRecord): Iterable<string> {
  const terms = new Set<string>();
  const add = (kind: TermKind, value: string | null | undefined) => {
    if (value != null) terms.add(term(kind, value));
  };
  for (const field of AS_THEY_ARE) add(field, record[field]);
  add('shipper', record.shipper?.external_id);
  add('consignee', record.consignee?.external_id);
  addReferencesAndWords(terms, record);
  return terms;
}

function addReferencesAndWords(terms: Set<string>, record: ShipmentRecord): void {
  const words = new Set<string>();
  const found = new Set<string>();
  const addWords = (some: readonly string[]) => {
    for (const word of some) if (words.size < MAX_WORDS) words.add(word);
  };
  for (const [kind, value] of referencesOf(record)) {
    const own = wordsOf(value);
    const word = longest(own);
    terms.add(referenceTerm(kind, value, word));
    found.add(word);
    addWords(own);
  }
  for (const name of namesOf(record)) if (name != null) addWords(wordsOf(name));
  for (const word of words) if (!found.has(word)) terms.add(wordTerm(word));
}

/** In the order in which they count where there are too many words, as are the names that come behind them. */
function* referencesOf(record: ShipmentRecord): Iterable<readonly [ReferenceKind, string]> {
  for (const field of REFERENCE_FIELDS) {
    const value = record[field];
    if (value !== null) yield [field, value];
  }
  for (const number of record.container_numbers) yield ['container_number', number];
  for (const { value } of record.references) yield ['reference', value];
}

function* namesOf(record: ShipmentRecord): Iterable<string | null | undefined> {
  yield record.shipper?.name;
  yield record.consignee?.name;
  for (const { vessel } of record.legs) yield vessel;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** Behind every word that a word can begin: of no letter, and the last of all code points. */
const LAST = '\u{10FFFF}';

/**
 * The words of a text, in the form in which they are compared: runs of letters and digits, compatibility forms made one
 * (NFKC), whatever the case. Accents count; text that is written without spaces is one word.
 */
export function wordsOf(text: string): readonly string[] {
  return folded(text).match(WORD) ?? [];
}

/** The least text that comes behind all words which begin with this one. */
export function behindWordsWith(beginning: string): string {
  return beginning + LAST;
}

/**
 * By way of capitals, so that what has several small forms has one: `ß` is `ss`, `ς` is `σ`. The Turkish dotted capital
 * leaves its dot behind.
 */
function folded(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const small = text.normalize('NFKC').toUpperCase().toLowerCase();
  return small.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFKC');
}
