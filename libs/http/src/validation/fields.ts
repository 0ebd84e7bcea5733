import { ApiProperty } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@tracking/contracts';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import type { ValidationArguments } from 'class-validator';
import {
  MAX_SENT_ENUM_VALUES,
  DEFAULT_MAX_CHARS,
  checkWholeNumberInQuery,
  checkDate,
  createFieldError,
  createIdCheck,
  createCaseInsensitiveEnumParser,
  isJsonObject,
  createListCheck,
  checkEnumList,
  checkEnumValue,
  checkPasswordFieldIsNonEmptyString,
  checkCommaSeparatedValues,
  checkText,
  createObjectOfStringsCheck,
  createTimeZoneCheck,
  checkTimeInAllowedForms,
  checkTimestamp,
  createNumberRangeCheck,
  createWholeNumberCheck,
} from './checks.ts';
import type { Aliases, FieldCheck } from './checks.ts';
import { createNestedObjectCheck, copyDeclaredFields } from './read-dto.ts';
import type { DtoClass, DtoFieldDecoratorMetadata } from './read-dto.ts';
import { parseTimeInAcceptedForm, parseTimestamp } from './timestamp.ts';
import type { AcceptedTimeFormatFlags } from './timestamp.ts';

/**
 * Base of the classes that describe responses. The field decorators describe a field as responses have it, without the
 * limits for requests. `DeriveRequestClassFromResource` derives the request from the resource and adds the limits.
 */
export abstract class ResponseSchemaBase {}

/**
 * Options of the field decorators. Each decorator declares how a field is validated (one class-validator constraint,
 * which reports every fault under its element and path) and how OpenAPI describes it. In a request, a field is required
 * unless an option says otherwise.
 */
export interface FieldDecoratorOptions {
  readonly description: string;
  readonly example?: unknown;
  /** True if the value can be null. A request may then omit the field. */
  readonly nullable?: true;
  /** False if a request may omit the field, but not send null. */
  readonly required?: false;
}

/** Changes to the OpenAPI description that the field's check implies. */
export interface OpenApiFieldOverrides extends Pick<DtoFieldDecoratorMetadata, 'nested' | 'normalise'> {
  /** Properties of the OpenAPI description that differ in responses. */
  readonly answer?: ApiPropertyOptions;
}

export const TextProperty = (options: FieldDecoratorOptions) => CheckedProperty(checkText, options, TEXT_SCHEMA);

const TEXT_SCHEMA: ApiPropertyOptions = { type: String, maxLength: DEFAULT_MAX_CHARS, minLength: 1 };

/** Field for a password. Blanks are allowed. */
export const PasswordProperty = (options: FieldDecoratorOptions) =>
  CheckedProperty(checkPasswordFieldIsNonEmptyString, options, TEXT_SCHEMA);

/** An enumeration value in any case. `aliases` are alternative names that a request may use. */
export const EnumProperty = (values: readonly string[], options: FieldDecoratorOptions, aliases?: Aliases) => {
  const accepted = [...values, ...Object.keys(aliases ?? {})];
  return CheckedProperty(
    checkEnumValue(accepted),
    options,
    { type: String, enum: accepted },
    { normalise: createCaseInsensitiveEnumParser(accepted, aliases), answer: { enum: [...values] } },
  );
};

export const IdProperty = (prefix: string, options: FieldDecoratorOptions) =>
  CheckedProperty(createIdCheck(prefix), options, { type: String });

export const WholeNumberProperty = (minimum: number, maximum: number, options: FieldDecoratorOptions) =>
  CheckedProperty(createWholeNumberCheck(minimum, maximum), options, { type: 'integer', minimum, maximum });

/** A number, which may have decimals. */
export const DecimalProperty = (minimum: number, maximum: number, options: FieldDecoratorOptions) =>
  CheckedProperty(createNumberRangeCheck(minimum, maximum), options, { type: Number, minimum, maximum });

/** Field for a calendar date without a time zone, such as 2026-11-21. */
export const CalendarDateProperty = (options: FieldDecoratorOptions) =>
  CheckedProperty(checkDate, options, { type: String, format: 'date' });

/** An RFC 3339 time with any offset, converted to UTC with milliseconds. */
export const TimestampProperty = (options: FieldDecoratorOptions) =>
  CheckedProperty(
    checkTimestamp,
    options,
    { type: String, format: 'date-time' },
    {
      normalise: normaliseTimestampToUtcIfValid,
      answer: {
        description: `${options.description} UTC with milliseconds.`,
        ...(options.example !== undefined && { example: normaliseTimestampToUtcIfValid(options.example) }),
      },
    },
  );

