import { SHIPMENT_FILTERS } from '@tracking/client';
import {
  MODE_OPTIONS,
  type Mode,
  SHIPMENT_STATUS_LABELS,
  type SelectChoice,
  type Status,
  toSelectOptions,
} from '../../values/codes.ts';
import { type Incoterm, TEXT_AND_ENUM_SHIPMENT_FIELDS, type PlainValues, parsePlainFields } from '../plain-fields.ts';

/** Name of a list filter, which is also the name of its query parameter. */
export type FilterName = keyof typeof SHIPMENT_FILTERS;
export type FilterKind = (typeof SHIPMENT_FILTERS)[FilterName]['kind'];
/** Names of the filters of a kind, as a type. */
type FilterOf<Kind extends FilterKind> = {
  [Name in FilterName]: (typeof SHIPMENT_FILTERS)[Name]['kind'] extends Kind ? Name : never;
}[FilterName];

/** Lists the filters of the given kinds. The filters have the same order as the kinds. */
export function listFiltersOfKind<Kind extends FilterKind>(...kinds: readonly Kind[]): readonly FilterOf<Kind>[] {
  const names = Object.keys(SHIPMENT_FILTERS) as FilterName[];
  return kinds.flatMap((kind) => names.filter((name): name is FilterOf<Kind> => SHIPMENT_FILTERS[name].kind === kind));
}

const TEXT_FILTERS = listFiltersOfKind('words', 'reference', 'container', 'party', 'carrier', 'port');
export type TextFilter = (typeof TEXT_FILTERS)[number];
export const DAY_FILTER_NAMES = listFiltersOfKind('time');
export type DayFilter = (typeof DAY_FILTER_NAMES)[number];
export const BOOLEAN_FILTERS = listFiltersOfKind('flag');
export type YesNoFilter = (typeof BOOLEAN_FILTERS)[number];
/** Filters by one or more values, separated by commas in the page URL. */
export const MULTI_VALUE_FILTERS = listFiltersOfKind('statuses', 'modes', 'choices');
export type ListFilter = (typeof MULTI_VALUE_FILTERS)[number];

/** Allowed values of the filters by one or more values, with their labels. */
export const LIST_FILTER_OPTIONS: Readonly<Record<ListFilter, readonly SelectChoice[]>> = {
  status: toSelectOptions(SHIPMENT_STATUS_LABELS),
  mode: MODE_OPTIONS,
  incoterm: TEXT_AND_ENUM_SHIPMENT_FIELDS.incoterm.choices,
};

/** Filters of the shipment list. */
export type ShipmentFilters = {
  readonly [Name in TextFilter]?: string | undefined;
} & Omit<PlainValues, ListFilter> & {
    readonly [Name in DayFilter]?: Day | undefined;
  } & { readonly [Name in YesNoFilter]?: boolean | undefined } & {
    /** Values, separated by commas. */
    readonly [Name in ListFilter]?: string | undefined;
  };

/** Search of the shipment list in the page URL. Users can share the URL or save it as a bookmark. */
export type ShipmentUrlParameters = ShipmentFilters & {
  readonly sort?: ShipmentSort | undefined;
  /** Column names, separated by commas. If left out, the columns last chosen in this browser are shown. */
  readonly columns?: string | undefined;
};

export const SHIPMENT_SORTS = ['-created_at', 'created_at', '-updated_at', 'updated_at', 'eta', '-eta'] as const;
export type ShipmentSort = (typeof SHIPMENT_SORTS)[number];
export const DEFAULT_SHIPMENT_LIST_SORT: ShipmentSort = '-created_at';

/** Parses the search of the shipment list from the page URL. Invalid parameters are ignored. */
export function readShipmentUrlParameters(raw: Record<string, unknown>): ShipmentUrlParameters {
  const oneOf = <T extends string>(all: readonly T[], value: unknown) => all.find((each) => each === value);
  const day = (value: unknown) => (typeof value === 'string' && isValidDay(value) ? value : undefined);
  return removeEmptyParameters({
    ...Object.fromEntries(TEXT_FILTERS.map((name) => [name, convertUrlParameterToText(raw[name])])),
    ...parsePlainFields((name) => convertUrlParameterToText(raw[name])),
    ...Object.fromEntries(DAY_FILTER_NAMES.map((name) => [name, day(raw[name])])),
    ...Object.fromEntries(
      BOOLEAN_FILTERS.map((name) => [name, typeof raw[name] === 'boolean' ? raw[name] : undefined]),
    ),
    ...Object.fromEntries(
      MULTI_VALUE_FILTERS.map((name) => [name, parseAllowedListValues(name, convertUrlParameterToText(raw[name]))]),
    ),
    sort: oneOf(SHIPMENT_SORTS, raw['sort']),
    columns: convertUrlParameterToText(raw['columns']),
  });
}

