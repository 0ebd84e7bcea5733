import { type Mode, normalisePlaceName, type PlaceLookup } from '@tracking/contracts';

/** Mode for checking a code: null if the shipment has no mode, undefined if the mode is not known to the caller. */
export type KnownMode = Mode | null | undefined;

const CONTAINER_NUMBER_PATTERN = /^[A-Z]{3}[UJZABDEK]\d{7}$/;
const UNIT_LOAD_DEVICE_PATTERN = /^[A-Z][A-Z0-9]{2}\d{4,5}[A-Z0-9]{2}$/;
const IMO_NUMBER_PATTERN = /^\d{7}$/;
const SCAC_PATTERN = /^[A-Z]{2,4}$/;
/** IATA airline designator: two letters, or a letter and a digit. */
const AIRLINE_CODE_PATTERN = /^(?:[A-Z][A-Z0-9]|[0-9][A-Z])$/;
const UN_LOCODE_PATTERN = /^[A-Z]{2}[A-Z2-9]{3}$/;
/** UN/LOCODE, optionally with a space after the country code, as UN/ECE also writes it. */
const SPACED_UN_LOCODE_PATTERN = /^[A-Z]{2} ?[A-Z2-9]{3}$/;
const IATA_AIRPORT_PATTERN = /^[A-Z]{3}$/;

/** Normalizes a code: trims it, converts it to upper case, and removes spaces and hyphens. */
export function normaliseCode(text: string): string {
  return text.replace(/[\s-]+/g, '').toUpperCase();
}

/**
 * Returns true if a normalized number is a container number: ISO 6346, swap bodies with the fourth letters of EN 13044
 * and, for air and multimodal, ULD numbers. Without a mode, a ULD number is invalid, because a container number with a
 * missing letter looks like a ULD number.
 */
export function isContainerNumber(number: string, mode: KnownMode): boolean {
  if (CONTAINER_NUMBER_PATTERN.test(number)) return true;
  const mayFly = mode === 'air' || mode === 'multimodal' || mode === undefined;
  return mayFly && UNIT_LOAD_DEVICE_PATTERN.test(number);
}

/**
 * Returns true if the last digit is the check digit of ISO 6346; null for a ULD number, which has no check digit.
 * Letters have values from 10 up without the multiples of 11. Each character has the weight 2 to the power of its
 * position.
 */
export function hasValidCheckDigit(number: string): boolean | null {
  if (!CONTAINER_NUMBER_PATTERN.test(number)) return null;
  let sum = 0;
  for (let place = 0; place < 10; place++) {
    const code = number.charCodeAt(place);
    const letter = code - 65 + 10;
    const value = code < 58 ? code - 48 : letter + Math.floor((letter - 1) / 10);
    // A shift instead of a power, because powers are slow and each derivation checks all containers.
    sum += value << place;
  }
  return (sum % 11) % 10 === number.charCodeAt(10) - 48;
}

/** Normalizes an IMO number of a ship: trims it and removes the prefix `IMO`. */
export function normaliseImoNumber(text: string): string {
  return text.trim().replace(/^imo[\s:#-]*/i, '');
}

/**
 * Returns true if a normalized IMO number is valid: seven digits, the last of which is the check digit. The first digit
 * has the weight 7, the sixth the weight 2.
 */
export function isImoNumber(number: string): boolean {
  if (!IMO_NUMBER_PATTERN.test(number)) return false;
  let sum = 0;
  for (let place = 0; place < 6; place++) sum += Number(number[place]) * (7 - place);
  return sum % 10 === Number(number[6]);
}

/** Returns true if a normalized code is a SCAC or, for air and courier, an airline designator. */
export function isCarrierCode(code: string, mode: KnownMode): boolean {
  const mayBeAirline = mode === 'air' || mode === 'courier' || mode === undefined;
  return SCAC_PATTERN.test(code) || (mayBeAirline && AIRLINE_CODE_PATTERN.test(code));
}

/**
 * Returns true if a normalized code is a UN/LOCODE or, for air, courier, multimodal or no mode, an IATA airport code.
 */
export function isPortCode(code: string, mode: KnownMode): boolean {
  const mayBeAirport = mode === 'air' || mode === 'courier' || mode === 'multimodal' || mode == null;
  return UN_LOCODE_PATTERN.test(code) || (mayBeAirport && IATA_AIRPORT_PATTERN.test(code));
}

/**
 * Returns true if a UN/LOCODE is certainly wrong. Always false for airport codes, because no table of airports is
 * complete.
 */
export function isUnknownPort(code: string, places: PlaceLookup): boolean {
  return UN_LOCODE_PATTERN.test(code) && places.isUnknownLocationCode(code);
}

/**
 * Normalizes a milestone's location. A UN/LOCODE is normalized; other text is only trimmed. Many names look like a code
 * ("Genoa", "Delhi"). Such a text counts as a code in three cases: a table contains it, it is written exactly as a code
 * and nothing contradicts that, or it is a port of the shipment.
 */
export function normaliseLocation(text: string, places: PlaceLookup, ports: readonly (string | null)[]): string {
  const code = normaliseCode(text);
  if (ports.includes(code)) return code;
  const plain = text.trim();
  if (!isLocode(code, places)) return plain;
  return SPACED_UN_LOCODE_PATTERN.test(plain) || places.find(code) !== undefined ? code : plain;
}

/** Returns the country of a normalized location; undefined for free text and unknown airports. */
export function getCountryOfLocation(location: string, places: PlaceLookup): string | undefined {
  if (isLocode(location, places)) return location.slice(0, 2);
  return IATA_AIRPORT_PATTERN.test(location) ? places.find(location)?.country : undefined;
}

/**
 * Returns a location in the form for comparison, in which all spellings of a code are equal, and so are texts that
 * differ only in case, accents and punctuation. A location may have been free text when the milestone arrived, before
 * the shipment got the port.
 */
export function toComparablePlace(location: string | null): string | null {
  if (location === null || UN_LOCODE_PATTERN.test(location)) return location;
  const code = normaliseCode(location);
  return UN_LOCODE_PATTERN.test(code) || IATA_AIRPORT_PATTERN.test(code) ? code : normalisePlaceName(location);
}

function isLocode(code: string, places: PlaceLookup): boolean {
  return UN_LOCODE_PATTERN.test(code) && !places.isUnknownLocationCode(code) && !places.isWordOfPlaceName(code);
}