function normaliseTimestampToUtcIfValid(value: unknown): unknown {
  return typeof value === 'string' ? (parseTimestamp(value) ?? value) : value;
}

/**
 * A time with an offset as {@link TimestampProperty}, or in another form. A date and a local time are not converted. In
 * requests, the schema has no format, because no format allows all forms: the description drops an empty format.
 * @param answered description in responses
 */
export const FlexibleTimeProperty = (
  forms: AcceptedTimeFormatFlags,
  options: FieldDecoratorOptions,
  answered = options.description,
) =>
  CheckedProperty(
    checkTimeInAllowedForms(forms),
    options,
    { type: String, format: '' },
    {
      normalise: (value) => (typeof value === 'string' ? (parseTimeInAcceptedForm(value, forms) ?? value) : value),
      answer: {
        format: 'date-time',
        description: `${answered} UTC with milliseconds.`,
        ...(options.example !== undefined && { example: normaliseTimestampToUtcIfValid(options.example) }),
      },
    },
  );

/** An IANA time zone, or one of the other values. */
export const TimeZoneProperty = (options: FieldDecoratorOptions, others: readonly string[] = []) =>
  CheckedProperty(createTimeZoneCheck(others), options, { type: String });

/** An object whose values are strings. */
export const TextMapProperty = (max: number, options: FieldDecoratorOptions) =>
  CheckedProperty(
    createObjectOfStringsCheck(max),
    options,
    { type: 'object', additionalProperties: { type: 'string', maxLength: DEFAULT_MAX_CHARS }, maxProperties: max },
    { answer: { additionalProperties: { type: 'string' } } as ApiPropertyOptions },
  );

/** A merge patch of an object whose values are strings: null removes a string. */
export const TextMapPatchProperty = (max: number, options: FieldDecoratorOptions) =>
  CheckedProperty(createObjectOfStringsCheck(max, true), options, {
    type: 'object',
    additionalProperties: { type: ['string', 'null'], maxLength: DEFAULT_MAX_CHARS },
    maxProperties: max,
  } as unknown as ApiPropertyOptions);

export const TextListProperty = (max: number, options: FieldDecoratorOptions) =>
  CheckedProperty(createListCheck(checkText, max), options, { type: [String], maxItems: max });

/** One or more enumeration values in any case. */
export const EnumListProperty = (values: readonly string[], options: FieldDecoratorOptions) => {
  const canonical = createCaseInsensitiveEnumParser(values);
  return CheckedProperty(
    checkEnumList(values),
    options,
    { type: [String], enum: [...values], minItems: 1, maxItems: MAX_SENT_ENUM_VALUES },
    { normalise: (listed) => (Array.isArray(listed) ? listed.map(canonical) : listed) },
  );
};

/** Field for an object. `dto` is the object's class in requests, `resource` in responses. */
export const ObjectProperty = (dto: DtoClass, options: FieldDecoratorOptions, resource = dto) =>
  CheckedProperty(
    createNestedObjectCheck(dto),
    options,
    { type: dto },
    { nested: dto, normalise: (value) => pickFieldsOfDto(dto, value), answer: { type: resource } },
  );

/** Field for a list of objects. `dto` is the class of the objects in requests, `resource` in responses. */
export const ObjectListProperty = (dto: DtoClass, max: number, options: FieldDecoratorOptions, resource = dto) =>
  CheckedProperty(
    createListCheck(createNestedObjectCheck(dto), max),
    options,
    { type: [dto], maxItems: max },
    {
      nested: dto,
      // Do not read the elements of a list that is too long.
      normalise: (value) =>
        Array.isArray(value) && value.length <= max ? value.map((item) => pickFieldsOfDto(dto, item)) : value,
      answer: { type: [resource] },
    },
  );

function pickFieldsOfDto(dto: DtoClass, value: unknown): unknown {
  return isJsonObject(value) ? copyDeclaredFields(dto, value) : value;
}

/**
 * A field that the feature's own code checks, including for values that no engine can store, so that it reports all
 * faults of the request together.
 */
export const PropertyCheckedByFeature = (
  schema: ApiPropertyOptions,
  options: FieldDecoratorOptions,
  variant?: OpenApiFieldOverrides,
): PropertyDecorator => {
  return (target, property) => {
    CheckedProperty(() => [], options, schema, variant)(target, property);
    IsOptional()(target, property);
  };
};

/** A text in a query. */
export const TextQueryProperty = (options: FieldDecoratorOptions) => TextProperty({ ...options, required: false });

/** The id of a resource in a query. */
export const IdQueryProperty = (prefix: string, options: FieldDecoratorOptions) =>
  IdProperty(prefix, { ...options, required: false });

