import type { Mode } from './modes.ts';

const CONTAINER = /^[A-Z]{3}[UJZABDEK]\d{7}$/;
const UNIT_LOAD_DEVICE = /^[A-Z][A-Z0-9]{2}\d{4,5}[A-Z0-9]{2}$/;
const SCAC = /^[A-Z]{2,4}$/;
const AIRLINE = /^(?:[A-Z][A-Z0-9]|[0-9][A-Z])$/;
const UN_LOCODE = /^[A-Z]{2}[A-Z2-9]{3}$/;
const IATA_AIRPORT = /^[A-Z]{3}$/;

/** Null where none is said. */
export type MaybeMode = Mode | null;

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
