import type { Shipment } from '@tracking/client';
import type { ShipmentUpdates } from '../../live/live-updates.ts';
import { INACTIVE_STATUSES } from '../../values/codes.ts';
import {
  type FilterKind,
  type ListQuery,
  type ShipmentSort,
  DEFAULT_SHIPMENT_LIST_SORT,
  listFiltersOfKind,
} from '../search/shipment-search.ts';

/**
 * Maximum number of milliseconds between a change in the list and the event that reports it. An event up to this late
 * may describe a change that the list already contains.
 */
const MAX_EVENT_DELAY_MS = 2_000;

interface ListedRows {
  readonly rows: readonly Shipment[];
  /** True if more shipments match than are loaded. */
  readonly more: boolean;
  readonly readAt: number;
  readonly query: ListQuery;
}

/** Differences between the loaded shipment list and the current state in the API. */
interface PendingShipmentListChanges {
  /** Number of shipments that a refresh of the list would add. */
  readonly fresh: number;
  /** Ids of the loaded shipments that a refresh of the list would remove. */
  readonly gone: ReadonlySet<string>;
  /** True if events were lost, so that the list may have more differences. */
  readonly missed: boolean;
}

export function findShipmentListUpdates(
  { rows, more, readAt, query }: ListedRows,
  news: ShipmentUpdates,
): PendingShipmentListChanges {
  const recent = [...news.shipments.values()].filter(({ receivedAt: toldAt }) => toldAt > readAt - MAX_EVENT_DELAY_MS);
  if (recent.length === 0) return { fresh: 0, gone: new Set(), missed: news.missed };
  const byId = new Map(rows.map((row) => [row.id, row]));
  const last = rows.at(-1);
  const isFresh = (shipment: Shipment) =>
    !byId.has(shipment.id) &&
    doesShipmentMatchFilters(shipment, query) &&
    (!more || last === undefined || isSortedBefore(shipment, last, query.sort));
  const changed = recent.flatMap(({ shipment: { id } }) => byId.get(id) ?? []);
  return {
    fresh: recent.filter(({ shipment }) => isFresh(shipment)).length,
    gone: new Set(changed.filter((row) => !doesShipmentMatchFilters(row, query)).map(({ id }) => id)),
    missed: news.missed,
  };
}