/** A time in a query. */
export const TimeQueryProperty = (options: FieldDecoratorOptions) => TimestampProperty({ ...options, required: false });

/** An enumeration value in a query. */
export const EnumQueryProperty = (values: readonly string[], options: FieldDecoratorOptions) =>
  EnumProperty(values, { ...options, required: false });

/** Comma-separated values in a query. */
export const ListQueryProperty = (one: FieldCheck, max: number, options: FieldDecoratorOptions) =>
  CheckedProperty(
    checkCommaSeparatedValues(one, max),
    { ...options, required: false },
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: max },
  );

/** Comma-separated enumeration values in any case in a query. `aliases` are alternative names of values. */
export const EnumListQueryProperty = (
  values: readonly string[],
  options: FieldDecoratorOptions,
  aliases: Aliases = {},
) => {
  const accepted = [...values, ...Object.keys(aliases)];
  const canonical = createCaseInsensitiveEnumParser(accepted, aliases);
  return CheckedProperty(
    checkCommaSeparatedValues(checkEnumValue(accepted)),
    {
      ...options,
      example: options.example === undefined ? undefined : String(options.example).split(','),
      required: false,
    },
    { type: 'array', items: { type: 'string', enum: accepted }, minItems: 1 },
    { normalise: (value) => (typeof value === 'string' ? value.split(',').map(canonical).join(',') : value) },
  );
};

/** `true` or `false` in a query. */
export const BooleanQueryProperty = (options: FieldDecoratorOptions) =>
  CheckedProperty(
    checkEnumValue(['true', 'false']),
    { ...options, required: false },
    { type: Boolean },
    { normalise: createCaseInsensitiveEnumParser(['true', 'false']) },
  );

export const PageLimitProperty = (defaultSize = DEFAULT_PAGE_SIZE) =>
  CheckedProperty(
    checkWholeNumberInQuery(1, MAX_PAGE_SIZE),
    { description: 'Maximum number of items per page.', required: false },
    { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: defaultSize },
  );

/** An opaque value issued by the API. The list operation refuses invalid values, with an error code of its own. */
const checkOpaqueValue: FieldCheck = (value, param) =>
  typeof value === 'string' ? [] : createFieldError(param, 'invalid_type', 'Must be given only once.');

export const PageCursorProperty = () =>
  CheckedProperty(
    checkOpaqueValue,
    { description: '`next_cursor` of the previous page, sent with the same filters.', required: false },
    { type: String },
  );

/** Field with the given check. `schema` describes the field in requests. */
export function CheckedProperty(
  check: FieldCheck,
  options: FieldDecoratorOptions,
  schema: ApiPropertyOptions,
  { answer, nested, normalise }: OpenApiFieldOverrides = {},
): PropertyDecorator {
  const { nullable = false, required = true, ...described } = options;
  const present: FieldCheck = (value, param) =>
    value === undefined || value === null ? createFieldError(param, 'required', 'Is required.') : check(value, param);
  const input = { ...schema, ...described, nullable } as ApiPropertyOptions;
  const context: DtoFieldDecoratorMetadata = { input, nested, normalise };
  return (target, property) => {
    ValidateBy({ name: 'field', constraints: [present], validator: FIELD_CONSTRAINT }, { context })(target, property);
    if (nullable) IsOptional()(target, property);
    else if (!required) ValidateIf(isPropertyValueDefined)(target, property);
    const shown = target instanceof ResponseSchemaBase;
    ApiProperty(
      shown
        ? ({ ...omitSchemaLimits(schema), ...described, ...answer, nullable } as ApiPropertyOptions)
        : ({ ...input, required: required && !nullable } as ApiPropertyOptions),
    )(target, property);
  };
}

/**
 * Runs the check of a field if class-validator itself validates an object. Request bodies are read without
 * class-validator; see `getFieldDeclarations`.
 */
const FIELD_CONSTRAINT = {
  validate: (value: unknown, args: ValidationArguments) => runFieldCheckForFirstError(value, args) === undefined,
  defaultMessage: (args: ValidationArguments) => runFieldCheckForFirstError(args.value, args)?.message ?? '',
};

function runFieldCheckForFirstError(value: unknown, { constraints, property }: ValidationArguments) {
  return (constraints as [FieldCheck])[0](value, property)[0];
}

export function isPropertyValueDefined(_: unknown, value: unknown): boolean {
  return value !== undefined;
}

const SCHEMA_LIMIT_KEYWORDS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'minimum',
  'maximum',
  'pattern',
];

function omitSchemaLimits(schema: ApiPropertyOptions): ApiPropertyOptions {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !SCHEMA_LIMIT_KEYWORDS.includes(keyword)));
}
