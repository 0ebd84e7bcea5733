import { DomainError } from '@tracking/contracts';
import type { LinkPurpose, Role, Timestamp } from '@tracking/contracts';
import { derivedBytes, hashOf, tokenOf } from './secrets.ts';

const VALID_FOR_MS = 7 * 86_400_000;
const TOKEN_FORM = /^[0-9A-Za-z]{43}$/;

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

/** Whether it could be a token of ours at all. */
export function isLinkToken(text: string): boolean {
  return TOKEN_FORM.test(text);
}

/** What is stored instead of a token. @throws DomainError `not_found` for what cannot be one */
export function linkHashOf(token: string): string {
  if (!isLinkToken(token)) throw unknownLink();
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
