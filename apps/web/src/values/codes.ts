import type { Shipment } from '@tracking/client';

const CONTAINER_PATTERN = /^[A-Z]{3}[UJZABDEK]\d{7}$/;
const UNIT_LOAD_DEVICE_PATTERN = /^[A-Z][A-Z0-9]{2}\d{4,5}[A-Z0-9]{2}$/;
const SCAC_PATTERN = /^[A-Z]{2,4}$/;
const AIRLINE_PATTERN = /^(?:[A-Z][A-Z0-9]|[0-9][A-Z])$/;
const UN_LOCODE_PATTERN = /^[A-Z]{2}[A-Z2-9]{3}$/;
const IATA_AIRPORT_PATTERN = /^[A-Z]{3}$/;

/** Mode of a shipment. Null if unknown. */
type MaybeMode = Mode | null;

/** Normalises a code like the API: upper case, without spaces and hyphens. */
export function normaliseCode(text: string): string {
  return text.replace(/[\s-]+/g, '').toUpperCase();
}

/**
 * Validates a normalised container number (ISO 6346 or swap body). Air and multimodal also accept unit load devices.
 */
export function isContainerNumber(number: string, mode: MaybeMode): boolean {
  if (CONTAINER_PATTERN.test(number)) return true;
  return (mode === 'air' || mode === 'multimodal') && UNIT_LOAD_DEVICE_PATTERN.test(number);
}

/** Calculates the check digit of a container number (ISO 6346). Undefined if the number has none. */
export function calculateCheckDigit(number: string): number | undefined {
  if (!CONTAINER_PATTERN.test(number)) return undefined;
  const sum = [...number.slice(0, 10)].reduce((total, char, place) => total + getLetterValue(char) * 2 ** place, 0);
  return (sum % 11) % 10;
}

/** Letters have values from 10 on, without multiples of 11. */
function getLetterValue(char: string): number {
  if (char <= '9') return Number(char);
  const letter = char.charCodeAt(0) - 55;
  return letter + Math.floor((letter - 1) / 10);
}

/**
 * Returns the normalised number with the correct check digit. Undefined if the check digit is already correct, or if
 * more is wrong.
 */
export function correctCheckDigit(number: string): string | undefined {
  const digit = calculateCheckDigit(number);
  return digit === undefined || number.endsWith(String(digit)) ? undefined : `${number.slice(0, 10)}${digit}`;
}

/** Validates a normalised SCAC. Air and courier also accept two-character airline codes. */
export function isCarrierCode(code: string, mode: MaybeMode): boolean {
  return SCAC_PATTERN.test(code) || ((mode === 'air' || mode === 'courier') && AIRLINE_PATTERN.test(code));
}

/** Validates a normalised UN/LOCODE. Air, courier, multimodal and an unknown mode also accept airport codes. */
export function isPortCode(code: string, mode: MaybeMode): boolean {
  const mayBeAirport = mode === 'air' || mode === 'courier' || mode === 'multimodal' || mode === null;
  return UN_LOCODE_PATTERN.test(code) || (mayBeAirport && IATA_AIRPORT_PATTERN.test(code));
}

export type Mode = NonNullable<Shipment['mode']>;
export type LoadType = NonNullable<Shipment['load_type']>;

export const MODE_LABELS: Readonly<Record<Mode, string>> = {
  ocean: 'Ocean',
  air: 'Air',
  road: 'Road',
  rail: 'Rail',
  barge: 'Barge',
  courier: 'Courier',
  multimodal: 'Multimodal',
};
export const LOAD_TYPE_LABELS: Readonly<Record<LoadType, string>> = {
  fcl: 'Full container (FCL)',
  lcl: 'Less than container (LCL)',
  ftl: 'Full truckload (FTL)',
  ltl: 'Less than truckload (LTL)',
  air_loose: 'Air, loose',
  bulk: 'Bulk',
};

/** Converts labels to options of a select field. */
export const MODE_OPTIONS = toOptions(MODE_LABELS);
export const LOAD_TYPE_OPTIONS = toOptions(LOAD_TYPE_LABELS);

export function toOptions<Value extends string>(labels: Readonly<Record<Value, string>>) {
  return (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
}

export type Status = Shipment['status'];

/** Labels of statuses, in the order of a journey. */
export const STATUS_LABELS: Readonly<Record<Status, string>> = {
  pending: 'Pending',
  booked: 'Booked',
  at_origin: 'At origin',
  in_transit: 'In transit',
  arrived: 'Arrived',
  available_for_pickup: 'Available for pickup',
  out_for_delivery: 'Out for delivery',
  delivered: 'Delivered',
  completed: 'Completed',
  returned: 'Returned',
  cancelled: 'Cancelled',
};
export const STATUSES = Object.keys(STATUS_LABELS) as readonly Status[];
/** Statuses that the filter `active` excludes: delivered or later, and cancelled. */
export const INACTIVE_STATUSES: readonly Status[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** Returns the name of a shipment in lists: its reference if there is one. */
export function getShipmentName({ external_id, house_bill, booking_number, master_bill, id }: Shipment): string {
  return external_id ?? house_bill ?? booking_number ?? master_bill ?? id;
}

/** Option of a select field. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/**
 * Finds the option for a typed text: the one with this label, or the only one whose label contains the text. Undefined
 * if there is none.
 */
export function findChoiceByText(text: string, choices: readonly Choice[]): Choice | undefined {
  const words = text.trim().toLowerCase();
  if (words === '') return undefined;
  const exact = choices.find(({ label }) => label.toLowerCase() === words);
  const matching = choices.filter(({ label }) => label.toLowerCase().includes(words));
  return exact ?? (matching.length === 1 ? matching[0] : undefined);
}
