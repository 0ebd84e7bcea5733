import type { FieldError, FieldErrorCode } from '@tracking/contracts';
import { describeDateFault, describeTimeFault, describeTimestampFault } from './timestamp.ts';
import type { AcceptedTimeFormatFlags } from './timestamp.ts';

/** Function that returns every fault of a value with its path; an empty list for a valid value. */
export type FieldCheck = (value: unknown, param: string) => readonly FieldError[];

/** Maximum length of a text field without a limit of its own, in characters. */
export const DEFAULT_MAX_CHARS = 1_000;

const NO_FIELD_ERRORS: readonly FieldError[] = [];

export function createFieldError(param: string, code: FieldErrorCode, message: string): readonly FieldError[] {
  return [{ param, code, message }];
}

/** Checks a string that is not blank and that every engine can store. */
export const checkText: FieldCheck = (value, param) => {
  const faults = checkString(value, param);
  if (faults.length > 0) return faults;
  return String(value).trim() === '' ? createFieldError(param, 'invalid_value', 'Must not be blank.') : NO_FIELD_ERRORS;
};

/** Checks a password. Blanks count as characters; the rules for passwords are checked elsewhere. */
export const checkPasswordFieldIsNonEmptyString: FieldCheck = (value, param) =>
  value === '' ? createFieldError(param, 'invalid_value', 'Must not be empty.') : checkString(value, param);

/** Returns a check that a value is a text of at most `max` characters. */
export function createMaxTextLengthCheck(max: number): FieldCheck {
  return (value, param) => {
    const faults = checkText(value, param);
    return faults.length > 0 || !isLongerThanCharacters(String(value), max) ? faults : createTooLongErrors(param, max);
  };
}

/** Checks a string, which may be empty. */
const checkString: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a string.');
  if (isLongerThanCharacters(value, DEFAULT_MAX_CHARS)) return createTooLongErrors(param, DEFAULT_MAX_CHARS);
  return isStorableString(value)
    ? NO_FIELD_ERRORS
    : createFieldError(param, 'invalid_value', UNSTORABLE_TEXT_ERROR_MESSAGE);
};

/** Returns true if the text has more than `max` characters. Some characters consist of two UTF-16 units. */
function isLongerThanCharacters(value: string, max: number): boolean {
  return value.length > max && (value.length > 2 * max || [...value].length > max);
}

function createTooLongErrors(param: string, max: number): readonly FieldError[] {
  return createFieldError(param, 'too_long', `Must have at most ${max} characters.`);
}

const UNSTORABLE_TEXT_ERROR_MESSAGE = 'Must not contain NUL characters or unpaired surrogates.';

/** Returns true if every engine can store the string. */
function isStorableString(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

/** Alternative names of enumeration values, each with the value that it stands for. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * Returns a function that converts the name of an enumeration value, in any case, to the value. It returns anything
 * else unchanged.
 */
export function createCaseInsensitiveEnumParser(
  names: readonly string[],
  aliases: Aliases = {},
): (value: unknown) => unknown {
  const canonical = new Map(names.map((name) => [name.toLowerCase(), aliases[name] ?? name]));
  return (value) => (typeof value === 'string' ? (canonical.get(value.toLowerCase()) ?? value) : value);
}

export function checkEnumValue(values: readonly string[]): FieldCheck {
  const known = new Set(values);
  return (value, param) => {
    if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a string.');
    return known.has(value)
      ? NO_FIELD_ERRORS
      : createFieldError(param, 'invalid_value', `Must be one of ${values.join(', ')}.`);
  };
}

/** Checks comma-separated values. Only the first fault is reported. */
export function checkCommaSeparatedValues(one: FieldCheck, max = Infinity): FieldCheck {
  return (value, param) => {
    if (typeof value !== 'string')
      return createFieldError(param, 'invalid_type', 'Must be given only once, as comma-separated values.');
    const values = value.split(',');
    if (values.length > max) return createFieldError(param, 'too_many', `Must have at most ${max} values.`);
    return values.flatMap((part) => one(part, param)).slice(0, 1);
  };
}

/**
 * Returns the values in a comma-separated list, in the order of `all`, so that a cursor stays valid if the client
 * changes their order. Undefined without a list.
 */
export function selectKnownValuesOfCommaSeparatedList<T extends string>(all: readonly T[], list: string): readonly T[];
export function selectKnownValuesOfCommaSeparatedList<T extends string>(
  all: readonly T[],
  list: string | undefined,
): readonly T[] | undefined;
export function selectKnownValuesOfCommaSeparatedList<T extends string>(
  all: readonly T[],
  list: string | undefined,
): readonly T[] | undefined {
  const names = list?.split(',');
  return names && all.filter((value) => names.includes(value));
}

export const checkTimestamp: FieldCheck = (value, param) => {
  if (typeof value !== 'string')
    return createFieldError(param, 'invalid_type', 'Must be a time such as 2026-11-21T09:30:00Z.');
  const wrong = describeTimestampFault(value);
  return wrong === undefined ? NO_FIELD_ERRORS : createFieldError(param, 'invalid_timestamp', wrong);
};

/** Checks a time with an offset, or in one of the other forms. */
export function checkTimeInAllowedForms(forms: AcceptedTimeFormatFlags): FieldCheck {
  return (value, param) => {
    if (typeof value !== 'string') return checkTimestamp(value, param);
    const wrong = describeTimeFault(value, forms);
    return wrong === undefined ? NO_FIELD_ERRORS : createFieldError(param, 'invalid_timestamp', wrong);
  };
}

/** Checks a calendar date without a time zone, such as 2026-11-21. */
export const checkDate: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a date such as 2026-11-21.');
  const wrong = describeDateFault(value);
  return wrong === undefined ? NO_FIELD_ERRORS : createFieldError(param, 'invalid_date', wrong);
};

