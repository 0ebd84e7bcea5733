import type { FieldError } from '@tracking/contracts';
import { fault } from '@tracking/http';
import type { FieldCheck } from '@tracking/http';

export const MAX_FILE_NAME = 255;

/** Control characters, ends of lines, and what turns the direction of what follows: `gpj.exe` would read `exe.jpg`. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** A file's name in the one form that is kept: without the path that some clients send along, composed (NFC). */
export function normaliseFileName(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [name = ''] = value.split(/[/\\]/).slice(-1);
  return name.normalize('NFC').trim();
}

/** Of a name in that form: in any script, and safe in a folder and in a header. */
export const fileName: FieldCheck = (value, param): readonly FieldError[] => {
  if (typeof value !== 'string') return fault(param, 'invalid_type', 'Must be a string.');
  if (value === '' || value === '.' || value === '..') return fault(param, 'invalid_value', 'Must name a file.');
  if ([...value].length > MAX_FILE_NAME) {
    return fault(param, 'too_long', `Must have at most ${MAX_FILE_NAME} characters.`);
  }
  const isSound = value.isWellFormed() && !UNPRINTABLE.test(value);
  return isSound ? [] : fault(param, 'invalid_value', 'Must hold no control characters nor half a surrogate pair.');
};
