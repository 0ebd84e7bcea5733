import {
  AUTOMATIC_EXCEPTION_TYPES,
  DEFAULT_RULE_SETTINGS,
  DOCUMENT_TYPES,
  TRANSPORT_MODES,
  SEVERITIES,
} from '@tracking/contracts';
import type {
  DocumentType,
  ExceptionSettings,
  FieldError,
  JsonObject,
  JsonValue,
  RuleSettings,
} from '@tracking/contracts';

const MAX_SETTING_HOURS = 8_760;
/**
 * Limits of an error response: its number of faults, and the length of names in their messages. The client chooses
 * both.
 */
const MAX_REPORTED_FAULTS = 100;
const MAX_NAME_CHARS = 100;

type Fail = (param: string, code: FieldError['code'], message: string) => undefined;

/** The result of a patch. `values` may be used only if `faults` is empty. */
interface PatchedSettings {
  readonly values: RuleSettings;
  /** All invalid fields. */
  readonly faults: readonly FieldError[];
}

/**
 * Changes settings by a JSON merge patch (RFC 7396). Omitted settings keep their values. Null restores the default of a
 * value or of all values in an object. Unknown fields are ignored.
 */
export function applySettingsPatch(values: RuleSettings, patch: JsonObject): PatchedSettings {
  const faults: FieldError[] = [];
  const fail: Fail = (param, code, message) => {
    if (faults.length < MAX_REPORTED_FAULTS) faults.push({ param, code, message });
  };
  const exceptions = applyMergePatchToObject(values.exceptions, patch['exceptions'], {
    param: 'exceptions',
    names: AUTOMATIC_EXCEPTION_TYPES,
    unknown: 'Is not an exception type that opens automatically. Allowed:',
    defaults: DEFAULT_RULE_SETTINGS.exceptions,
    read: (value, param, type) =>
      parseExceptionSettingsPatch(value, param, {
        now: values.exceptions[type],
        defaults: DEFAULT_RULE_SETTINGS.exceptions[type],
        fail,
      }),
    fail,
  });
  const required_documents = applyMergePatchToObject(values.required_documents, patch['required_documents'], {
    param: 'required_documents',
    names: TRANSPORT_MODES,
    unknown: 'Is not a transport mode. Allowed:',
    defaults: DEFAULT_RULE_SETTINGS.required_documents,
    read: (value, param) => parseDocumentTypes(value, param, fail),
    fail,
  });
  return { values: { exceptions, required_documents } as RuleSettings, faults };
}

interface ObjectMergePatchOptions<Name extends string, Value> {
  readonly param: string;
  readonly names: readonly Name[];
  /** Start of the message for an unknown name. The allowed names follow. */
  readonly unknown: string;
  readonly defaults: Readonly<Partial<Record<Name, Value>>>;
  /** Returns the value if it is valid. Otherwise reports the fault and returns undefined. */
  readonly read: (value: JsonValue, param: string, name: Name) => Value | undefined;
  readonly fail: Fail;
}

/** Applies a merge patch to an object whose members all have the same type. */
function applyMergePatchToObject<Name extends string, Value>(
  now: Readonly<Partial<Record<Name, Value>>>,
  patch: JsonValue | undefined,
  { param, names, unknown, defaults, read, fail }: ObjectMergePatchOptions<Name, Value>,
): Readonly<Partial<Record<Name, Value>>> {
  if (patch === undefined) return now;
  if (patch === null) return defaults;
  if (!isJsonObject(patch)) {
    fail(param, 'invalid_type', 'Must be an object.');
    return now;
  }
  const after: Partial<Record<Name, Value>> = { ...now };
  for (const [name, value] of Object.entries(patch)) {
    const path = `${param}.${name.slice(0, MAX_NAME_CHARS)}`;
    const known = names.find((one) => one === name);
    if (known === undefined) {
      fail(path, 'invalid_value', `${unknown} ${names.join(', ')}.`);
      continue;
    }
    const set = value === null ? defaults[known] : read(value, path, known);
    if (set === undefined) delete after[known];
    else after[known] = set;
  }
  return after;
}

interface ExceptionSettingsPatchBasis {
  readonly now: ExceptionSettings;
  readonly defaults: ExceptionSettings;
  readonly fail: Fail;
}

function parseExceptionSettingsPatch(
  value: JsonValue,
  param: string,
  { now, defaults, fail }: ExceptionSettingsPatchBasis,
): ExceptionSettings {
  if (!isJsonObject(value)) {
    fail(param, 'invalid_type', 'Must be an object.');
    return now;
  }
  const take = <Field extends keyof ExceptionSettings>(
    field: Field,
    read: (sent: JsonValue, path: string) => ExceptionSettings[Field] | undefined,
  ): ExceptionSettings[Field] => {
    const sent = value[field];
    if (sent === undefined) return now[field];
    return (sent === null ? undefined : read(sent, `${param}.${field}`)) ?? defaults[field];
  };
  const hours = (field: 'after_hours' | 'before_hours') =>
    take(field, (sent, path) =>
      defaults[field] === null
        ? fail(path, 'invalid_value', `Is not supported for this exception type, which has no ${field}.`)
        : readHoursValue(sent, path, fail),
    );
  return {
    enabled: take('enabled', (sent, path) =>
      typeof sent === 'boolean' ? sent : fail(path, 'invalid_type', 'Must be true or false.'),
    ),
    after_hours: hours('after_hours'),
    by_mode: applyMergePatchToObject(now.by_mode, value['by_mode'], {
      param: `${param}.by_mode`,
      names: TRANSPORT_MODES,
      unknown: 'Is not a transport mode. Allowed:',
      defaults: defaults.by_mode,
      read: (sent, path) =>
        defaults.after_hours === null
          ? fail(path, 'invalid_value', 'Is not supported for this exception type, which has no after_hours.')
          : readHoursValue(sent, path, fail),
      fail,
    }),
    before_hours: hours('before_hours'),
    severity: take('severity', (sent, path) => readEnumValue(SEVERITIES, sent, path, fail)),
  };
}

function readHoursValue(value: JsonValue, param: string, fail: Fail): number | undefined {
  if (typeof value !== 'number') return fail(param, 'invalid_type', 'Must be a number of hours.');
  return value > 0 && value <= MAX_SETTING_HOURS
    ? value
    : fail(param, 'invalid_value', `Must be more than 0 and at most ${MAX_SETTING_HOURS} hours.`);
}

function parseDocumentTypes(value: JsonValue, param: string, fail: Fail): readonly DocumentType[] | undefined {
  if (!Array.isArray(value)) return fail(param, 'invalid_type', 'Must be an array of document types.');
  const types = (value as readonly JsonValue[]).map((type, index) =>
    readEnumValue(DOCUMENT_TYPES, type, `${param}[${index}]`, fail),
  );
  return [...new Set(types.filter((type) => type !== undefined))];
}

/** Finds the value in the list, ignoring case. */
function readEnumValue<One extends string>(
  all: readonly One[],
  value: JsonValue,
  param: string,
  fail: Fail,
): One | undefined {
  if (typeof value !== 'string') return fail(param, 'invalid_type', 'Must be a string.');
  const lower = value.toLowerCase();
  return all.find((one) => one === lower) ?? fail(param, 'invalid_value', `Must be one of ${all.join(', ')}.`);
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
