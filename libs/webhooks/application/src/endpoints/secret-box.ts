import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
} from 'node:crypto';

const VERSION = 'v1';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts secrets at rest: AES-256-GCM. A sealed text is `v1.<key id>.<nonce>.<ciphertext and tag>` (base64url), bound to
 * its context, so that it cannot be moved to another record. The key's id leaves room for several keys at once.
 */
export class SecretBox {
  private readonly key: KeyObject;
  /** Names the key without giving it away; stands in every sealed text. */
  readonly keyId: string;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new RangeError(`the secrets key must have ${KEY_BYTES} bytes`);
    this.key = createSecretKey(key);
    this.keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  }

  /** @param context what the secret belongs to, as an endpoint's id and the secret's name */
  seal(secret: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return [VERSION, this.keyId, nonce.toString('base64url'), sealed.toString('base64url')].join('.');
  }

  /** Whether it was sealed with this key. */
  knows(text: string): boolean {
    return sealingKeyId(text) === this.keyId;
  }

  /** @throws when it was sealed with another key, for another context, or was altered */
  open(text: string, context: string): string {
    const [version, keyId, nonce, sealed] = text.split('.');
    if (version !== VERSION || nonce === undefined || sealed === undefined) throw new Error('not a sealed secret');
    if (keyId !== this.keyId)
      throw new Error(`a stored secret was sealed with another key (${keyId}): see SECRETS_KEY`);
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv(ALGORITHM, this.key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }
}

/** The id of the key that a text was sealed with. */
export function sealingKeyId(sealed: string): string | undefined {
  return sealed.split('.')[1];
}
