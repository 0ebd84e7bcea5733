import { DomainError } from '@tracking/contracts';
import type { FieldErrorCode } from '@tracking/contracts';

const MAX_LENGTH = 100;

/**
 * A name as it is stored: trimmed, in Unicode's composed form, 1 to 100 characters (code points) without control characters.
 * @throws DomainError `validation_failed` naming `name`
 */
export function checkedName(text: string): string {
  const name = text.trim().normalize('NFC');
  if (name === '') throw refusal('required', 'Must not be blank.');
  if ([...name].length > MAX_LENGTH) throw refusal('too_long', `Must have at most ${MAX_LENGTH} characters.`);
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) throw refusal('invalid_value', 'Must hold no control characters.');
  return name;
}

function refusal(code: FieldErrorCode, message: string): DomainError {
  return new DomainError('validation_failed', 'The name is not valid.', [{ param: 'name', code, message }]);
}
