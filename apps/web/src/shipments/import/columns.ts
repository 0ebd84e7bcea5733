import { convertLocalTimeToUtc } from '../../values/zones.ts';
import { createRecordOfPlainShipmentFields } from '../plain-fields.ts';

/** Fields that a column of an imported file can be mapped to, with their labels. */
export const IMPORT_FIELD_LABELS = {
  external_id: 'Your reference',
  mode: 'Mode',
  load_type: 'Load type',
  ...createRecordOfPlainShipmentFields((_name, { label }) => label),
  container_numbers: 'Containers',
  carrier_scac: 'Carrier',
  origin_port: 'Origin',
  destination_port: 'Destination',
  etd: 'Departure (ETD)',
  eta: 'Arrival (ETA)',
  vessel: 'Vessel',
  voyage: 'Voyage',
  'shipper.name': 'Shipper',
  'shipper.external_id': 'Your number for the shipper',
  'consignee.name': 'Consignee',
  'consignee.external_id': 'Your number for the consignee',
  reference: 'Additional reference',
  metadata: 'Custom fields',
} as const;
export type Target = keyof typeof IMPORT_FIELD_LABELS;
/** Fields that the columns of the file are mapped to, in column order. Null stands for an ignored column. */
export type Mapping = readonly (Target | null)[];

/** Fields that several columns may be mapped to at the same time. Each value gets the name of its column header. */
const REPEATABLE_IMPORT_FIELDS: readonly Target[] = ['reference', 'metadata', 'container_numbers'];
/** Column headers that are recognized for each field, reduced to lower-case letters and digits. */
const KNOWN_IMPORT_COLUMN_HEADERS: Readonly<Record<string, readonly string[]>> = {
  external_id: [
    'externalid',
    'reference',
    'ref',
    'ourreference',
    'yourreference',
    'shipmentid',
    'shipment',
    'shipmentreference',
    'order',
    'ordernumber',
    'orderno',
    'po',
    'ponumber',
    'purchaseorder',
  ],
  mode: ['mode', 'transportmode', 'modeoftransport', 'transport'],
  load_type: ['loadtype', 'load', 'fcllcl', 'servicetype'],
  ...createRecordOfPlainShipmentFields((_name, { headers }) => headers),
  container_numbers: [
    'containernumbers',
    'containernumber',
    'containers',
    'container',
    'containerno',
    'containernos',
    'uld',
  ],
  carrier_scac: ['carrierscac', 'scac', 'carrier', 'carriercode', 'shippingline', 'airline'],
  origin_port: ['originport', 'origin', 'from', 'pol', 'portofloading', 'loadport', 'departureport', 'fromport'],
  destination_port: [
    'destinationport',
    'destination',
    'to',
    'pod',
    'portofdischarge',
    'dischargeport',
    'arrivalport',
    'toport',
  ],
  etd: ['etd', 'departure', 'departuredate', 'estimateddeparture', 'etdate', 'departureetd'],
  eta: ['eta', 'arrival', 'arrivaldate', 'estimatedarrival', 'arrivaleta'],
  vessel: ['vessel', 'vesselname', 'ship'],
  voyage: ['voyage', 'voyagenumber', 'voyageno', 'flight', 'flightnumber', 'flightno', 'trip'],
  'shipper.name': ['shipper', 'shippername', 'exporter', 'supplier', 'suppliername', 'consignor'],
  'shipper.external_id': [
    'shipperid',
    'shipperexternalid',
    'shippernumber',
    'supplierid',
    'suppliernumber',
    'numberoftheshipper',
  ],
  'consignee.name': ['consignee', 'consigneename', 'importer', 'customer', 'customername', 'buyer'],
  'consignee.external_id': [
    'consigneeid',
    'consigneeexternalid',
    'consigneenumber',
    'customerid',
    'customernumber',
    'numberoftheconsignee',
  ],
};

/** Parts of an existing shipment that an import replaces as a whole, with the mapped fields that cause this. */
const SHIPMENT_PARTS_REPLACED_BY_IMPORT: readonly (readonly [what: string, ...targets: Target[]])[] = [
  ['containers', 'container_numbers'],
  ['legs', 'vessel', 'voyage'],
  ['shipper', 'shipper.name', 'shipper.external_id'],
  ['consignee', 'consignee.name', 'consignee.external_id'],
  ['additional references', 'reference'],
  ['custom fields', 'metadata'],
];

/** Lists the parts of existing shipments that the import would replace as a whole, given the column mapping. */
export function listShipmentPartsReplacedByImport(mapping: Mapping): readonly string[] {
  return SHIPMENT_PARTS_REPLACED_BY_IMPORT.filter(([, ...targets]) =>
    targets.some((target) => mapping.includes(target)),
  ).map(([what]) => what);
}