/** Parses values separated by commas, in any case. Values that are not allowed are left out. */
function parseAllowedListValues(name: ListFilter, text: string | undefined): string | undefined {
  const allowed = new Map(LIST_FILTER_OPTIONS[name].map(({ value }) => [value.toLowerCase(), value]));
  const values = text?.split(',').flatMap((value) => allowed.get(value.trim().toLowerCase()) ?? []);
  return values && [...new Set(values)].join(',');
}

/** Removes empty parameters and the default sort order from the search. */
export function removeEmptyParameters(search: ShipmentUrlParameters): ShipmentUrlParameters {
  return Object.fromEntries(
    Object.entries(search).filter(
      ([name, value]) => value !== undefined && value !== '' && !isDefaultParameter(name, value),
    ),
  );
}

/** Returns only the filters of a search, without the sort order and the columns. */
export function pickShipmentFilters({
  sort: _sort,
  columns: _columns,
  ...filters
}: ShipmentUrlParameters): ShipmentFilters {
  return filters;
}

export function hasShipmentFilters(search: ShipmentUrlParameters): boolean {
  return Object.keys(pickShipmentFilters(search)).length > 0;
}

function isDefaultParameter(name: string, value: unknown): boolean {
  return name === 'sort' && value === DEFAULT_SHIPMENT_LIST_SORT;
}

/** Converts a URL parameter to text. The router has parsed values that look like numbers or booleans. */
function convertUrlParameterToText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim()
    : undefined;
}

/** Query of the API request for the list. Days are replaced by UTC times. */
export type ListQuery = Omit<ShipmentFilters, ListFilter> & {
  readonly status?: readonly Status[];
  readonly mode?: readonly Mode[];
  readonly incoterm?: readonly Incoterm[];
  readonly sort?: ShipmentSort | undefined;
};

/** Converts the search to an API query. Days in the user's time zone become UTC times. */
export function buildShipmentListQuery(search: ShipmentUrlParameters, now: Date): ListQuery {
  const { status, mode, incoterm, eta_from, eta_to, created_from, created_to, updated_since, ...others } =
    pickShipmentFilters(search);
  const begins = (day: string | undefined) => (day === undefined ? undefined : startOfDay(day, now).toISOString());
  const ends = (day: string | undefined) => (day === undefined ? undefined : getEndOfDay(day, now).toISOString());
  const query = {
    ...others,
    status: status?.split(',') as Status[] | undefined,
    mode: mode?.split(',') as Mode[] | undefined,
    incoterm: incoterm?.split(',') as Incoterm[] | undefined,
    eta_from: begins(eta_from),
    eta_to: ends(eta_to),
    created_from: begins(created_from),
    created_to: ends(created_to),
    updated_since: begins(updated_since),
    sort: search.sort,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

/**
 * A day in the user's time zone, such as `2026-12-01`, or relative to the current day, such as `today`, `today+7` or
 * `today-1`.
 */
export type Day = string;

const RELATIVE_DAY_PATTERN = /^today(?:([+-])(\d{1,3}))?$/;
const ABSOLUTE_DAY_PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAY_LABEL_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function isValidDay(text: string): boolean {
  return RELATIVE_DAY_PATTERN.test(text) || parseDate(text) !== undefined;
}

/** Returns the start of a day in the user's time zone. */
export function startOfDay(day: Day, now: Date): Date {
  const relative = RELATIVE_DAY_PATTERN.exec(day);
  if (relative === null) return parseDate(day) ?? now;
  const [, sign, days = '0'] = relative;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + Number(days) * (sign === '-' ? -1 : 1));
}

/** Returns the last millisecond of a day in the user's time zone. */
export function getEndOfDay(day: Day, now: Date): Date {
  const next = new Date(startOfDay(day, now));
  next.setDate(next.getDate() + 1);
  return new Date(next.getTime() - 1);
}

/** Formats a day for date fields, such as `2026-12-01`. Relative days are resolved. */
export function toIsoDate(day: Day, now: Date): string {
  const date = startOfDay(day, now);
  const digits = (count: number, part: number) => String(part).padStart(count, '0');
  return `${digits(4, date.getFullYear())}-${digits(2, date.getMonth() + 1)}-${digits(2, date.getDate())}`;
}

export function formatDay(day: Day): string {
  const relative = RELATIVE_DAY_PATTERN.exec(day);
  if (relative === null) return DAY_LABEL_FORMAT.format(parseDate(day));
  const [, sign, days = '0'] = relative;
  const size = Number(days);
  if (size === 0) return 'today';
  if (size === 1) return sign === '-' ? 'yesterday' : 'tomorrow';
  return sign === '-' ? `${size} days ago` : `in ${size} days`;
}

/** Parses a day such as `2026-12-01`. Returns undefined if the date does not exist. */
function parseDate(day: Day): Date | undefined {
  const [, year, month, date] = (ABSOLUTE_DAY_PATTERN.exec(day) ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const found = new Date(2000, 0, 1);
  // The year is set separately, because the Date constructor maps years below 100 to the 20th century.
  found.setFullYear(year, month - 1, date);
  return found.getMonth() === month - 1 && found.getDate() === date ? found : undefined;
}
