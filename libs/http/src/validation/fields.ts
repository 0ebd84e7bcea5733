import { ApiProperty } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@tracking/contracts';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import type { ValidationArguments } from 'class-validator';
import {
  MAX_ENUM_LIST_ITEMS,
  DEFAULT_MAX_CHARS,
  count,
  checkDate,
  fault,
  idOf,
  createLowerCaseConversion,
  isObject,
  checkList,
  checkEnumList,
  checkOneOf,
  checkPassword,
  checkSeparated,
  checkStorable,
  text,
  checkTextMap,
  checkTimeZone,
  checkTimestamp,
  checkWholeNumber,
} from './checks.ts';
import type { FieldCheck } from './checks.ts';
import { checkNested, pickDeclaredFields } from './read-dto.ts';
import type { DtoClass, FieldContext } from './read-dto.ts';
import { parseTimestamp } from './timestamp.ts';

/**
 * Base of the classes that describe responses. The field decorators describe a field as responses have it, without the
 * limits for requests. `InputType` derives the request from the resource and adds the limits.
 */
export abstract class Resource {}

/**
 * Options of the field decorators. Each decorator declares how a field is validated (one class-validator constraint,
 * which reports every fault under its element and path) and how OpenAPI describes it. In a request, a field is required
 * unless an option says otherwise.
 */
export interface FieldOptions {
  readonly description: string;
  readonly example?: unknown;
  /** True if the value can be null. A request may then omit the field. */
  readonly nullable?: true;
  /** False if a request may omit the field, but not send null. */
  readonly required?: false;
}

/** Changes to the OpenAPI description that the field's check implies. */
export interface FieldVariant extends Pick<FieldContext, 'nested' | 'normalise'> {
  /** Properties of the OpenAPI description that differ in responses. */
  readonly answer?: ApiPropertyOptions;
}

export const Text = (options: FieldOptions): PropertyDecorator => field(text, options, TEXT_SCHEMA);

const TEXT_SCHEMA: ApiPropertyOptions = { type: String, maxLength: DEFAULT_MAX_CHARS, minLength: 1 };

/** Field for a password. Blanks are allowed. */
export const Password = (options: FieldOptions): PropertyDecorator => field(checkPassword, options, TEXT_SCHEMA);

/** Alternative names of enumeration values, each with the value that it stands for. */
type Aliases = Readonly<Record<string, string>>;

/** An enumeration value in any case. `aliases` are alternative names that a request may use. */
export const OneOf = (values: readonly string[], options: FieldOptions, aliases: Aliases = {}): PropertyDecorator => {
  const accepted = [...values, ...Object.keys(aliases)];
  const canonical = new Map(accepted.map((name) => [name.toLowerCase(), aliases[name] ?? name]));
  return field(
    checkOneOf(accepted),
    options,
    { type: String, enum: accepted },
    {
      normalise: (value) => (typeof value === 'string' ? (canonical.get(value.toLowerCase()) ?? value) : value),
      answer: { enum: [...values] },
    },
  );
};

export const Id = (prefix: string, options: FieldOptions): PropertyDecorator =>
  field(idOf(prefix), options, { type: String });

export const WholeNumber = (minimum: number, maximum: number, options: FieldOptions): PropertyDecorator =>
  field(checkWholeNumber(minimum, maximum), options, { type: 'integer', minimum, maximum });

/** Field for a calendar date without a time zone, such as 2026-11-21. */
export const CalendarDate = (options: FieldOptions): PropertyDecorator =>
  field(checkDate, options, { type: String, format: 'date' });

/** An RFC 3339 time with any offset, converted to UTC with milliseconds. */
export const Timestamp = (options: FieldOptions): PropertyDecorator =>
  field(
    checkTimestamp,
    options,
    { type: String, format: 'date-time' },
    {
      normalise: convertToUtc,
      answer: {
        description: `${options.description} UTC with milliseconds.`,
        ...(options.example !== undefined && { example: convertToUtc(options.example) }),
      },
    },
  );

function convertToUtc(value: unknown): unknown {
  return typeof value === 'string' ? (parseTimestamp(value) ?? value) : value;
}

export const TimeZone = (options: FieldOptions): PropertyDecorator => field(checkTimeZone, options, { type: String });

/** An object whose values are strings. */
export const TextMap = (max: number, options: FieldOptions): PropertyDecorator =>
  field(
    checkTextMap(max),
    options,
    { type: 'object', additionalProperties: { type: 'string', maxLength: DEFAULT_MAX_CHARS }, maxProperties: max },
    { answer: { additionalProperties: { type: 'string' } } as ApiPropertyOptions },
  );

/** A merge patch of an object whose values are strings: null removes a string. */
export const TextMapPatch = (max: number, options: FieldOptions): PropertyDecorator =>
  field(checkTextMap(max, true), options, {
    type: 'object',
    additionalProperties: { type: ['string', 'null'], maxLength: DEFAULT_MAX_CHARS },
    maxProperties: max,
  } as unknown as ApiPropertyOptions);

export const TextList = (max: number, options: FieldOptions): PropertyDecorator =>
  field(checkList(text, max), options, { type: [String], maxItems: max });

/** One or more enumeration values in any case. */
export const EnumList = (values: readonly string[], options: FieldOptions): PropertyDecorator => {
  const lower = createLowerCaseConversion(values);
  return field(
    checkEnumList(values),
    options,
    { type: [String], enum: [...values], minItems: 1, maxItems: MAX_ENUM_LIST_ITEMS },
    { normalise: (listed) => (Array.isArray(listed) ? listed.map(lower) : listed) },
  );
};

