import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { DomainError } from '@tracking/contracts';
import { BusyError } from '@tracking/ports';
import {
  type ClientInPasswordQueue,
  type PasswordQueuePlace,
  PASSWORD_QUEUE_ENGINE_NAME,
  PasswordQueue,
} from './password-queue.ts';
import type { Fault } from './records.ts';

export interface PasswordsOptions {
  /** Cost of new hashes; OWASP's by default. A stored hash keeps its cost until the user's next successful sign-in. */
  readonly cost?: Argon2CostParameters;
  /** Maximum number of clients whose passwords wait or are hashed; 100 by default, with about 3 s for one hash each. */
  readonly maxWaiting?: number;
  /** Computes one hash; argon2id by default. */
  readonly derive?: typeof computeArgon2idHash;
}

/**
 * Returns true if an error means that too many password hashes were waiting. Such a request has written nothing,
 * because hashes are computed before writes.
 */
export function isPasswordQueueFullError(error: unknown): boolean {
  return error instanceof BusyError && error.engine === PASSWORD_QUEUE_ENGINE_NAME;
}

/** The client of a hash that no place is taken for: an operator, or the service itself. */
const UNLIMITED_PASSWORD_HASH_REQUESTER: ClientInPasswordQueue = { shares: [], isKnown: true };

/** Hashes passwords, one after another: clients that send thousands keep at most one core busy. */
export class Passwords {
  readonly #cost: Argon2CostParameters;
  readonly #queue: PasswordQueue;
  readonly #derive: typeof computeArgon2idHash;

  constructor({ cost = DEFAULT_HASH_COST, maxWaiting = 100, derive = computeArgon2idHash }: PasswordsOptions = {}) {
    this.#cost = cost;
    this.#queue = new PasswordQueue(maxWaiting);
    this.#derive = derive;
  }

  /**
   * Takes a place in the queue for the client while `use` runs. Call it before anything else that costs time or memory.
   * @throws BusyError if the queue, or the client's share of it, is full; `use` is not called then
   */
  async runInPasswordQueue<T>(
    client: ClientInPasswordQueue,
    use: (place: PasswordQueuePlace) => Promise<T>,
  ): Promise<T> {
    const place = this.#queue.takePasswordQueuePlace(client);
    try {
      return await use(place);
    } finally {
      this.#queue.leavePasswordQueue(place);
    }
  }

