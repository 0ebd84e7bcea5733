/** Offsets of the first byte and of the one after the last. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * The part of so many bytes that `Range` asks for. Undefined: everything, also where several parts are asked for, or the
 * header is malformed, which RFC 9110 (14.2) lets a server ignore. Null where none of it is there: 416.
 */
export function byteRange(header: string, size: number): ByteRange | undefined | null {
  const [, first = '', last = ''] = RANGE.exec(header) ?? [];
  if (first === '') return last === '' ? undefined : suffix(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : null;
}

function suffix(length: number, size: number): ByteRange | null {
  return length === 0 || size === 0 ? null : { start: Math.max(0, size - length), end: size };
}
