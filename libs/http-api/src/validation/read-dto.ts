import type { FieldError } from '@tracking/contracts';
import { validateSync } from 'class-validator';
import { RequestError } from '../errors/request-error.ts';
import { fault, isObject } from './checks.ts';
import type { Check } from './checks.ts';
import { shapeOf } from './shape.ts';

export type DtoClass<T extends object = object> = new () => T;

/** What a client sent, as its DTO. Where `faults` name a field, its value is as it was sent: anything. */
export interface Read<T> {
  readonly value: T;
  readonly faults: readonly FieldError[];
}

/**
 * Reads and validates an object once, all its faults together. Only declared fields are looked at, however deep the rest
 * goes; `strict` reports the rest.
 * @throws RequestError when it is not an object at all
 */
export function readDto<T extends object>(dto: DtoClass<T>, input: unknown, strict: boolean): Read<T> {
  if (!isObject(input)) throw new RequestError('validation_failed', 'The body must be a JSON object.');
  const value = pick(dto, input);
  const faults = faultsOf(value, '');
  if (!strict) return { value, faults };
  return { value, faults: [...faults, ...unknownFields(dto, input, '').slice(0, MAX_UNKNOWN)] };
}

/** Most unknown fields reported: their number is the client's choice. */
const MAX_UNKNOWN = 100;
/** Characters of their paths. */
const MAX_UNKNOWN_NAME = 200;

/** The check of a field that holds an object of its own. */
export function nested(dto: DtoClass): Check {
  return (value, param) =>
    isObject(value) ? faultsOf(pick(dto, value), param) : fault(param, 'invalid_type', 'Must be an object.');
}

/** An instance with the declared fields alone: no other key, whatever its name, reaches the code behind. */
function pick<T extends object>(dto: DtoClass<T>, input: Readonly<Record<string, unknown>>): T {
  const value = new dto();
  for (const property of shapeOf(dto).keys()) {
    if (Object.hasOwn(input, property)) (value as Record<string, unknown>)[property] = input[property];
  }
  return value;
}

/** `skipMissingProperties`: what is absent or null costs nothing, unless it is required. */
const OPTIONS = { skipMissingProperties: true, validationError: { target: false } };

function faultsOf(value: object, parent: string): readonly FieldError[] {
  return validateSync(value, OPTIONS).flatMap((error) => {
    const param = parent === '' ? error.property : `${parent}.${error.property}`;
    const explain: Check | undefined = error.contexts?.['field']?.check;
    return explain ? explain(error.value, param) : fault(param, 'required', 'Is required.');
  });
}

function unknownFields(dto: DtoClass, input: unknown, parent: string): readonly FieldError[] {
  if (!isObject(input)) return [];
  const shape = shapeOf(dto);
  return Object.entries(input).flatMap(([name, value]) => {
    const param = parent === '' ? name : `${parent}.${name}`;
    if (!shape.has(name)) return fault(param.slice(0, MAX_UNKNOWN_NAME), 'unknown_field', 'Is not known here.');
    const inner = shape.get(name);
    if (!inner) return [];
    if (!Array.isArray(value)) return unknownFields(inner, value, param);
    return value.flatMap((item, index) => unknownFields(inner, item, `${param}[${index}]`));
  });
}
