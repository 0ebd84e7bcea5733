import type { FieldError } from '@tracking/contracts';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';
import { RequestError } from '../errors/request-error.ts';
import { fault, isObject } from './checks.ts';
import type { FieldCheck } from './checks.ts';
import { shapeOf } from './shape.ts';

export type DtoClass<T extends object = object> = new () => T;

/** What a client sent, as its DTO. Where `faults` name a field, its value is as it was sent: anything. */
export interface ReadDto<T> {
  readonly value: T;
  readonly faults: readonly FieldError[];
}

/**
 * Reads and validates an object once, all its faults together. Only declared fields are looked at, however deep the rest
 * goes.
 * @throws RequestError when it is not an object at all
 */
export function readDto<T extends object>(dto: DtoClass<T>, input: unknown): ReadDto<T> {
  if (!isObject(input)) throw new RequestError('validation_failed', 'The body must be a JSON object.');
  const value = pick(dto, input);
  return { value, faults: faultsOf(value, '') };
}

/** The check of a field that holds an object of its own. */
export function nested(dto: DtoClass): FieldCheck {
  return (value, param) =>
    isObject(value) ? faultsOf(pick(dto, value), param) : fault(param, 'invalid_type', 'Must be an object.');
}

/** An instance with the declared fields alone: no other key, whatever its name, reaches the code behind. */
export function pick<T extends object>(dto: DtoClass<T>, input: Readonly<Record<string, unknown>>): T {
  if (input instanceof dto) return input;
  const value = new dto();
  for (const [property, { normalise }] of shapeOf(dto)) {
    if (!Object.hasOwn(input, property)) continue;
    (value as Record<string, unknown>)[property] = normalise ? normalise(input[property]) : input[property];
  }
  return value;
}

/** What the constraints of an object found, by property: class-validator itself keeps one text for each field. */
const reported = new WeakMap<object, Map<string, readonly FieldError[]>>();

/** A constraint of class-validator that tells all faults of a field, also those of its elements. */
export function reporting(check: FieldCheck): ValidatorConstraintInterface {
  return {
    validate(value: unknown, { object, property }: ValidationArguments): boolean {
      const faults = check(value, property);
      if (faults.length === 0) return true;
      reported.set(object, (reported.get(object) ?? new Map<string, readonly FieldError[]>()).set(property, faults));
      return false;
    },
  };
}

/** `skipMissingProperties`: what is absent or null costs nothing, unless it is required. */
const OPTIONS = { skipMissingProperties: true, validationError: { target: false } };

/**
 * At each validation class-validator looks through all classes there are for what one inherits: a third of its time. What
 * decorators declared does not change, and all that is validated here is validated with the same options.
 */
function rememberDeclarations(): void {
  const storage = getMetadataStorage();
  const lookUp = storage.getTargetValidationMetadatas.bind(storage);
  const known = new Map<unknown, ReturnType<typeof lookUp>>();
  storage.getTargetValidationMetadatas = (target, ...options) => {
    const declared = known.get(target) ?? lookUp(target, ...options);
    known.set(target, declared);
    return declared;
  };
}
rememberDeclarations();

function faultsOf(value: object, parent: string): readonly FieldError[] {
  // A class without fields class-validator takes for a mistake.
  if (shapeOf(value.constructor).size === 0) return [];
  const faults = validateSync(value, OPTIONS).flatMap(
    ({ property }) => reported.get(value)?.get(property) ?? fault(property, 'required', 'Is required.'),
  );
  return parent === '' ? faults : faults.map((each) => ({ ...each, param: `${parent}.${each.param}` }));
}
