import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** What one hash costs: OWASP's parameters for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
export interface HashCost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}
export const HASH_COST: HashCost = { memory: 19_456, passes: 2, parallelism: 1 };

/** A stored hash, read from its PHC string. */
export interface PasswordHash {
  readonly cost: HashCost;
  readonly salt: Uint8Array;
  readonly digest: Uint8Array;
}

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
const PHC_FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([0-9A-Za-z+/]+)\$([0-9A-Za-z+/]+)$/;

const deriveKey = promisify(argon2);

/** argon2id (RFC 9106) of a text; on a thread of Node's pool, never on the event loop. */
export async function argon2id(text: string, cost: HashCost, salt: Uint8Array): Promise<Uint8Array> {
  return deriveKey('argon2id', { ...cost, message: text, nonce: salt, tagLength: DIGEST_BYTES });
}

export function newSalt(): Uint8Array {
  return randomBytes(SALT_BYTES);
}

/** `$argon2id$v=19$m=…,t=…,p=…$<salt>$<digest>`, as every library writes it. */
export function phcOf({ cost, salt, digest }: PasswordHash): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(digest)}`;
}

/** @throws Error for what is no such string: the store holds something that nobody wrote */
export function readPhc(stored: string): PasswordHash {
  const [, memory, passes, parallelism, salt, digest] = PHC_FORM.exec(stored) ?? [];
  if (salt === undefined || digest === undefined) throw new Error('a stored password is not of the form of argon2id');
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    digest: Buffer.from(digest, 'base64'),
  };
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
