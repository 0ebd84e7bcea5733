import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Length of the signature: 128 bits, so that an attacker cannot guess a valid one. */
const MAC_BYTES = 16;
/** Longest valid token, in characters. */
const MAX_TOKEN_CHARS = 2_000;

/** Purpose and binding of a token. A token with another purpose or binding is refused. */
export interface TokenPurposeAndBinding {
  readonly purpose: 'cursor' | 'consistency-token' | 'upload-url' | 'known-device';
  readonly binding: string;
}

/** Creates tokens that clients cannot forge or change: base64url of a truncated HMAC-SHA256 and the text. */
export class TokenSigner {
  /** Signing key. A key object, because an HMAC from key bytes takes six times as long. */
  private readonly key: KeyObject;

  constructor(secret: Uint8Array) {
    this.key = createSecretKey(secret);
  }

  sealTextWithMac(text: string, seal: TokenPurposeAndBinding): string {
    return Buffer.concat([this.computeMac(text, seal), Buffer.from(text)]).toString('base64url');
  }

  /** Returns the text of a token; undefined unless `sealTextWithMac` created exactly this token with the same seal. */
  readTextOfVerifiedToken(token: string, seal: TokenPurposeAndBinding): string | undefined {
    if (token.length > MAX_TOKEN_CHARS) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    // Base64 decoding ignores other characters and spare bits, which would allow several spellings of one token.
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== token) return undefined;
    const text = bytes.toString('utf8', MAC_BYTES);
    return timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.computeMac(text, seal)) ? text : undefined;
  }

  private computeMac(text: string, { purpose, binding }: TokenPurposeAndBinding): Buffer {
    // JSON separates the three parts unambiguously.
    const signed = JSON.stringify([purpose, binding, text]);
    return createHmac('sha256', this.key).update(signed).digest().subarray(0, MAC_BYTES);
  }
}
