import {
  EXCEPTION_LABELS,
  EXCEPTION_STATUS_LABELS,
  RESOLUTION_LABELS,
  SEVERITY_LABELS,
} from '../../exceptions/exception-labels.ts';
import { getDateIfWholeDay, formatDate } from '../../values/zones.ts';
import { CONTENT_TYPE_LABELS, DOCUMENT_TYPE_LABELS, DOCUMENT_STATUS_LABELS } from '../labels.ts';

/** Converts the name of a field to a label, such as `free_days_left` to "Free days left". */
export function toReadableLabel(name: string): string {
  const spaced = name.replaceAll('_', ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** Labels of fields for which the field name gives no readable label. */
const SPECIAL_FIELD_LABELS: Readonly<Record<string, string>> = {
  eta: 'ETA',
  etd: 'ETD',
  ata: 'ATA',
  atd: 'ATD',
  original_eta: 'Original ETA',
  external_id: 'Your reference',
  carrier_scac: 'Carrier',
  origin_port: 'Origin',
  destination_port: 'Destination',
  status_milestone_id: 'Status milestone',
  container_numbers: 'Containers',
  imo: 'IMO number',
  id: 'ID',
};
const HISTORY_LIST_ITEM_LABELS: Readonly<Record<string, string>> = {
  containers: 'Container',
  legs: 'Leg',
  references: 'Reference',
  metadata: 'Custom fields',
};

/** Formats a field path, such as "Container CSQU3054383, last free day". */
export function formatFieldPathAsLabel(path: readonly string[]): string {
  const [first = '', ...rest] = path;
  const part = HISTORY_LIST_ITEM_LABELS[first];
  if (part === undefined || rest.length === 0)
    return path.map((name) => SPECIAL_FIELD_LABELS[name] ?? toReadableLabel(name)).join(', ');
  const [which = '', ...fields] = rest;
  return [
    `${part} ${which}`,
    ...fields.map((name) => SPECIAL_FIELD_LABELS[name] ?? toReadableLabel(name).toLowerCase()),
  ].join(', ');
}

const VALUE_LABELS: Readonly<Record<string, string>> = {
  ...DOCUMENT_STATUS_LABELS,
  ...EXCEPTION_STATUS_LABELS,
  ...SEVERITY_LABELS,
  ...RESOLUTION_LABELS,
  ...DOCUMENT_TYPE_LABELS,
  ...EXCEPTION_LABELS,
  ...CONTENT_TYPE_LABELS,
};
/** Names of fields whose values are enumerated codes. */
const ENUM_FIELDS: ReadonlySet<string> = new Set([
  'status',
  'severity',
  'type',
  'code',
  'mode',
  'load_type',
  'classifier',
  'source',
  'reason_code',
  'result',
  'content_type',
  'equipment',
]);

/** Names of fields whose times can be the end of a whole day, of which only the date is shown. */
const FIELDS_WITH_POSSIBLE_DAY_PRECISION: ReadonlySet<string> = new Set(['etd', 'eta', 'original_eta', 'occurred_at']);

const INSTANT_PATTERN = /^\d{4}-\d\d-\d\dT/;
const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/;

/**
 * Formats a stored value for display. Times are in the user's time zone.
 * @param zone time zone of the place whose date a whole day is, if it is known
 */
export function formatStoredValue(value: unknown, field = '', zone?: string | null): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return formatTextAsDateTimeOrLabel(value, field, zone);
  if (Array.isArray(value)) return value.map((item) => formatStoredValue(item, field, zone)).join(', ') || 'none';
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

function formatTextAsDateTimeOrLabel(value: string, field: string, zone: string | null | undefined): string {
  const isExpectedTime = FIELDS_WITH_POSSIBLE_DAY_PRECISION.has(field);
  const date = DATE_PATTERN.test(value) ? value : isExpectedTime ? getDateIfWholeDay(value, zone) : undefined;
  if (date !== undefined) return formatDate(date);
  if (INSTANT_PATTERN.test(value)) return formatInstant(value);
  return ENUM_FIELDS.has(field) ? (VALUE_LABELS[value] ?? toReadableLabel(value)) : value;
}

export function formatInstant(value: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(value));
}

/** A changed value. The path to the value lists field names and positions, such as `legs`, `2`, `eta`. */
export interface ValueDifference {
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
  /** IANA time zone of the place of the later value, if it is an expected time. Undefined if it is unknown. */
  readonly zone?: string | null | undefined;
  /** IANA time zone of the place of the earlier value. The shipment may have had another port. */
  readonly fromZone?: string | null | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that identify an item of a list, so that items match even if their positions differ. */
const HISTORY_LIST_ITEM_KEY_FIELDS = ['number', 'container_number', 'id'] as const;

/**
 * Lists all values that differ between two states. List items are matched by an identifying field. Items without one
 * are matched by position.
 */
export function listDifferences(from: unknown, to: unknown, path: readonly string[] = []): readonly ValueDifference[] {
  const [before, after] = [toFieldsOrItemsByIdentifier(from), toFieldsOrItemsByIdentifier(to)];
  if (before === undefined && after === undefined) return isSameValue(from, to) ? [] : [{ path, from, to }];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((name) => listDifferences(before?.[name] ?? null, after?.[name] ?? null, [...path, name]));
}

/** Returns the fields of an object, or the items of a list by key. Returns undefined for other values. */
function toFieldsOrItemsByIdentifier(value: unknown): Fields | undefined {
  if (Array.isArray(value))
    return value.some(isJsonObject) ? Object.fromEntries(value.map(pairItemWithIdentifier)) : undefined;
  return isJsonObject(value) ? value : undefined;
}

function pairItemWithIdentifier(item: unknown, index: number): readonly [string, unknown] {
  const name = isJsonObject(item)
    ? HISTORY_LIST_ITEM_KEY_FIELDS.map((field) => item[field]).find((value) => typeof value === 'string')
    : undefined;
  return [typeof name === 'string' ? name : String(index + 1), item];
}

function isJsonObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks if two values are equal. Null, undefined and an empty list count as equal. */
function isSameValue(from: unknown, to: unknown): boolean {
  const [before, after] = [from, to].map((value) =>
    Array.isArray(value) && value.length === 0 ? null : (value ?? null),
  );
  return JSON.stringify(before) === JSON.stringify(after);
}