/** Formats the differences as the label of the refresh button. Returns undefined if there are no differences. */
export function formatListUpdates({ fresh, gone, missed }: PendingShipmentListChanges): string | undefined {
  const parts = [
    ...(fresh > 0 ? [`${fresh} new`] : []),
    ...(gone.size > 0 ? [`${gone.size} no longer ${gone.size === 1 ? 'matches' : 'match'}`] : []),
    ...(missed ? ['connection was lost'] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

const WORD_PATTERN = /[\p{L}\p{M}\p{N}]+/gu;

type Check = (shipment: Shipment, query: ListQuery) => boolean;

const isFilterUnsetOrMatched = (value: string | undefined, ...all: (string | null | undefined)[]) =>
  value === undefined || all.some((each) => each != null && foldReference(each) === foldReference(value));
const isWithinTimeRange = (at: string | null, from: string | undefined, to: string | undefined) =>
  (from === undefined || (at !== null && at >= from)) && (to === undefined || (at !== null && at <= to));

/** Kinds of filters that compare a field with one exact value. */
const EXACT_MATCH_FILTER_KINDS = {
  reference: true,
  container: true,
  party: true,
  carrier: true,
  port: true,
} satisfies Record<Exclude<FilterKind, 'statuses' | 'modes' | 'choices' | 'flag' | 'time' | 'words'>, true>;
const EXACT_MATCH_FILTERS = listFiltersOfKind(
  ...(Object.keys(EXACT_MATCH_FILTER_KINDS) as (keyof typeof EXACT_MATCH_FILTER_KINDS)[]),
);
type ValueFilter = (typeof EXACT_MATCH_FILTERS)[number];
/** Filters that have the same name as the shipment field they compare with. */
type FieldFilter = {
  [Name in ValueFilter]: Name extends keyof Shipment ? (Shipment[Name] extends string | null ? Name : never) : never;
}[ValueFilter];

/** Functions that return the compared values of a shipment, for filters whose name is not the name of a field. */
const SHIPMENT_FILTER_VALUE_GETTERS: {
  readonly [Name in Exclude<ValueFilter, FieldFilter>]: (shipment: Shipment) => readonly (string | null | undefined)[];
} = {
  reference: ({ references }) => references.map(({ value }) => value),
  shipper: ({ shipper }) => [shipper?.external_id],
  consignee: ({ consignee }) => [consignee?.external_id],
  container_number: ({ container_numbers }) => container_numbers,
};
const isFieldFilter = (name: ValueFilter): name is FieldFilter => !(name in SHIPMENT_FILTER_VALUE_GETTERS);

const SHIPMENT_FILTER_PREDICATES: readonly Check[] = [
  ({ status }, query) => query.status?.includes(status) ?? true,
  ({ mode }, query) => query.mode === undefined || (mode !== null && query.mode.includes(mode)),
  ({ incoterm }, query) => query.incoterm === undefined || (incoterm !== null && query.incoterm.includes(incoterm)),
  ({ status }, { active }) => active === undefined || active !== INACTIVE_STATUSES.includes(status),
  ({ open_exceptions_count: open }, query) => (query.has_open_exceptions ?? open > 0) === open > 0,
  ...EXACT_MATCH_FILTERS.map(
    (name): Check =>
      (shipment, query) =>
        isFilterUnsetOrMatched(
          query[name],
          ...(isFieldFilter(name) ? [shipment[name]] : SHIPMENT_FILTER_VALUE_GETTERS[name](shipment)),
        ),
  ),
  ({ eta }, query) => isWithinTimeRange(eta, query.eta_from, query.eta_to),
  ({ created_at }, query) => isWithinTimeRange(created_at, query.created_from, query.created_to),
  ({ updated_at }, query) => isWithinTimeRange(updated_at, query.updated_since, undefined),
  (shipment, { q }) => q === undefined || doesShipmentContainSearchWords(shipment, q),
];

/**
 * Checks approximately if a shipment matches the filters of the list. Only the API can decide this exactly, but one
 * request per event would be too expensive.
 */
export function doesShipmentMatchFilters(shipment: Shipment, query: ListQuery): boolean {
  return SHIPMENT_FILTER_PREDICATES.every((check) => check(shipment, query));
}

/** Checks if a shipment comes before another one in the sort order. Shipments without an ETA come last. */
export function isSortedBefore(
  one: Shipment,
  other: Shipment,
  sort: ShipmentSort = DEFAULT_SHIPMENT_LIST_SORT,
): boolean {
  const field = sort.replace('-', '') as 'created_at' | 'updated_at' | 'eta';
  const [a, b] = [one[field], other[field]];
  if (a === null || b === null) return a !== null;
  return sort.startsWith('-') ? a > b : a < b;
}

function doesShipmentContainSearchWords(shipment: Shipment, q: string): boolean {
  const { external_id, house_bill, master_bill, booking_number, container_numbers, references, legs } = shipment;
  const values = references.map(({ value }) => value);
  const texts = [external_id, house_bill, master_bill, booking_number, ...container_numbers, ...values];
  const names = [shipment.shipper?.name, shipment.consignee?.name, ...legs.map(({ vessel }) => vessel)];
  const found = splitWords([...texts, ...names].join(' '));
  const reference = foldReference(q);
  const hasReference = texts.some((text) => foldReference(text ?? '').includes(reference));
  return hasReference || splitWords(q).every((word) => found.some((each) => each.startsWith(word)));
}

/** Returns a reference in the form in which references are compared: without case, spaces and hyphens. */
function foldReference(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Pd}\u2212]+/gu, '');
}

function splitWords(text: string): readonly string[] {
  return text.normalize('NFKC').toLowerCase().match(WORD_PATTERN) ?? [];
}
