import { createHash, createHmac, hash } from 'node:crypto';
import { DomainError, type Environment, type LinkPurpose, type Role, type Timestamp } from '@tracking/contracts';

/** Cryptographically strong random bytes. */
export type RandomBytes = (size: number) => Uint8Array;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Characters of 256 bits in base 62: letters and digits alone, so that a double click selects a whole key. */
const KEY_LENGTH = 43;
const TOKEN_FORM = /^[0-9A-Za-z]{43}$/;
const KEY_FORM = /^sk_(live|test)_[0-9A-Za-z]{43}$/;

/**
 * 256 bits for something that is shown once: random to whoever lacks `secret`, and the same whenever the command is
 * repeated, so that a repeat after a crash answers what was lost, though it is stored nowhere.
 * @param purpose what they are for, as `api key`: one command's secrets tell nothing about each other
 */
export function derivedBytes(secret: Uint8Array, purpose: string, commandId: string): Uint8Array {
  return createHmac('sha256', secret).update(`${purpose}\0${commandId}`).digest();
}

/** 256 bits as letters and digits. */
export function tokenOf(bytes: Uint8Array): string {
  return encode(bytes, BASE62, KEY_LENGTH);
}

/** `sk_live_…` or `sk_test_…`, of 256 bits. */
export function keyOf(environment: Environment, bytes: Uint8Array): string {
  return `sk_${environment}_${tokenOf(bytes)}`;
}

/** Whether it could be a key of ours at all: anything else needs no look-up. */
export function hasKeyForm(text: string): boolean {
  return KEY_FORM.test(text);
}

/** Whether it could be a token that {@link tokenOf} made. */
export function hasTokenForm(text: string): boolean {
  return TOKEN_FORM.test(text);
}

/**
 * What is stored instead of a key. One round of SHA-256 suffices: slow hashes protect secrets that can be guessed, and
 * nobody counts through 256 random bits; at every request a slow one would only be a way to exhaust the service.
 * Being looked up by this digest also makes the time of a look-up useless to an attacker: whatever it tells about the
 * digest tells nothing about a key that has it.
 */
export function hashOf(key: string): string {
  return hash('sha256', key);
}

/** `key_…`, `sva_…`, `wsp_…` with 128 random bits. */
export function newId(prefix: string, randomBytes: RandomBytes): string {
  return `${prefix}_${encode(randomBytes(16), BASE32, 26)}`;
}

/** An id that every replica makes alike, of a fixed name or of the id of the command that makes it. */
export function idFor(prefix: string, name: string): string {
  return `${prefix}_${encode(createHash('sha256').update(`${prefix}:${name}`).digest().subarray(0, 16), BASE32, 26)}`;
}

function encode(bytes: Uint8Array, alphabet: string, length: number): string {
  const base = BigInt(alphabet.length);
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (text.length < length) {
    text = (alphabet[Number(rest % base)] ?? '') + text;
    rest /= base;
  }
  return text;
}

const VALID_FOR_MS = 7 * 86_400_000;

/**
 * What is stored of a one-time link, on the user that it is for. So using it is one guarded write of one document: the
 * link is used, the password set and the user active, or none of it, and of several at once one succeeds.
 */
export interface StoredLink {
  readonly purpose: Exclude<LinkPurpose, 'first_admin'>;
  readonly expires_at: Timestamp;
  /** Id of the command that used it. */
  readonly used_by: string | null;
}

/** What whoever holds a link is told of it. */
export interface LinkDetails {
  readonly purpose: LinkPurpose;
  readonly workspace_id: string;
  /** Null where the holder tells it: the first admin. */
  readonly email: string | null;
  readonly role: Role;
  readonly expires_at: Timestamp;
}

/** Whom a link makes somebody. */
export interface LinkHolder {
  readonly user_id: string;
  readonly workspace_id: string;
  readonly purpose: LinkPurpose;
}

/** What whoever uses a link sets. */
export interface LinkUse {
  /** Required for invitations of users without a name, and for the first admin. */
  readonly name?: string | undefined;
  readonly password: string;
  /** Asked for from the first admin alone. */
  readonly email?: string | undefined;
}

/** Who uses a link has no credentials but the link. */
export interface LinkCommand {
  readonly id: string;
  readonly at: Timestamp;
}

/** A link as it is shown, once. */
export interface OneTimeLink {
  readonly purpose: LinkPurpose;
  /** 256 bits in letters and digits; stored as its SHA-256. */
  readonly token: string;
  readonly expires_at: Timestamp;
}

/** The link that a command makes: the same one however often it is repeated. */
export function linkOf(secret: Uint8Array, purpose: LinkPurpose, command: LinkCommand): OneTimeLink {
  const expires_at = new Date(Date.parse(command.at) + VALID_FOR_MS).toISOString();
  return { purpose, token: tokenOf(derivedBytes(secret, 'one-time link', command.id)), expires_at };
}

/** What is stored instead of a token. @throws DomainError `not_found` for what cannot be one */
export function linkHashOf(token: string): string {
  if (!hasTokenForm(token)) throw unknownLink();
  return hashOf(token);
}

/** One answer whatever is wrong with it: never made, used, replaced, expired, or of a user who is deactivated. */
export function unknownLink(): DomainError {
  return new DomainError('not_found', 'This link was used or replaced, is older than 7 days, or never was.');
}

/** The refusal of a use that lacks a field. */
export function missing(param: string): DomainError {
  return new DomainError('validation_failed', `The ${param} is missing.`, [
    { param, code: 'required', message: 'Is required.' },
  ]);
}
