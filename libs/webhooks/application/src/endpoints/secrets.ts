import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  randomBytes,
} from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import { HEADER_VALUE_MASK, type SecretValidity, type Signer } from '@tracking/webhooks-domain';

const SEAL_VERSION = 'v1';
const CIPHER_ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const AUTHENTICATION_TAG_LENGTH = 16;

/**
 * Encrypts secrets at rest with AES-256-GCM. A sealed text is `v1.<key id>.<nonce>.<ciphertext and tag>` (base64url).
 * It is bound to a context, so that it cannot be moved to another record. The key id allows several keys.
 */
export class SecretBox {
  private readonly key: KeyObject;
  /** Id derived from the key, which does not reveal the key. Every sealed text contains the id. */
  readonly keyId: string;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new RangeError(`The secrets key must have exactly ${KEY_BYTES} bytes.`);
    this.key = createSecretKey(key);
    this.keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  }

  /** @param context owner of the secret: the endpoint's id and the secret's name */
  sealText(secret: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER_ALGORITHM, this.key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return [SEAL_VERSION, this.keyId, nonce.toString('base64url'), sealed.toString('base64url')].join('.');
  }

  /** Returns true if the text was sealed with this key. */
  isSealedWithThisKey(text: string): boolean {
    return parseSealingKeyId(text) === this.keyId;
  }

  /** @throws if the text was sealed with another key or for another context, or was altered */
  openText(text: string, context: string): string {
    const [version, keyId, nonce, sealed] = text.split('.');
    if (version !== SEAL_VERSION || nonce === undefined || sealed === undefined)
      throw new Error('The stored secret is malformed: it is not a sealed text.');
    if (keyId !== this.keyId)
      throw new Error(
        `A stored secret cannot be decrypted: it was sealed with another key (${keyId}). Set SECRETS_KEY to that key.`,
      );
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv(CIPHER_ALGORITHM, this.key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-AUTHENTICATION_TAG_LENGTH));
    return decipher.update(bytes.subarray(0, -AUTHENTICATION_TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8');
  }
}

/** Returns the id of the key that a text was sealed with. */
export function parseSealingKeyId(sealed: string): string | undefined {
  return sealed.split('.')[1];
}

/** A stored signing secret. */
export interface StoredSecret extends SecretValidity {
  readonly sealed: string;
  /** Id of the command that created the secret. */
  readonly made_by?: string;
}

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const createSecretContext = (endpointId: string) => `${endpointId} secret`;

/** Creates a secret for a command: `whsec_` and standard base64, as in Standard Webhooks. */
export function createWebhookSecret(
  box: SecretBox,
  endpointId: string,
  made: { id: string; at: Timestamp },
): StoredSecret {
  const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  const sealed = sealSecret(box, endpointId, secret);
  return { sealed, created_at: made.at, expires_at: null, made_by: made.id };
}

export function sealSecret(box: SecretBox, endpointId: string, secret: string): string {
  return box.sealText(secret, createSecretContext(endpointId));
}

/** @throws if the secret was sealed with another key */
export function openSecret(box: SecretBox, endpointId: string, { sealed }: StoredSecret): string {
  return box.openText(sealed, createSecretContext(endpointId));
}

/** Cryptographic keys derived from one signing secret. */
export interface KeysDerivedFromSigningSecret {
  /** Expiry in epoch milliseconds; Infinity for the newest secret. */
  readonly expiresAt: number;
  readonly service: KeyObject;
  readonly standard: KeyObject;
}

/** @throws as {@link openSecret} */
export function openSigningKeys(
  box: SecretBox,
  endpointId: string,
  stored: StoredSecret,
): KeysDerivedFromSigningSecret {
  const secret = openSecret(box, endpointId, stored);
  return {
    expiresAt: stored.expires_at ? Date.parse(stored.expires_at) : Infinity,
    service: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  };
}

export function createWebhookBodySigner({ service, standard }: KeysDerivedFromSigningSecret, body: Uint8Array): Signer {
  const hmac = (key: KeyObject, prefix: string) => createHmac('sha256', key).update(prefix).update(body);
  return {
    service: (prefix) => hmac(service, prefix).digest('hex'),
    standard: (prefix) => hmac(standard, prefix).digest('base64'),
  };
}

const createHeaderSealingContext = (endpointId: string, name: string) => `${endpointId} header ${name}`;

/**
 * Seals the values of headers. A mask and an unchanged value keep the stored value; a header whose mask has no stored
 * value is dropped.
 * @param stored sealed values
 */
export function sealHeaders(
  box: SecretBox,
  endpointId: string,
  headers: Readonly<Record<string, string>>,
  stored: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const sealed = Object.entries(headers).flatMap(([name, value]) => {
    const before = Object.hasOwn(stored, name) ? stored[name] : undefined;
    if (value === HEADER_VALUE_MASK) return before === undefined ? [] : [[name, before]];
    const context = createHeaderSealingContext(endpointId, name);
    const isSame = before !== undefined && box.isSealedWithThisKey(before) && box.openText(before, context) === value;
    return [[name, isSame ? before : box.sealText(value, context)]];
  });
  return Object.fromEntries(sealed) as Record<string, string>;
}

export function decryptHeaders(
  box: SecretBox,
  { id, headers }: { readonly id: string; readonly headers: Readonly<Record<string, string>> },
): Readonly<Record<string, string>> {
  const opened = Object.entries(headers).map(([name, sealed]) => [
    name,
    box.openText(sealed, createHeaderSealingContext(id, name)),
  ]);
  return Object.fromEntries(opened) as Record<string, string>;
}
