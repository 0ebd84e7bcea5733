import { hkdfSync } from 'node:crypto';

/** A key for one purpose, so that nothing made for one can be used for another. 32 bytes. */
export function derivedKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), purpose, 32));
}
