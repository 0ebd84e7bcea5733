import type { ShipmentRecord, ShipmentStatus } from '@tracking/contracts';
import { wordsOf } from './search-words.ts';

/** Still on its way: neither delivered or beyond, nor cancelled. */
export const ENDED: readonly ShipmentStatus[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** What a shipment can be found by exactly; of those that list filters know, the filter's name. */
export type TermKind =
  | 'status'
  | 'active'
  | 'has_open_exceptions'
  | 'mode'
  | 'external_id'
  | 'house_bill'
  | 'master_bill'
  | 'booking_number'
  | 'reference'
  | 'shipper'
  | 'consignee'
  | 'container_number'
  | 'carrier_scac'
  | 'origin_port'
  | 'destination_port'
  /** Of shipments on their way only: a container is used by thousands over the years, by one or two at a time. */
  | 'active_house_bill'
  | 'active_container_number'
  /** The beginning of such a term is that of a word. */
  | 'word';

/** One entry of a row in the index that finds shipments. */
export function term(kind: TermKind, value: string | boolean): string {
  return `${kind}:${value}`;
}

/** Most different words of one shipment that are found; those of its references come first. */
export const MAX_WORDS = 1_000;

/** Fields whose value is a term as it is. */
const AS_THEY_ARE = [
  'mode',
  'external_id',
  'house_bill',
  'master_bill',
  'booking_number',
  'carrier_scac',
  'origin_port',
  'destination_port',
] as const;

/** What the terms are made of that seldom change. */
const LASTING: readonly (keyof ShipmentRecord)[] = [
  ...AS_THEY_ARE,
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

function passingTerms({ status, open_exceptions_count, house_bill, container_numbers }: ShipmentRecord): string[] {
  const active = !ENDED.includes(status);
  const terms = [
    term('status', status),
    term('active', active),
    term('has_open_exceptions', open_exceptions_count > 0),
  ];
  if (!active) return terms;
  if (house_bill !== null) terms.push(term('active_house_bill', house_bill));
  for (const number of container_numbers) terms.push(term('active_container_number', number));
  return terms;
}

function lastingTerms(record: ShipmentRecord): Iterable<string> {
  const terms = new Set<string>();
  const add = (kind: TermKind, value: string | null | undefined) => {
    if (value != null) terms.add(term(kind, value));
  };
  for (const field of AS_THEY_ARE) add(field, record[field]);
  add('shipper', record.shipper?.external_id);
  add('consignee', record.consignee?.external_id);
  for (const { value } of record.references) add('reference', value);
  for (const number of record.container_numbers) add('container_number', number);
  for (const word of searchedWords(record)) add('word', word);
  return terms;
}

function searchedWords(record: ShipmentRecord): ReadonlySet<string> {
  const words = new Set<string>();
  for (const text of searchedTexts(record)) {
    if (text == null) continue;
    for (const word of wordsOf(text)) {
      if (words.size >= MAX_WORDS) return words;
      words.add(word);
    }
  }
  return words;
}

/** In the order in which they count where there are too many words. */
function* searchedTexts(record: ShipmentRecord): Iterable<string | null | undefined> {
  yield record.external_id;
  yield record.house_bill;
  yield record.master_bill;
  yield record.booking_number;
  yield* record.container_numbers;
  for (const { value } of record.references) yield value;
  yield record.shipper?.name;
  yield record.consignee?.name;
  for (const { vessel } of record.legs) yield vessel;
}
