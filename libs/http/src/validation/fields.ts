import { ApiProperty } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE } from '@tracking/contracts';
import { IsDefined, ValidateBy, ValidateIf } from 'class-validator';
import {
  MAX_TEXT,
  count,
  date,
  fault,
  idOf,
  inLowerCase,
  isObject,
  MAX_LISTED,
  list,
  listOf,
  oneOf,
  password,
  separated,
  storable,
  text,
  textMap,
  timeZone,
  timestamp,
  wholeNumber,
} from './checks.ts';
import type { FieldCheck } from './checks.ts';
import { nested, pick, reporting } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';
import { declareField } from './shape.ts';
import type { FieldShape } from './shape.ts';

/**
 * Decorators of DTO fields. Each declares, in one place, how a field is validated (one class-validator constraint, which
 * reports every fault under its element and path) and how OpenAPI describes it. A field is optional, and null clears
 * it, unless `required` is set; one that is `kept` can be left out, but not cleared.
 */
export interface FieldOptions {
  readonly description: string;
  readonly example?: unknown;
  readonly required?: true;
  readonly kept?: true;
}

export const Text = (options: FieldOptions, shape?: FieldShape): PropertyDecorator =>
  field(text, options, { type: String, maxLength: MAX_TEXT, minLength: 1, ...clearable(options) }, shape);

/** A password, blank or not. */
export const Password = (options: FieldOptions): PropertyDecorator =>
  field(password, options, { type: String, maxLength: MAX_TEXT, minLength: 1, ...clearable(options) });

/** Text in a query, where there is no null. */
export const QueryText = (options: FieldOptions): PropertyDecorator =>
  field(text, options, { type: String, maxLength: MAX_TEXT, minLength: 1 });

/** The id of a resource in a query. */
export const QueryId = (prefix: string, options: FieldOptions): PropertyDecorator =>
  field(idOf(prefix), options, { type: String });

/** A query's values, separated by commas, each as the check says. */
export const QueryList = (one: FieldCheck, most: number, options: FieldOptions): PropertyDecorator =>
  field(separated(one, most), options, {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: most,
  } as ApiPropertyOptions);

export const OneOf = (values: readonly string[], options: FieldOptions): PropertyDecorator =>
  field(oneOf(values), options, { type: String, enum: [...values], ...clearable(options) }, anyCase(values));

/** The id of a resource in a body. */
export const Id = (prefix: string, options: FieldOptions): PropertyDecorator =>
  field(idOf(prefix), options, { type: String, ...clearable(options) });

/** A whole number in a body. */
export const WholeNumber = (minimum: number, maximum: number, options: FieldOptions): PropertyDecorator =>
  field(wholeNumber(minimum, maximum), options, { type: 'integer', minimum, maximum, ...clearable(options) });

/** One of an enumeration in a query. */
export const QueryOneOf = (values: readonly string[], options: FieldOptions): PropertyDecorator =>
  field(oneOf(values), options, { type: String, enum: [...values] }, anyCase(values));

/** A query's values of an enumeration, separated by commas. */
export const SomeOf = (values: readonly string[], options: FieldOptions): PropertyDecorator =>
  field(
    separated(oneOf(values)),
    { ...options, example: options.example === undefined ? undefined : String(options.example).split(',') },
    { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1 } as ApiPropertyOptions,
    anyCase(values, ','),
  );

/** A day local to some place. */
export const CalendarDate = (options: FieldOptions): PropertyDecorator =>
  field(date, options, { type: String, format: 'date', ...clearable(options) });

export const Timestamp = (options: FieldOptions): PropertyDecorator =>
  field(timestamp, options, { type: String, format: 'date-time', ...clearable(options) });

/** A time in a query. */
export const QueryTime = (options: FieldOptions): PropertyDecorator =>
  field(timestamp, options, { type: String, format: 'date-time' });

export const TimeZone = (options: FieldOptions): PropertyDecorator =>
  field(timeZone, options, { type: String, ...clearable(options) });

export const TextMap = (max: number, options: FieldOptions): PropertyDecorator =>
  field(textMap(max), options, {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: MAX_TEXT },
    maxProperties: max,
    ...clearable(options),
  });