/** Reduces a header to its letters and digits, in lower case. */
function reduceColumnHeaderToLettersAndDigits(header: string): string {
  return header.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Guesses the field of each column. The mapping of the last import is used first. Columns that it does not contain are
 * guessed from their headers.
 */
export function guessMapping(headers: readonly string[], remembered: Readonly<Record<string, Target | null>>): Mapping {
  const taken = new Set<Target>();
  return headers.map((header) => {
    const key = reduceColumnHeaderToLettersAndDigits(header);
    const target = Object.hasOwn(remembered, key) ? remembered[key] : findTargetOfHeader(key);
    if (target == null || (taken.has(target) && !REPEATABLE_IMPORT_FIELDS.includes(target))) return null;
    taken.add(target);
    return target;
  });
}

function findTargetOfHeader(key: string): Target | undefined {
  return (Object.keys(IMPORT_FIELD_LABELS) as Target[]).find((target) =>
    KNOWN_IMPORT_COLUMN_HEADERS[target]?.includes(key),
  );
}

/**
 * Maps a column to a field. If another column is already mapped to the field, that column is ignored from now on. Some
 * fields allow several columns.
 */
export function mapColumnToField(mapping: Mapping, column: number, target: Target | null): Mapping {
  const isOnce = target !== null && !REPEATABLE_IMPORT_FIELDS.includes(target);
  return mapping.map((now, index) => {
    if (index === column) return target;
    return isOnce && now === target ? null : now;
  });
}

/** Returns the column mapping by normalised header. It is stored for the next import. */
export function indexMappingByHeader(headers: readonly string[], mapping: Mapping): Record<string, Target | null> {
  return Object.fromEntries(
    headers.map((header, index) => [reduceColumnHeaderToLettersAndDigits(header), mapping[index] ?? null]),
  );
}

/** Order of the day and the month in dates such as 03/04/2027. */
export type DayOrder = 'day-first' | 'month-first';

const ISO_DATE_PATTERN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;
const NUMERIC_DATE_PATTERN = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[ T]+(\d{1,2}):(\d{2})(?::\d{2})?)?$/;

/** Local date and time from a cell of the file. It includes the UTC offset if the cell contains one. */
interface ParsedTime {
  readonly date: string;
  /** Undefined if the cell contains only a date. */
  readonly hour: string | undefined;
  readonly minute: string;
  readonly offset: string | undefined;
}

/**
 * Parses the date or time in a cell of the file. Returns a time as UTC, and a date as a date, which means the whole day
 * at the port.
 * @param zone time zone for times without an offset; undefined if unknown
 * @throws Error with a message for the user
 */
export function parseImportedTimeCell(text: string, order: DayOrder, zone: string | undefined): string {
  const written = parseIsoDateWithOptionalTime(text) ?? parseNumericDate(text, order);
  if (written === undefined) throw new Error('is not a date. Use a date such as 2026-12-24 or 2026-12-24 18:00.');
  const { date, hour = '0', minute, offset } = written;
  const wall = `${date}T${hour.padStart(2, '0')}:${minute}`;
  if (!isValidDate(date) || Number(hour) > 23 || Number(minute) > 59) throw new Error('is not a valid date');
  if (written.hour === undefined && offset === undefined) return date;
  if (offset !== undefined) return new Date(`${wall}${offset}`).toISOString();
  if (zone === undefined)
    throw new Error('has no UTC offset, and the time zone of the port is unknown. Add an offset such as +01:00.');
  const at = convertLocalTimeToUtc(wall, zone);
  if (at === undefined) throw new Error('is not a valid date');
  return at;
}

function parseIsoDateWithOptionalTime(text: string): ParsedTime | undefined {
  const found = ISO_DATE_PATTERN.exec(text);
  if (found === null) return undefined;
  const [, year = '', month = '', day = '', hour, minute = '00', offset] = found;
  return {
    date: formatIsoDate(year, month, day),
    hour,
    minute,
    offset: offset === undefined ? undefined : normaliseUtcOffset(offset),
  };
}

function parseNumericDate(text: string, order: DayOrder): ParsedTime | undefined {
  const found = NUMERIC_DATE_PATTERN.exec(text);
  if (found === null) return undefined;
  const [, first = '', second = '', year = '', hour, minute = '00'] = found;
  const [day, month] = order === 'day-first' ? [first, second] : [second, first];
  return { date: formatIsoDate(year, month, day), hour, minute, offset: undefined };
}

function formatIsoDate(year: string, month: string, day: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function isValidDate(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

function normaliseUtcOffset(text: string): string {
  if (text.toUpperCase() === 'Z') return 'Z';
  return text.includes(':') ? text : `${text.slice(0, 3)}:${text.slice(3)}`;
}

/** Guesses the order of day and month in the dates of a file. A number above 12 must be a day. */
export function guessDayOrder(texts: readonly string[]): DayOrder {
  const days = texts.map((text) => NUMERIC_DATE_PATTERN.exec(text.trim())).filter((found) => found !== null);
  return days.some(([, , second]) => Number(second) > 12) ? 'month-first' : 'day-first';
}
