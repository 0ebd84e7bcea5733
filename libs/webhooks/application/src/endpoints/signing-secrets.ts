import { type KeyObject, createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import type { SecretPeriod, Signer } from '@tracking/webhooks-domain';
import type { SecretBox } from './secret-box.ts';

/** A signing secret as it is stored. */
export interface StoredSecret extends SecretPeriod {
  readonly sealed: string;
  /** Id of the command that made it; absent where that was before there were rotations. */
  readonly made_by?: string;
}

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const contextOf = (endpointId: string) => `${endpointId} secret`;

/** A fresh one, by the command that asks for it: `whsec_` and standard base64, as Standard Webhooks has it. */
export function newSecret(box: SecretBox, endpointId: string, made: { id: string; at: Timestamp }): StoredSecret {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  const sealed = sealedSecret(box, endpointId, secret);
  return { sealed, created_at: made.at, expires_at: null, made_by: made.id };
}

export function sealedSecret(box: SecretBox, endpointId: string, secret: string): string {
  return box.seal(secret, contextOf(endpointId));
}

/** @throws when it was sealed with another key */
export function openedSecret(box: SecretBox, endpointId: string, { sealed }: StoredSecret): string {
  return box.open(sealed, contextOf(endpointId));
}

/** A secret that is ready to sign. */
export interface SigningKeys {
  /** In epoch milliseconds; infinite for the newest. */
  readonly expiresAt: number;
  readonly service: KeyObject;
  readonly standard: KeyObject;
}

/** @throws as {@link openedSecret} */
export function signingKeys(box: SecretBox, endpointId: string, stored: StoredSecret): SigningKeys {
  const secret = openedSecret(box, endpointId, stored);
  return {
    expiresAt: stored.expires_at ? Date.parse(stored.expires_at) : Infinity,
    service: createSecretKey(secret, 'utf8'),
    // Those made by earlier versions are in base64url, which is read alike.
    standard: createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64')),
  };
}

export function signerOf({ service, standard }: SigningKeys, body: Uint8Array): Signer {
  const hmac = (key: KeyObject, prefix: string) => createHmac('sha256', key).update(prefix).update(body);
  return {
    service: (prefix) => hmac(service, prefix).digest('hex'),
    standard: (prefix) => hmac(standard, prefix).digest('base64'),
  };
}