/** Returns a check that a value is an IANA time zone or one of the other values. */
export function createTimeZoneCheck(others: readonly string[]): FieldCheck {
  return (value, param) => {
    if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a string.');
    return others.includes(value) || isTimeZone(value)
      ? NO_FIELD_ERRORS
      : createFieldError(param, 'invalid_value', 'Must be an IANA time zone such as Europe/Amsterdam.');
  };
}

/** Returns a check that a value in a query is a whole number within bounds. */
export function checkWholeNumberInQuery(min: number, max: number): FieldCheck {
  return (value, param) => {
    const valid = typeof value === 'string' && /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max;
    return valid
      ? NO_FIELD_ERRORS
      : createFieldError(param, 'invalid_value', `Must be a whole number from ${min} to ${max}.`);
  };
}

/** Returns a check that a value in a body is a whole number within bounds. */
export function createWholeNumberCheck(min: number, max: number): FieldCheck {
  return (value, param) => {
    if (typeof value !== 'number') return createFieldError(param, 'invalid_type', 'Must be a number.');
    const valid = Number.isInteger(value) && value >= min && value <= max;
    return valid
      ? NO_FIELD_ERRORS
      : createFieldError(param, 'invalid_value', `Must be a whole number from ${min} to ${max}.`);
  };
}

/** Returns a check that a value in a body is a number within bounds. */
export function createNumberRangeCheck(min: number, max: number): FieldCheck {
  return (value, param) => {
    if (typeof value !== 'number') return createFieldError(param, 'invalid_type', 'Must be a number.');
    return value >= min && value <= max
      ? NO_FIELD_ERRORS
      : createFieldError(param, 'invalid_value', `Must be a number from ${min} to ${max}.`);
  };
}

/** Returns a check that a value is a list of at most `max` elements, each of which passes the check `element`. */
export function createListCheck(element: FieldCheck, max: number): FieldCheck {
  return (value, param) => {
    if (!Array.isArray(value)) return createFieldError(param, 'invalid_type', 'Must be an array.');
    // Do not check the elements of a list that is too long, because the check could take long.
    if (value.length > max)
      return createFieldError(param, 'limit_exceeded', `Must have at most ${max} elements, but has ${value.length}.`);
    return value.flatMap((item, index) => element(item, `${param}[${index}]`));
  };
}

/** Longest list of enumeration values, including repeated ones. */
export const MAX_SENT_ENUM_VALUES = 50;

/** Checks a list of one or more enumeration values. */
export function checkEnumList(values: readonly string[]): FieldCheck {
  const each = createListCheck(checkEnumValue(values), MAX_SENT_ENUM_VALUES);
  return (value, param) =>
    Array.isArray(value) && value.length === 0
      ? createFieldError(param, 'invalid_value', 'Must not be empty.')
      : each(value, param);
}

/** Returns a check of an object of at most `max` strings by name; with `clearable`, null removes a string. */
export function createObjectOfStringsCheck(max: number, clearable = false): FieldCheck {
  return (value, param) => {
    if (!isJsonObject(value))
      return createFieldError(param, 'invalid_type', 'Must be an object whose values are strings.');
    const entries = Object.entries(value);
    if (entries.length > max)
      return createFieldError(param, 'limit_exceeded', `Must have at most ${max} entries, but has ${entries.length}.`);
    return entries.flatMap(([name, item]) => {
      const wrongName = checkText(name, param).length > 0;
      if (wrongName)
        return createFieldError(param, 'invalid_value', `Must have names of 1 to ${DEFAULT_MAX_CHARS} characters.`);
      return clearable && item === null ? NO_FIELD_ERRORS : checkString(item, `${param}.${name}`);
    });
  };
}

/** Returns a check that an id is valid and has the prefix of its resource. */
export function createIdCheck(prefix: string): FieldCheck {
  const form = new RegExp(`^${prefix}_[0-9A-Za-z_.-]{1,100}$`);
  return (value, param) => {
    if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a string.');
    return form.test(value)
      ? NO_FIELD_ERRORS
      : createFieldError(param, 'invalid_value', `Must be an id that starts with ${prefix}_.`);
  };
}

/** Returns true for a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Results by time zone name. Creating a formatter takes 1,000 times as long as a look-up here. */
const TIME_ZONE_VALIDITY_CACHE = new Map<string, boolean>();
const MAX_CACHED_TIME_ZONES = 1_000;

/** Returns true for the IANA name of a time zone, such as `Europe/Amsterdam`. */
function isTimeZone(name: string): boolean {
  // Refuse bare offsets such as `+02:00`, which the platform accepts.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  const before = TIME_ZONE_VALIDITY_CACHE.get(name);
  if (before !== undefined) return before;
  const exists = isTimeZoneKnownToPlatform(name);
  if (TIME_ZONE_VALIDITY_CACHE.size < MAX_CACHED_TIME_ZONES) TIME_ZONE_VALIDITY_CACHE.set(name, exists);
  return exists;
}

function isTimeZoneKnownToPlatform(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
