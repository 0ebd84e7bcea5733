import { instantOf } from '../../values/zones.ts';
import { eachPlainField } from '../plain-fields.ts';

/** The meanings that a column can have. */
export const TARGETS = {
  external_id: 'Your reference',
  mode: 'Mode',
  load_type: 'Load type',
  ...eachPlainField((_name, { label }) => label),
  container_numbers: 'Containers',
  carrier_scac: 'Carrier',
  origin_port: 'Origin',
  destination_port: 'Destination',
  etd: 'Departure (ETD)',
  eta: 'Arrival (ETA)',
  vessel: 'Vessel',
  voyage: 'Voyage',
  'shipper.name': 'Shipper',
  'shipper.external_id': 'Shipper number',
  'consignee.name': 'Consignee',
  'consignee.external_id': 'Consignee number',
  reference: 'Additional reference',
  metadata: 'Custom fields',
} as const;
export type Target = keyof typeof TARGETS;
/** The meaning of each column; null for an ignored one. */
export type Mapping = readonly (Target | null)[];

/** Several columns may have these meanings; each is named after its header. */
const REPEATED: readonly Target[] = ['reference', 'metadata', 'container_numbers'];
/** Headers of each meaning, in lower-case letters and digits. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
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
  ...eachPlainField((_name, { headers }) => headers),
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

/** Parts of a shipment that a row replaces as a whole. */
const REPLACED_WHOLE: readonly (readonly [what: string, ...targets: Target[]])[] = [
  ['containers', 'container_numbers'],
  ['legs', 'vessel', 'voyage'],
  ['shipper', 'shipper.name', 'shipper.external_id'],
  ['consignee', 'consignee.name', 'consignee.external_id'],
  ['additional references', 'reference'],
  ['custom fields', 'metadata'],
];

/** The parts of existing shipments that a row with a value for them replaces as a whole. */
export function replacedWhole(mapping: Mapping): readonly string[] {
  return REPLACED_WHOLE.filter(([, ...targets]) => targets.some((target) => mapping.includes(target))).map(
    ([what]) => what,
  );
}

/** Normalises a header, however it is written. */
function headerKey(header: string): string {
  return header.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Guesses the meaning of columns: as in the last file, otherwise by their headers. */
export function guessMapping(headers: readonly string[], remembered: Readonly<Record<string, Target | null>>): Mapping {
  const taken = new Set<Target>();
  return headers.map((header) => {
    const key = headerKey(header);
    const target = Object.hasOwn(remembered, key) ? remembered[key] : targetOf(key);
    if (target == null || (taken.has(target) && !REPEATED.includes(target))) return null;
    taken.add(target);
    return target;
  });
}

function targetOf(key: string): Target | undefined {
  return (Object.keys(TARGETS) as Target[]).find((target) => WORDS[target]?.includes(key));
}

/** Changes one column. A meaning that may occur once is taken from the column that had it. */
export function withTarget(mapping: Mapping, column: number, target: Target | null): Mapping {
  const isOnce = target !== null && !REPEATED.includes(target);
  return mapping.map((now, index) => {
    if (index === column) return target;
    return isOnce && now === target ? null : now;
  });
}

/** The part of a mapping that is remembered for the next file. */
export function toRemember(headers: readonly string[], mapping: Mapping): Record<string, Target | null> {
  return Object.fromEntries(headers.map((header, index) => [headerKey(header), mapping[index] ?? null]));
}

/** The order in dates that begin with neither a year nor a name. */
export type DayOrder = 'day-first' | 'month-first';

const ISO = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;
const PARTS = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[ T]+(\d{1,2}):(\d{2})(?::\d{2})?)?$/;

/** A local time, with its offset if the cell has one. */
interface Written {
  readonly date: string;
  readonly hour: string;
  readonly minute: string;
  readonly offset: string | undefined;
}

/**
 * The instant of a cell.
 * @param zone of times without an offset; undefined if unknown
 * @throws Error that describes the fault of the cell
 */
export function readMoment(text: string, order: DayOrder, zone: string | undefined): string {
  const written = writtenIso(text) ?? writtenInParts(text, order);
  if (written === undefined) throw new Error('is not a date. Use a date such as 2026-12-24 or 2026-12-24 18:00.');
  const { date, hour, minute, offset } = written;
  const wall = `${date}T${hour.padStart(2, '0')}:${minute}`;
  if (!isDay(date) || Number(hour) > 23 || Number(minute) > 59) throw new Error('is not a valid date');
  if (offset !== undefined) return new Date(`${wall}${offset}`).toISOString();
  if (zone === undefined)
    throw new Error('has no UTC offset, and the time zone of the port is unknown. Add an offset such as +01:00.');
  const at = instantOf(wall, zone);
  if (at === undefined) throw new Error('is not a valid date');
  return at;
}

function writtenIso(text: string): Written | undefined {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [, year = '', month = '', day = '', hour = '0', minute = '00', offset] = found;
  return { date: dateOf(year, month, day), hour, minute, offset: offset === undefined ? undefined : offsetOf(offset) };
}

function writtenInParts(text: string, order: DayOrder): Written | undefined {
  const found = PARTS.exec(text);
  if (found === null) return undefined;
  const [, first = '', second = '', year = '', hour = '0', minute = '00'] = found;
  const [day, month] = order === 'day-first' ? [first, second] : [second, first];
  return { date: dateOf(year, month, day), hour, minute, offset: undefined };
}

function dateOf(year: string, month: string, day: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

function offsetOf(text: string): string {
  if (text.toUpperCase() === 'Z') return 'Z';
  return text.includes(':') ? text : `${text.slice(0, 3)}:${text.slice(3)}`;
}

/** Guesses the order from days above 12. */
export function guessDayOrder(texts: readonly string[]): DayOrder {
  const days = texts.map((text) => PARTS.exec(text.trim())).filter((found) => found !== null);
  return days.some(([, , second]) => Number(second) > 12) ? 'month-first' : 'day-first';
}
