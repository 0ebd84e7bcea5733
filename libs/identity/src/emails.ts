import { DomainError } from '@tracking/contracts';
import type { FieldErrorCode } from '@tracking/contracts';
import { isEmail } from 'class-validator';

/** Of an address that mail can be sent to (RFC 5321, 4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/** What is wrong with an e-mail; undefined when nothing is. */
export function emailFault(text: string): { readonly code: FieldErrorCode; readonly message: string } | undefined {
  if (text.length > MAX_EMAIL_LENGTH) {
    return { code: 'too_long', message: `Must have at most ${MAX_EMAIL_LENGTH} characters.` };
  }
  // Half a surrogate pair: the check of the form would end with it.
  if (!text.isWellFormed()) return { code: 'invalid_value', message: 'Must not hold half a surrogate pair.' };
  return isEmail(text) ? undefined : { code: 'invalid_value', message: 'Must be an e-mail as jo@example.com.' };
}

/**
 * An e-mail as it is stored.
 * @throws DomainError `validation_failed` naming `email`
 */
export function checkedEmail(text: string): string {
  const email = text.trim().normalize('NFC');
  const fault = emailFault(email);
  if (fault) throw new DomainError('validation_failed', 'The e-mail is not valid.', [{ param: 'email', ...fault }]);
  return email;
}

/** An e-mail as it is compared: whatever its case. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
