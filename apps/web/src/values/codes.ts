import type { Shipment } from '@tracking/client';

const CONTAINER_NUMBER_PATTERN = /^[A-Z]{3}[UJZABDEK]\d{7}$/;
const UNIT_LOAD_DEVICE_PATTERN = /^[A-Z][A-Z0-9]{2}\d{4,5}[A-Z0-9]{2}$/;
const SCAC_PATTERN = /^[A-Z]{2,4}$/;
const AIRLINE_PATTERN = /^(?:[A-Z][A-Z0-9]|[0-9][A-Z])$/;
const UN_LOCODE_PATTERN = /^[A-Z]{2}[A-Z2-9]{3}$/;
const IATA_AIRPORT_PATTERN = /^[A-Z]{3}$/;

/** Mode of a shipment. Null if the mode is unknown. */
type MaybeMode = Mode | null;

/** Normalises a code in the same way as the API: upper case, without spaces and hyphens. */
export function normaliseCode(text: string): string {
  return text.replace(/[\s-]+/g, '').toUpperCase();
}

/**
 * Checks if a normalised text is a container number (ISO 6346 or swap body). For air and multimodal shipments, numbers
 * of unit load devices are also valid.
 */
export function isContainerNumber(number: string, mode: MaybeMode): boolean {
  if (CONTAINER_NUMBER_PATTERN.test(number)) return true;
  return (mode === 'air' || mode === 'multimodal') && UNIT_LOAD_DEVICE_PATTERN.test(number);
}

/** Calculates the check digit of a container number by ISO 6346. Returns undefined if the number has no check digit. */
export function calculateCheckDigit(number: string): number | undefined {
  if (!CONTAINER_NUMBER_PATTERN.test(number)) return undefined;
  const sum = [...number.slice(0, 10)].reduce((total, char, place) => total + getLetterValue(char) * 2 ** place, 0);
  return (sum % 11) % 10;
}

/** Letters have values from 10 upwards. Multiples of 11 are skipped. */
function getLetterValue(char: string): number {
  if (char <= '9') return Number(char);
  const letter = char.charCodeAt(0) - 55;
  return letter + Math.floor((letter - 1) / 10);
}

/**
 * Returns the container number with its correct check digit. Returns undefined if the check digit is already correct,
 * or if the text is not a container number.
 */
export function suggestContainerNumberWithCorrectCheckDigit(number: string): string | undefined {
  const digit = calculateCheckDigit(number);
  return digit === undefined || number.endsWith(String(digit)) ? undefined : `${number.slice(0, 10)}${digit}`;
}

/** Checks if a normalised text is a SCAC. For air and courier shipments, two-character airline codes are also valid. */
export function isCarrierCode(code: string, mode: MaybeMode): boolean {
  return SCAC_PATTERN.test(code) || ((mode === 'air' || mode === 'courier') && AIRLINE_PATTERN.test(code));
}

/**
 * Checks if a normalised text is a UN/LOCODE. For air, courier and multimodal shipments, and if the mode is unknown,
 * airport codes are also valid.
 */
export function isPortCode(code: string, mode: MaybeMode): boolean {
  const mayBeAirport = mode === 'air' || mode === 'courier' || mode === 'multimodal' || mode === null;
  return UN_LOCODE_PATTERN.test(code) || (mayBeAirport && IATA_AIRPORT_PATTERN.test(code));
}

export type Mode = NonNullable<Shipment['mode']>;
export type LoadType = NonNullable<Shipment['load_type']>;

export const TRANSPORT_MODE_LABELS: Readonly<Record<Mode, string>> = {
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

export const MODE_OPTIONS = toSelectOptions(TRANSPORT_MODE_LABELS);
export const LOAD_TYPE_OPTIONS = toSelectOptions(LOAD_TYPE_LABELS);

/** Converts a table of labels to the options of a select field. */
export function toSelectOptions<Value extends string>(labels: Readonly<Record<Value, string>>) {
  return (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
}

export type Status = Shipment['status'];

/** Labels of shipment statuses, in the order of a journey. */
export const SHIPMENT_STATUS_LABELS: Readonly<Record<Status, string>> = {
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
/** Statuses of shipments that have ended. Further events are not expected. */
export const ENDED_SHIPMENT_STATUSES: readonly Status[] = ['completed', 'returned', 'cancelled'];
/** Statuses of shipments that the filter `active` excludes: delivered or later, and cancelled. */
export const INACTIVE_STATUSES: readonly Status[] = ['delivered', ...ENDED_SHIPMENT_STATUSES];

/**
 * Returns the name of a shipment in lists: its reference, otherwise its house bill, booking number, master bill or id.
 */
export function getShipmentName({ external_id, house_bill, booking_number, master_bill, id }: Shipment): string {
  return external_id ?? house_bill ?? booking_number ?? master_bill ?? id;
}

/** Option of a select field, with its value and label. */
export interface SelectChoice {
  readonly value: string;
  readonly label: string;
}

/**
 * Finds the option that a typed text means. This is the option with exactly this label, otherwise the only option whose
 * label contains the text. Returns undefined if no option or several options match.
 */
export function findChoiceByText(text: string, choices: readonly SelectChoice[]): SelectChoice | undefined {
  const words = text.trim().toLowerCase();
  if (words === '') return undefined;
  const exact = choices.find(({ label }) => label.toLowerCase() === words);
  const matching = choices.filter(({ label }) => label.toLowerCase().includes(words));
  return exact ?? (matching.length === 1 ? matching[0] : undefined);
}
