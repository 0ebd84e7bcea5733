import { createRequire } from 'node:module';
import { DomainError } from '@tracking/contracts';
import type { FieldErrorCode } from '@tracking/contracts';

const MIN_PASSWORD_LENGTH = 10;
export const MAX_PASSWORD_LENGTH = 200;

/** Loaded when the first password is set: the package holds half a megabyte of them. */
const require = createRequire(import.meta.url);
/** The most common passwords, in lower case; those that are too short are refused anyway. */
let common: ReadonlySet<string> | undefined;

/** As it is hashed: the same characters may be typed in several ways (NIST SP 800-63B, 3.1.1.2). */
export function normalised(password: string): string {
  return password.normalize('NFKC');
}

/**
 * A password that somebody chose: 10 to 200 characters, no rule beyond, but neither the e-mail nor one of the most
 * common ones.
 * @param param the field that it came in
 * @throws DomainError `validation_failed`
 */
export function checkPassword(password: string, email: string, param = 'password'): void {
  const refuse = (code: FieldErrorCode, message: string): never => {
    throw new DomainError('validation_failed', 'The password is not valid.', [{ param, code, message }]);
  };
  if (!password.isWellFormed()) refuse('invalid_value', 'Must not hold half a surrogate pair.');
  const long = `Must have at most ${MAX_PASSWORD_LENGTH} characters.`;
  if (password.length > 4 * MAX_PASSWORD_LENGTH) refuse('too_long', long);
  const text = normalised(password);
  const { length } = [...text];
  if (length > MAX_PASSWORD_LENGTH) refuse('too_long', long);
  if (length < MIN_PASSWORD_LENGTH) refuse('invalid_value', `Must have at least ${MIN_PASSWORD_LENGTH} characters.`);
  const compared = text.toLowerCase();
  const address = normalised(email).toLowerCase();
  if (compared === address || compared === address.slice(0, address.lastIndexOf('@'))) {
    refuse('invalid_value', 'Must not be the e-mail.');
  }
  if (commonPasswords().has(compared)) refuse('invalid_value', 'Is one of the most common passwords.');
}

function commonPasswords(): ReadonlySet<string> {
  return (common ??= new Set(
    (require('@zxcvbn-ts/language-common') as CommonWords).dictionary['passwords-common'].filter(
      (each) => each.length >= MIN_PASSWORD_LENGTH,
    ),
  ));
}

interface CommonWords {
  readonly dictionary: { readonly 'passwords-common': readonly string[] };
}