/** What is merged into a map of strings. */
export const TextMapPatch = (max: number, options: FieldOptions): PropertyDecorator =>
  field(textMap(max, true), options, {
    type: 'object',
    additionalProperties: { type: ['string', 'null'], maxLength: MAX_TEXT },
    maxProperties: max,
    ...clearable(options),
  } as ApiPropertyOptions);

export const TextList = (max: number, options: FieldOptions): PropertyDecorator =>
  field(list(text, max), options, { type: [String], maxItems: max, ...clearable(options) });

/** Some of an enumeration in a body, one at least. */
export const SomeListed = (values: readonly string[], options: FieldOptions): PropertyDecorator =>
  field(
    listOf(values),
    options,
    { type: [String], enum: [...values], minItems: 1, maxItems: MAX_LISTED, ...clearable(options) },
    { normalise: (listed) => (Array.isArray(listed) ? listed.map(inLowerCase(values)) : listed) },
  );

export const Nested = (dto: DtoClass, options: FieldOptions): PropertyDecorator =>
  field(nested(dto), options, { type: dto, ...clearable(options) }, { nested: dto, normalise: picked(dto) });

export const NestedList = (dto: DtoClass, max: number, options: FieldOptions): PropertyDecorator =>
  field(
    list(nested(dto), max),
    options,
    { type: [dto], maxItems: max, ...clearable(options) },
    {
      nested: dto,
      // One that is too long is not looked into.
      normalise: (value) => (Array.isArray(value) && value.length <= max ? value.map(picked(dto)) : value),
    },
  );

/**
 * A field that the feature behind judges, so that all its faults come together. Here only what no engine could store is
 * refused, and `required` is only documented.
 */
export const Forwarded = (schema: ApiPropertyOptions, options: FieldOptions, shape?: FieldShape): PropertyDecorator => {
  const { required = false, ...described } = options;
  return field(storable, described, { ...schema, required } as ApiPropertyOptions, shape);
};

/** `true` or `false` in a query. */
export const Flag = (options: FieldOptions): PropertyDecorator =>
  field(oneOf(['true', 'false']), options, { type: Boolean }, anyCase(['true', 'false']));

export const Limit = (defaultSize = DEFAULT_PAGE_SIZE): PropertyDecorator =>
  field(
    count(1, MAX_PAGE_SIZE),
    { description: 'Most items of the page.' },
    {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: defaultSize,
    },
  );

/** An opaque value that the API issued. The list itself refuses all others, with a code of its own. */
const sealed: FieldCheck = (value, param) =>
  typeof value === 'string' ? [] : fault(param, 'invalid_type', 'Must be given once.');

export const Cursor = (): PropertyDecorator =>
  field(sealed, { description: '`next_cursor` of the page before, with the same filters.' }, { type: String });

/** Of a body: null clears what is not required. */
function clearable({ required, kept }: FieldOptions): { readonly nullable: boolean } {
  return { nullable: !required && !kept };
}

/** Values of an enumeration, one or separated, whatever their case. */
function anyCase(values: readonly string[], separator?: string): FieldShape {
  const one = inLowerCase(values);
  if (separator === undefined) return { normalise: one };
  return {
    normalise: (value) => (typeof value === 'string' ? value.split(separator).map(one).join(separator) : value),
  };
}

function picked(dto: DtoClass): (value: unknown) => unknown {
  return (value) => (isObject(value) ? pick(dto, value) : value);
}

/** A field with a check of its own. */
export function field(
  check: FieldCheck,
  options: FieldOptions,
  schema: ApiPropertyOptions,
  shape: FieldShape = {},
): PropertyDecorator {
  const { required = false, kept = false, ...documented } = options;
  return (target, property) => {
    declareField(target.constructor, String(property), shape);
    ValidateBy({ name: 'field', validator: reporting(check) })(target, property);
    if (required || kept) IsDefined()(target, property);
    if (kept) ValidateIf((value: object) => value[property as keyof object] !== undefined)(target, property);
    ApiProperty({ required, ...schema, ...documented } as ApiPropertyOptions)(target, property);
  };
}
