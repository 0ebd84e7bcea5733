import type { Scalar } from '@tracking/ports';
import type { SqlValue } from './storage-protocol.ts';

/**
 * JSON values as SQL values, so that equality and order are the port's: absent is NULL, numbers and strings are
 * themselves, and what SQL has no type for is a byte. SQLite sorts NULL < numbers < text < bytes.
 */
const NULL = Uint8Array.of(0);
const FALSE = Uint8Array.of(1);
const TRUE = Uint8Array.of(2);
/** Objects and arrays: they exist, and equal nothing. */
const OTHER = Uint8Array.of(3);

/** What a key has where a field is absent: equal to no value, and within no bounds. */
export const ABSENT = new Uint8Array(0);

export function encodeValue(value: unknown): SqlValue {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  // JSON has null for the numbers that it lacks.
  return value === null || typeof value === 'number' ? NULL : OTHER;
}

/** The same in SQL, of a JSON value and its type as SQLite's functions answer them. */
export function encodedJson(type: string, value: string): string {
  return `CASE ${type} WHEN 'null' THEN x'00' WHEN 'false' THEN x'01' WHEN 'true' THEN x'02'
  WHEN 'object' THEN x'03' WHEN 'array' THEN x'03' ELSE ${value} END`;
}

/** The SQL literals between which all values of the type of `value` lie: from the first, and below the second. */
export function typeBounds(value: SqlValue): { readonly from: string | undefined; readonly below: string } {
  if (typeof value === 'number') return { from: undefined, below: `''` };
  if (typeof value === 'string') return { from: `''`, below: `x''` };
  return value === NULL ? { from: `x'00'`, below: `x'01'` } : { from: `x'01'`, below: `x'03'` };
}

export function decodeValue(value: SqlValue | undefined): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value;
  return value[0] === FALSE[0] || value[0] === TRUE[0] ? value[0] === TRUE[0] : null;
}

export function sameValue(one: SqlValue | undefined, other: SqlValue | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return one[0] === other[0];
  return one === other;
}
