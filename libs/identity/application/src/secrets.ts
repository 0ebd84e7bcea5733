import { createHash, createHmac, hash } from 'node:crypto';
import { DomainError, type Environment, type LinkPurpose, type Role, type Timestamp } from '@tracking/contracts';

/** Cryptographically strong random bytes. */
export type RandomBytes = (size: number) => Uint8Array;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Length of 256 bits in base 62. Letters and digits only, so that a double click selects a whole key. */
const BASE62_KEY_LENGTH = 43;
const TOKEN_PATTERN = /^[0-9A-Za-z]{43}$/;
const API_KEY_PATTERN = /^sk_(live|test)_[0-9A-Za-z]{43}$/;

/**
 * Derives 256 bits for a credential that is shown once and not stored. Without the `secret`, the bytes cannot be
 * predicted. A repeated command derives the same bytes, so that it returns the credential that was lost in a crash.
 * @param purpose for example `api key`: two credentials of one command reveal nothing about each other
 */
export function deriveCredentialBytes(secret: Uint8Array, purpose: string, commandId: string): Uint8Array {
  return createHmac('sha256', secret).update(`${purpose}\0${commandId}`).digest();
}

/** Encodes 256 bits as letters and digits. */
export function encodeSecretToken(bytes: Uint8Array): string {
  return encodeBytesInAlphabet(bytes, BASE62, BASE62_KEY_LENGTH);
}

/** Encodes 256 bits as a key, `sk_live_…` or `sk_test_…`. */
export function encodeApiKey(environment: Environment, bytes: Uint8Array): string {
  return `sk_${environment}_${encodeSecretToken(bytes)}`;
}

/** Returns true if the text has the form of a key. Other texts are refused without a look-up. */
export function hasApiKeyForm(text: string): boolean {
  return API_KEY_PATTERN.test(text);
}

/** Returns true if the text has the form of a token of {@link encodeSecretToken}. */
export function hasSecretTokenForm(text: string): boolean {
  return TOKEN_PATTERN.test(text);
}

/**
 * Returns the digest that is stored instead of a key. One round of SHA-256 suffices: slow hashes protect secrets that
 * can be guessed, but 256 random bits cannot be guessed, and a slow hash at every request would only help to exhaust
 * the service. Keys are looked up by this digest, so the duration of a look-up reveals nothing about a key.
 */
export function hashSecretKeyForStorage(key: string): string {
  return hash('sha256', key);
}

/** Creates an id such as `key_…`, `sva_…` or `wsp_…` with 128 random bits. */
export function createPrefixedId(prefix: string, randomBytes: RandomBytes): string {
  return `${prefix}_${encodeBytesInAlphabet(randomBytes(16), BASE32, 26)}`;
}

/** Derives an id from a fixed name or from the id of a command: every replica derives the same one. */
export function derivePrefixedId(prefix: string, name: string): string {
  return `${prefix}_${encodeBytesInAlphabet(createHash('sha256').update(`${prefix}:${name}`).digest().subarray(0, 16), BASE32, 26)}`;
}

function encodeBytesInAlphabet(bytes: Uint8Array, alphabet: string, length: number): string {
  const base = BigInt(alphabet.length);
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (text.length < length) {
    text = (alphabet[Number(rest % base)] ?? '') + text;
    rest /= base;
  }
  return text;
}

const ONE_TIME_LINK_VALIDITY_MS = 7 * 86_400_000;

/**
 * A one-time link as stored in the document of its user. One guarded write uses the link, sets the password and
 * activates the user. If several clients use the link concurrently, one of them succeeds.
 */
export interface StoredOneTimeLink {
  readonly purpose: Exclude<LinkPurpose, 'first_admin'>;
  readonly expires_at: Timestamp;
  /** Id of the command that used the link. */
  readonly used_by: string | null;
}

/** A link as its holder sees it. */
export interface OneTimeLinkDetails {
  readonly purpose: LinkPurpose;
  readonly workspace_id: string;
  /** E-mail address of the holder. Null for the first admin, who enters an address. */
  readonly email: string | null;
  readonly role: Role;
  readonly expires_at: Timestamp;
}

/** The user that a link is for. */
export interface OneTimeLinkHolder {
  readonly user_id: string;
  readonly workspace_id: string;
  readonly purpose: LinkPurpose;
}

/** The fields that the holder of a link sends. */
export interface RedeemOneTimeLinkInput {
  /** Required for invitations of users without a name, and for the first admin. */
  readonly name?: string | undefined;
  readonly password: string;
  /** Required for the first admin, ignored otherwise. */
  readonly email?: string | undefined;
}

/** A command of a client that has no credentials except the link. */
export interface OneTimeLinkHolderCommand {
  readonly id: string;
  readonly at: Timestamp;
}

/** A one-time link with its token, which is shown only once. */
export interface OneTimeLink {
  readonly purpose: LinkPurpose;
  /** Token of 256 bits in letters and digits; only its SHA-256 is stored. */
  readonly token: string;
  readonly expires_at: Timestamp;
}

/** Returns the link that a command creates; repeats of the command return the same one. */
export function createOneTimeLink(
  secret: Uint8Array,
  purpose: LinkPurpose,
  command: OneTimeLinkHolderCommand,
): OneTimeLink {
  const expires_at = new Date(Date.parse(command.at) + ONE_TIME_LINK_VALIDITY_MS).toISOString();
  return { purpose, token: encodeSecretToken(deriveCredentialBytes(secret, 'one-time link', command.id)), expires_at };
}

/** Returns the digest that is stored instead of a token. @throws DomainError `not_found` if the text is not a token */
export function hashLinkToken(token: string): string {
  if (!hasSecretTokenForm(token)) throw createUnknownLinkError();
  return hashSecretKeyForStorage(token);
}

/** The error for every invalid link: unknown, used, replaced, expired, or of a deactivated user. */
export function createUnknownLinkError(): DomainError {
  return new DomainError('not_found', 'The link is unknown, expired, used or replaced. Links are valid for 7 days.');
}

/** The error for a request that lacks a field. */
export function createMissingFieldError(param: string): DomainError {
  return new DomainError('validation_failed', `The ${param} is missing.`, [
    { param, code: 'required', message: 'Is required.' },
  ]);
}
