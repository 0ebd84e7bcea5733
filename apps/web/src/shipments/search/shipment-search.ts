import { MODE_LABELS, type Mode, STATUSES } from '../../values/codes.ts';
import { type Day, isDay } from './day.ts';

const MODES = Object.keys(MODE_LABELS) as readonly Mode[];

export const TEXT_FILTERS = [
  'q',
  'external_id',
  'house_bill',
  'master_bill',
  'booking_number',
  'reference',
  'container_number',
  'shipper',
  'consignee',
  'carrier_scac',
  'origin_port',
  'destination_port',
] as const;
export type TextFilter = (typeof TEXT_FILTERS)[number];
export const DAY_FILTERS = ['eta_from', 'eta_to', 'created_from', 'created_to', 'updated_since'] as const;
export type DayFilter = (typeof DAY_FILTERS)[number];
export const YES_NO_FILTERS = ['active', 'has_open_exceptions'] as const;
export type YesNoFilter = (typeof YES_NO_FILTERS)[number];

/** What a list of shipments is narrowed by. */
export type ShipmentFilters = {
  readonly [Name in TextFilter]?: string | undefined;
} & { readonly [Name in DayFilter]?: Day | undefined } & { readonly [Name in YesNoFilter]?: boolean | undefined } & {
  /** Separated by commas. */
  readonly status?: string | undefined;
  readonly mode?: Mode | undefined;
};
export type FilterName = keyof ShipmentFilters;

/** What of a list of shipments stands in the address, so that it can be shared and come back to. */
export type ShipmentSearch = ShipmentFilters & {
  readonly sort?: ShipmentSort | undefined;
  /** Separated by commas; where absent, the reader's own choice. */
  readonly columns?: string | undefined;
};

export const SHIPMENT_SORTS = ['-created_at', 'created_at', '-updated_at', 'updated_at', 'eta', '-eta'] as const;
export type ShipmentSort = (typeof SHIPMENT_SORTS)[number];
export const USUAL_SORT: ShipmentSort = '-created_at';

/** What an address says; what it says wrongly counts as not said. */
export function readShipmentSearch(raw: Record<string, unknown>): ShipmentSearch {
  const oneOf = <T extends string>(all: readonly T[], value: unknown) => all.find((each) => each === value);
  const day = (value: unknown) => (typeof value === 'string' && isDay(value) ? value : undefined);
  const statuses = textOf(raw['status'])
    ?.split(',')
    .filter((status) => STATUSES.some((known) => known === status));
  return withoutEmpty({
    ...Object.fromEntries(TEXT_FILTERS.map((name) => [name, textOf(raw[name])])),
    ...Object.fromEntries(DAY_FILTERS.map((name) => [name, day(raw[name])])),
    ...Object.fromEntries(YES_NO_FILTERS.map((name) => [name, typeof raw[name] === 'boolean' ? raw[name] : undefined])),
    status: statuses?.join(','),
    mode: oneOf(MODES, raw['mode']),
    sort: oneOf(SHIPMENT_SORTS, raw['sort']),
    columns: textOf(raw['columns']),
  });
}

/** Without what says nothing. */
export function withoutEmpty(search: ShipmentSearch): ShipmentSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([name, value]) => value !== undefined && value !== '' && !isUsual(name, value)),
  );
}

/** What narrows the list alone. */
export function filtersOf({ sort: _sort, columns: _columns, ...filters }: ShipmentSearch): ShipmentFilters {
  return filters;
}

export function isNarrowed(search: ShipmentSearch): boolean {
  return Object.keys(filtersOf(search)).length > 0;
}

function isUsual(name: string, value: unknown): boolean {
  return name === 'sort' && value === USUAL_SORT;
}

/** Addresses read what looks like a number or a truth as one. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim()
    : undefined;
}