/** Field for an object. `dto` is the object's class in requests, `resource` in responses. */
export const Nested = (dto: DtoClass, options: FieldOptions, resource = dto): PropertyDecorator =>
  field(
    checkNested(dto),
    options,
    { type: dto },
    { nested: dto, normalise: (value) => pickFields(dto, value), answer: { type: resource } },
  );

/** Field for a list of objects. `dto` is the class of the objects in requests, `resource` in responses. */
export const NestedList = (dto: DtoClass, max: number, options: FieldOptions, resource = dto): PropertyDecorator =>
  field(
    checkList(checkNested(dto), max),
    options,
    { type: [dto], maxItems: max },
    {
      nested: dto,
      // Do not read the elements of a list that is too long.
      normalise: (value) =>
        Array.isArray(value) && value.length <= max ? value.map((item) => pickFields(dto, item)) : value,
      answer: { type: [resource] },
    },
  );

function pickFields(dto: DtoClass, value: unknown): unknown {
  return isObject(value) ? pickDeclaredFields(dto, value) : value;
}

/**
 * A field that the feature's own code checks, so that it reports all faults of the field together. This decorator
 * refuses only values that no engine can store. Null and an absent field are valid.
 */
export const Forwarded = (
  schema: ApiPropertyOptions,
  options: FieldOptions,
  variant?: FieldVariant,
): PropertyDecorator => {
  return (target, property) => {
    field(checkStorable, options, schema, variant)(target, property);
    IsOptional()(target, property);
  };
};

/** A text in a query. */
export const QueryText = (options: FieldOptions): PropertyDecorator => Text({ ...options, required: false });

/** The id of a resource in a query. */
export const QueryId = (prefix: string, options: FieldOptions): PropertyDecorator =>
  Id(prefix, { ...options, required: false });

/** A time in a query. */
export const QueryTime = (options: FieldOptions): PropertyDecorator => Timestamp({ ...options, required: false });

/** An enumeration value in a query. */
export const QueryOneOf = (values: readonly string[], options: FieldOptions): PropertyDecorator =>
  OneOf(values, { ...options, required: false });

/** Comma-separated values in a query. */
export const QueryList = (one: FieldCheck, max: number, options: FieldOptions): PropertyDecorator =>
  field(
    checkSeparated(one, max),
    { ...options, required: false },
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: max },
  );

/** Comma-separated enumeration values in a query. */
export const QueryEnumList = (values: readonly string[], options: FieldOptions): PropertyDecorator => {
  const lower = createLowerCaseConversion(values);
  return field(
    checkSeparated(checkOneOf(values)),
    {
      ...options,
      example: options.example === undefined ? undefined : String(options.example).split(','),
      required: false,
    },
    { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1 },
    { normalise: (value) => (typeof value === 'string' ? value.split(',').map(lower).join(',') : value) },
  );
};

/** `true` or `false` in a query. */
export const Flag = (options: FieldOptions): PropertyDecorator =>
  field(
    checkOneOf(['true', 'false']),
    { ...options, required: false },
    { type: Boolean },
    { normalise: createLowerCaseConversion(['true', 'false']) },
  );

export const Limit = (defaultSize = DEFAULT_PAGE_SIZE): PropertyDecorator =>
  field(
    count(1, MAX_PAGE_SIZE),
    { description: 'Maximum number of items per page.', required: false },
    { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: defaultSize },
  );

/** An opaque value issued by the API. The list operation refuses invalid values, with an error code of its own. */
const checkSealed: FieldCheck = (value, param) =>
  typeof value === 'string' ? [] : fault(param, 'invalid_type', 'Must be given only once.');

export const Cursor = (): PropertyDecorator =>
  field(
    checkSealed,
    { description: '`next_cursor` of the previous page, sent with the same filters.', required: false },
    { type: String },
  );

/** Field with the given check. `schema` describes the field in requests. */
export function field(
  check: FieldCheck,
  options: FieldOptions,
  schema: ApiPropertyOptions,
  { answer, nested, normalise }: FieldVariant = {},
): PropertyDecorator {
  const { nullable = false, required = true, ...described } = options;
  const present: FieldCheck = (value, param) =>
    value === undefined || value === null ? fault(param, 'required', 'Is required.') : check(value, param);
  const input = { ...schema, ...described, nullable } as ApiPropertyOptions;
  const context: FieldContext = { input, nested, normalise };
  return (target, property) => {
    ValidateBy({ name: 'field', constraints: [present], validator: FIELD_VALIDATOR }, { context })(target, property);
    if (nullable) IsOptional()(target, property);
    else if (!required) ValidateIf(isPresent)(target, property);
    const shown = target instanceof Resource;
    ApiProperty(
      shown
        ? ({ ...omitLimits(schema), ...described, ...answer, nullable } as ApiPropertyOptions)
        : ({ ...input, required: required && !nullable } as ApiPropertyOptions),
    )(target, property);
  };
}

/**
 * Runs the check of a field if class-validator itself validates an object. Request bodies are read without
 * class-validator; see `getFields`.
 */
const FIELD_VALIDATOR = {
  validate: (value: unknown, args: ValidationArguments) => firstFault(value, args) === undefined,
  defaultMessage: (args: ValidationArguments) => firstFault(args.value, args)?.message ?? '',
};

function firstFault(value: unknown, { constraints, property }: ValidationArguments) {
  return (constraints as [FieldCheck])[0](value, property)[0];
}

export function isPresent(_: unknown, value: unknown): boolean {
  return value !== undefined;
}

const LIMIT_KEYWORDS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'pattern',
];

function omitLimits(schema: ApiPropertyOptions): ApiPropertyOptions {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !LIMIT_KEYWORDS.includes(keyword)));
}
