import type { Mode, Places } from '@tracking/contracts';

/** The mode that a rule looks at: null when the shipment has none, undefined when it is not known here. */
export type KnownMode = Mode | null | undefined;

const CONTAINER_NUMBER = /^[A-Z]{3}[UJZABDEK]\d{7}$/;
const UNIT_LOAD_DEVICE = /^[A-Z][A-Z0-9]{2}\d{4,5}[A-Z0-9]{2}$/;
const SCAC = /^[A-Z]{2,4}$/;
/** IATA airline designator: two letters, or a letter and a digit. */
const AIRLINE_CODE = /^(?:[A-Z][A-Z0-9]|[0-9][A-Z])$/;
const UN_LOCODE = /^[A-Z]{2}[A-Z2-9]{3}$/;
/** As its publisher writes it too, with a blank behind the country. */
const UN_LOCODE_WITH_SPACE = /^[A-Z]{2} ?[A-Z2-9]{3}$/;
const IATA_AIRPORT = /^[A-Z]{3}$/;

/** Trimmed, upper-cased, spaces and hyphens removed. */
export function normaliseCode(text: string): string {
  return text.replace(/[\s-]+/g, '').toUpperCase();
}

/**
 * ISO 6346, with the fourth letters of EN 13044 swap bodies; a ULD number too for air and multimodal. Without a mode it is
 * none: a container number that lacks a letter has the form of one. Takes a normalised number.
 */
export function isContainerNumber(number: string, mode: KnownMode): boolean {
  if (CONTAINER_NUMBER.test(number)) return true;
  const mayFly = mode === 'air' || mode === 'multimodal' || mode === undefined;
  return mayFly && UNIT_LOAD_DEVICE.test(number);
}

/**
 * Whether the last digit is the check digit of ISO 6346; null for a ULD, which has none. Letters count from 10 up without
 * the multiples of 11, each character is weighted with 2 to the power of its place.
 */
export function hasValidCheckDigit(number: string): boolean | null {
  if (!CONTAINER_NUMBER.test(number)) return null;
  let sum = 0;
  for (let place = 0; place < 10; place++) {
    const code = number.charCodeAt(place);
    const letter = code - 65 + 10;
    const value = code < 58 ? code - 48 : letter + Math.floor((letter - 1) / 10);
    sum += value * 2 ** place;
  }
  return (sum % 11) % 10 === number.charCodeAt(10) - 48;
}

/** SCAC; for air and courier an airline's designator too. Takes a normalised code. */
export function isCarrierCode(code: string, mode: KnownMode): boolean {
  const mayBeAirline = mode === 'air' || mode === 'courier' || mode === undefined;
  return SCAC.test(code) || (mayBeAirline && AIRLINE_CODE.test(code));
}

/** UN/LOCODE; an airport's three letters too where the mode is air, courier, multimodal or absent. Takes a normalised code. */
export function isPortCode(code: string, mode: KnownMode): boolean {
  const mayBeAirport = mode === 'air' || mode === 'courier' || mode === 'multimodal' || mode == null;
  return UN_LOCODE.test(code) || (mayBeAirport && IATA_AIRPORT.test(code));
}

/** Whether a UN/LOCODE is known to be wrong. Airports are never: no table of them is complete. */
export function isUnknownPort(code: string, places: Places): boolean {
  return UN_LOCODE.test(code) && places.isUnknown(code);
}

/**
 * A milestone's place. What is a UN/LOCODE comes back as one; all else is free text, and stays as it is but for the blanks
 * around it. Many names have the form of a code ("Genoa", "Delhi"): one is taken as a code where a table knows it, or
 * where it was written exactly as one and nothing is known against it, or where it is one of the shipment's own ports.
 */
export function normaliseLocation(text: string, places: Places, ports: readonly (string | null)[]): string {
  const code = normaliseCode(text);
  if (ports.includes(code)) return code;
  const plain = text.trim();
  if (!isLocode(code, places)) return plain;
  return UN_LOCODE_WITH_SPACE.test(plain) || places.find(code) !== undefined ? code : plain;
}

/** The country of a place that is a UN/LOCODE or a known airport; undefined for free text. Takes a normalised location. */
export function countryOf(location: string, places: Places): string | undefined {
  if (isLocode(location, places)) return location.slice(0, 2);
  return IATA_AIRPORT.test(location) ? places.find(location)?.country : undefined;
}

/**
 * A milestone's location as it is compared with ports and with other milestones' locations. What has the form of a code is
 * the same place in whatever way it is written: it may have been free text when the milestone came, since the shipment got
 * the port, or the feed its spelling, later.
 */
export function placeOf(location: string | null): string | null {
  if (location === null || UN_LOCODE.test(location)) return location;
  const code = normaliseCode(location);
  return UN_LOCODE.test(code) || IATA_AIRPORT.test(code) ? code : location;
}

function isLocode(code: string, places: Places): boolean {
  return UN_LOCODE.test(code) && !places.isUnknown(code) && !places.isName(code);
}
