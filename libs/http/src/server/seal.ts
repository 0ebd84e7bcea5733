import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** 128 bits: enough that nobody finds a valid one by trying. */
const MAC_BYTES = 16;
/** Longer than any token of ours. */
const MAX_LENGTH = 2_000;

/** What a token is for and what it is bound to; one sealed for another purpose or binding does not open. */
export interface Seal {
  readonly purpose: 'cursor' | 'consistency-token' | 'upload-url';
  readonly binding: string;
}

/** Makes tokens that clients carry but cannot make or change: base64url of a truncated HMAC-SHA256 and the text. */
export class Sealer {
  /** Made once: from bytes each HMAC would make its own, at six times the cost. */
  private readonly key: KeyObject;

  constructor(secret: Uint8Array) {
    this.key = createSecretKey(secret);
  }

  close(text: string, seal: Seal): string {
    return Buffer.concat([this.mac(text, seal), Buffer.from(text)]).toString('base64url');
  }

  /** The text, or undefined if this is not exactly a token that `close` made with the same seal. */
  open(token: string, seal: Seal): string | undefined {
    if (token.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    // Base64 forgives: other characters and spare bits would make many spellings of one token.
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== token) return undefined;
    const text = bytes.toString('utf8', MAC_BYTES);
    return timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.mac(text, seal)) ? text : undefined;
  }

  private mac(text: string, { purpose, binding }: Seal): Buffer {
    // JSON keeps the three apart, whatever stands in them.
    const signed = JSON.stringify([purpose, binding, text]);
    return createHmac('sha256', this.key).update(signed).digest().subarray(0, MAC_BYTES);
  }
}