  /**
   * Returns the text to store for a password: a PHC string.
   * @param place the place of the client; without one, that of an operator
   * @throws BusyError if no place is given and too many wait
   */
  async hashPassword(password: string, place?: PasswordQueuePlace): Promise<string> {
    const salt = createSalt();
    const digest = await this.#computePasswordHash({ password, cost: this.#cost, salt }, place);
    return formatPhc({ cost: this.#cost, salt, digest });
  }

  /**
   * Returns true if the password matches the stored hash. Without a stored hash, does the same work and returns false,
   * so that the duration reveals nothing.
   * @param place the place of the client; without one, that of an operator
   * @throws BusyError if no place is given and too many wait
   */
  async verifyPassword(
    password: string,
    stored: string | null | undefined,
    place?: PasswordQueuePlace,
  ): Promise<boolean> {
    if (!stored) {
      await this.#computePasswordHash({ password, cost: this.#cost, salt: createSalt() }, place);
      return false;
    }
    const { cost, salt, digest } = parsePasswordHash(stored);
    const computed = await this.#computePasswordHash({ password, cost, salt }, place);
    return (
      computed.length === digest.length && timingSafeEqual(computed, digest) && !exceedsMaxPasswordLength(password)
    );
  }

  /** Returns true if the hash has another cost than new hashes. Such a password is hashed again at the next sign-in. */
  isOutdatedHash(stored: string): boolean {
    const { cost } = parsePasswordHash(stored);
    return (Object.keys(cost) as (keyof Argon2CostParameters)[]).some((each) => cost[each] !== this.#cost[each]);
  }

  async #computePasswordHash(input: PasswordHashInput, place: PasswordQueuePlace | undefined): Promise<Uint8Array> {
    if (!place)
      return this.runInPasswordQueue(UNLIMITED_PASSWORD_HASH_REQUESTER, (own) => this.#computePasswordHash(input, own));
    const { password, cost, salt } = input;
    // Text that is too long for a password is not normalised: it may be a megabyte.
    const text = exceedsMaxPasswordLength(password) ? '' : normalizePassword(password);
    return this.#queue.computeHashInTurn(place, () => this.#derive(text, cost, salt));
  }
}

interface PasswordHashInput {
  readonly password: string;
  readonly cost: Argon2CostParameters;
  readonly salt: Uint8Array;
}

/**
 * Returns true if the text is certainly longer than the maximum. Counts UTF-16 units, because normalization of long
 * texts is slow.
 */
function exceedsMaxPasswordLength(password: string): boolean {
  return password.length > 4 * MAX_PASSWORD_LENGTH;
}

const MIN_PASSWORD_LENGTH = 10;
const MAX_PASSWORD_LENGTH = 200;

/** Loads a package: the list of common passwords (0.5 MB), which is needed only when a password is set. */
const requireFromModule = createRequire(import.meta.url);
/** The most common passwords in lower case, except those that are too short. */
let cachedCommonPasswords: ReadonlySet<string> | undefined;

/**
 * Returns the normalised password, which is hashed: the same characters can be typed in several ways (NIST SP 800-63B,
 * 3.1.1.2).
 */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Checks a new password: 10 to 200 characters, neither the e-mail address nor one of the most common passwords.
 * @param param the field of the request that contained the password
 * @throws DomainError `validation_failed`
 */
export function requirePasswordMeetsPolicy(password: string, email: string, param = 'password'): void {
  const fault = describePasswordFault(password) ?? describeEmailAsPasswordFault(password, email);
  if (fault) throw new DomainError('validation_failed', 'The password is not valid.', [{ param, ...fault }]);
}

/** Returns the fault of a new password; undefined if it has none. Does not compare it with the e-mail address. */
export function describePasswordFault(password: string): Fault | undefined {
  const refused = (message: string) => ({ code: 'invalid_value', message }) as const;
  if (!password.isWellFormed()) return refused('Must not contain unpaired surrogates.');
  const tooLong = { code: 'too_long', message: `Must have at most ${MAX_PASSWORD_LENGTH} characters.` } as const;
  if (password.length > 4 * MAX_PASSWORD_LENGTH) return tooLong;
  const text = normalizePassword(password);
  const { length } = [...text];
  if (length > MAX_PASSWORD_LENGTH) return tooLong;
  if (length < MIN_PASSWORD_LENGTH) return refused(`Must have at least ${MIN_PASSWORD_LENGTH} characters.`);
  const isCommon = getCommonPasswords().has(text.toLowerCase());
  return isCommon ? refused('Must not be one of the most common passwords.') : undefined;
}

function describeEmailAsPasswordFault(password: string, email: string): Fault | undefined {
  const compared = normalizePassword(password).toLowerCase();
  const address = normalizePassword(email).toLowerCase();
  const isAddress = compared === address || compared === address.slice(0, address.lastIndexOf('@'));
  return isAddress ? { code: 'invalid_value', message: 'Must not be the e-mail address.' } : undefined;
}

function getCommonPasswords(): ReadonlySet<string> {
  return (cachedCommonPasswords ??= new Set(
    (requireFromModule('@zxcvbn-ts/language-common') as CommonPasswordPackageExports).dictionary[
      'passwords-common'
    ].filter((each) => each.length >= MIN_PASSWORD_LENGTH),
  ));
}

interface CommonPasswordPackageExports {
  readonly dictionary: { readonly 'passwords-common': readonly string[] };
}

/** Parameters of argon2id. */
interface Argon2CostParameters {
  /** Memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}
/** OWASP's parameters (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
export const DEFAULT_HASH_COST: Argon2CostParameters = { memory: 19_456, passes: 2, parallelism: 1 };

/** A stored hash, read from its PHC string. */
interface PasswordHash {
  readonly cost: Argon2CostParameters;
  readonly salt: Uint8Array;
  readonly digest: Uint8Array;
}

const SALT_BYTES = 16;
const PASSWORD_HASH_BYTES = 32;
const PHC_PATTERN = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([0-9A-Za-z+/]+)\$([0-9A-Za-z+/]+)$/;

const deriveKey = promisify(argon2);

/** Computes argon2id (RFC 9106) of a text on a thread of Node's pool, not on the event loop. */
export async function computeArgon2idHash(
  text: string,
  cost: Argon2CostParameters,
  salt: Uint8Array,
): Promise<Uint8Array> {
  return deriveKey('argon2id', { ...cost, message: text, nonce: salt, tagLength: PASSWORD_HASH_BYTES });
}

function createSalt(): Uint8Array {
  return randomBytes(SALT_BYTES);
}

/** PHC string of an argon2id hash: `$argon2id$v=19$m=…,t=…,p=…$<salt>$<digest>`, the common format of all libraries. */
function formatPhc({ cost, salt, digest }: PasswordHash): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encodeBase64WithoutPadding(salt)}$${encodeBase64WithoutPadding(digest)}`;
}

/** @throws Error if the text is not an argon2id hash, which means that the stored document is damaged */
function parsePasswordHash(stored: string): PasswordHash {
  const [, memory, passes, parallelism, salt, digest] = PHC_PATTERN.exec(stored) ?? [];
  if (salt === undefined || digest === undefined)
    throw new Error('A stored password hash is damaged: it is not an argon2id hash.');
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    digest: Buffer.from(digest, 'base64'),
  };
}

function encodeBase64WithoutPadding(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
