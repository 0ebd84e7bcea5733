import type { Shipment } from '@tracking/client';

const CONTAINER = /^[A-Z]{3}[UJZABDEK]\d{7}$/;
const UNIT_LOAD_DEVICE = /^[A-Z][A-Z0-9]{2}\d{4,5}[A-Z0-9]{2}$/;
const SCAC = /^[A-Z]{2,4}$/;
const AIRLINE = /^(?:[A-Z][A-Z0-9]|[0-9][A-Z])$/;
const UN_LOCODE = /^[A-Z]{2}[A-Z2-9]{3}$/;
const IATA_AIRPORT = /^[A-Z]{3}$/;

/** Null where none is said. */
type MaybeMode = Mode | null;

/** As the API keeps codes: trimmed, upper-cased, without spaces and hyphens. */
export function normaliseCode(text: string): string {
  return text.replace(/[\s-]+/g, '').toUpperCase();
}

/** ISO 6346 and swap bodies; by air and multimodal also unit load devices. Takes a normalised number. */
export function isContainerNumber(number: string, mode: MaybeMode): boolean {
  if (CONTAINER.test(number)) return true;
  return (mode === 'air' || mode === 'multimodal') && UNIT_LOAD_DEVICE.test(number);
}

/** The check digit that a container number should end with (ISO 6346); undefined for what has none. */
export function checkDigitOf(number: string): number | undefined {
  if (!CONTAINER.test(number)) return undefined;
  const sum = [...number.slice(0, 10)].reduce((total, char, place) => total + valueOf(char) * 2 ** place, 0);
  return (sum % 11) % 10;
}

/** Letters count from 10 up without the multiples of 11. */
function valueOf(char: string): number {
  if (char <= '9') return Number(char);
  const letter = char.charCodeAt(0) - 55;
  return letter + Math.floor((letter - 1) / 10);
}

/** The number as it should be where only its check digit is wrong; undefined where nothing is. Takes a normalised number. */
export function withRightCheckDigit(number: string): string | undefined {
  const digit = checkDigitOf(number);
  return digit === undefined || number.endsWith(String(digit)) ? undefined : `${number.slice(0, 10)}${digit}`;
}

/** SCAC; for air and courier an airline's two characters too. Takes a normalised code. */
export function isCarrierCode(code: string, mode: MaybeMode): boolean {
  return SCAC.test(code) || ((mode === 'air' || mode === 'courier') && AIRLINE.test(code));
}

/** UN/LOCODE; an airport's three letters too by air, courier, multimodal and without a mode. Takes a normalised code. */
export function isPortCode(code: string, mode: MaybeMode): boolean {
  const mayBeAirport = mode === 'air' || mode === 'courier' || mode === 'multimodal' || mode === null;
  return UN_LOCODE.test(code) || (mayBeAirport && IATA_AIRPORT.test(code));
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
  lcl: 'Part container (LCL)',
  ftl: 'Full truck (FTL)',
  ltl: 'Part truck (LTL)',
  air_loose: 'Loose by air',
  bulk: 'Bulk',
};

/** For selects. */
export const MODE_OPTIONS = optionsOf(MODE_LABELS);
export const LOAD_TYPE_OPTIONS = optionsOf(LOAD_TYPE_LABELS);

function optionsOf<Value extends string>(labels: Readonly<Record<Value, string>>) {
  return (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
}

export type Status = Shipment['status'];

/** In the order in which they follow each other. */
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
/** Neither on their way nor to be. */
export const ENDED: readonly Status[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** What a person calls it: their own reference where it has one. */
export function nameOf({ external_id, house_bill, booking_number, master_bill, id }: Shipment): string {
  return external_id ?? house_bill ?? booking_number ?? master_bill ?? id;
}

/** An entry of a list of choices. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choice that a typed text means: the one called so, or the only one whose label contains it; undefined for none. */
export function choiceOf(text: string, choices: readonly Choice[]): Choice | undefined {
  const words = text.trim().toLowerCase();
  if (words === '') return undefined;
  const exact = choices.find(({ label }) => label.toLowerCase() === words);
  const matching = choices.filter(({ label }) => label.toLowerCase().includes(words));
  return exact ?? (matching.length === 1 ? matching[0] : undefined);
}
