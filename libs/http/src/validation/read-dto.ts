import type { ApiPropertyOptions } from '@nestjs/swagger';
import type { FieldError, Warning } from '@tracking/contracts';
import { ValidationTypes, getMetadataStorage } from 'class-validator';
import { RequestError } from '../errors/request-error.ts';
import { createFieldError, isJsonObject } from './checks.ts';
import type { FieldCheck } from './checks.ts';

export type DtoClass<T extends object = object> = new () => T;

/** The `context` that a field decorator stores with its class-validator constraint. */
export interface DtoFieldDecoratorMetadata {
  /** OpenAPI description of the field in a request. */
  readonly input: ApiPropertyOptions;
  /** Class of the object, or of the list elements, that the field holds. */
  readonly nested?: DtoClass | undefined;
  /**
   * Converts a value to its canonical form. Returns a value that cannot be converted unchanged, and the check reports
   * it.
   */
  readonly normalise?: ((value: unknown) => unknown) | undefined;
}

interface DtoFieldDeclaration extends DtoFieldDecoratorMetadata {
  readonly name: string;
  readonly check: FieldCheck;
  readonly conditions: readonly ((object: object, value: unknown) => boolean)[];
}

const dtoFieldsByClass = new Map<object, ReadonlyMap<string, DtoFieldDeclaration>>();

/**
 * Returns the fields that a class declares or inherits, by name, from the metadata that class-validator keeps.
 * Requests are read by the functions below instead of `validateSync`, for two reasons. class-validator keeps one
 * message per field, but a list with several invalid elements needs a fault for each index. And it searches the
 * metadata of every class at each call: a full shipment takes 52 µs of processor time, here 14 µs.
 */
export function getFieldDeclarations(dto: object): ReadonlyMap<string, DtoFieldDeclaration> {
  const known = dtoFieldsByClass.get(dto) ?? readFieldDeclarations(dto);
  dtoFieldsByClass.set(dto, known);
  return known;
}

/** Returns the fields declared so far, for decorators and mapped types that run while the class is being declared. */
export function readFieldDeclarations(dto: object): ReadonlyMap<string, DtoFieldDeclaration> {
  const fields = new Map<string, DtoFieldDeclaration>();
  const metadata = getMetadataStorage().getTargetValidationMetadatas(dto as DtoClass, '', false, false);
  for (const { propertyName: name, type, constraints, context } of metadata) {
    if (type !== ValidationTypes.CUSTOM_VALIDATION || fields.has(name)) continue;
    const [check] = (constraints ?? []) as readonly (FieldCheck | undefined)[];
    if (typeof check !== 'function')
      throw new Error(`The request field ${name} has a class-validator decorator. Use a field decorator instead.`);
    const conditions = metadata
      .filter((other) => other.propertyName === name && other.type === ValidationTypes.CONDITIONAL_VALIDATION)
      .map((condition) => (condition.constraints as [DtoFieldDeclaration['conditions'][number]])[0]);
    fields.set(name, { ...(context as DtoFieldDecoratorMetadata), name, check, conditions });
  }
  return fields;
}

/** The result of reading a request. A field listed in `faults` has the value that was sent, of any type. */
interface DtoReadResult<T> {
  readonly value: T;
  readonly faults: readonly FieldError[];
}

/**
 * Reads and validates an object, and reports all faults together. Only declared fields are visited, so that the cost
 * does not depend on other content of the input.
 * @throws RequestError if the input is not an object
 */
export function readAndValidateObject<T extends object>(dto: DtoClass<T>, input: unknown): DtoReadResult<T> {
  if (!isJsonObject(input)) throw new RequestError('validation_failed', 'The body must be a JSON object.');
  const value = copyDeclaredFields(dto, input);
  return { value, faults: validateDtoFields(value, '') };
}

/** Returns the check of a field that holds an object of the class. */
export function createNestedObjectCheck(dto: DtoClass): FieldCheck {
  return (value, param) =>
    isJsonObject(value)
      ? validateDtoFields(copyDeclaredFields(dto, value), param)
      : createFieldError(param, 'invalid_type', 'Must be an object.');
}

/**
 * Copies the declared fields to a new instance, in their canonical form. No other key of the input is copied.
 * The instance is created without its constructor: the constructors of Nest's mapped types instantiate every class
 * that they derive from, and request classes have no initial values.
 */
export function copyDeclaredFields<T extends object>(dto: DtoClass<T>, input: Readonly<Record<string, unknown>>): T {
  if (input instanceof dto) return input;
  const value = Object.create(dto.prototype as object) as Record<string, unknown>;
  for (const { name, normalise } of getFieldDeclarations(dto).values()) {
    if (!Object.hasOwn(input, name)) continue;
    value[name] = normalise ? normalise(input[name]) : input[name];
  }
  return value as T;
}

function validateDtoFields(object: object, parent: string): readonly FieldError[] {
  const faults: FieldError[] = [];
  for (const { name, check, conditions } of getFieldDeclarations(object.constructor).values()) {
    const value = object[name as keyof object] as unknown;
    if (!conditions.every((condition) => condition(object, value))) continue;
    faults.push(...check(value, parent === '' ? name : `${parent}.${name}`));
  }
  return faults;
}

/** Maximum number of unknown fields that are reported. */
const MAX_REPORTED_UNKNOWN_FIELDS = 100;
/** Maximum length of an unknown field's path, in characters. */
const MAX_FIELD_PATH_CHARS = 200;

/** An unknown field. A warning by default, an error with strict handling. */
type UnknownField = FieldError & { readonly code: 'unknown_field' | 'read_only_field' };

/**
 * Returns the fields of a body that its class does not declare, including those inside objects and lists.
 * @param answer class of the operation's response; a field that only the response has is reported as read-only
 */
export function findUnknownFields(
  dto: DtoClass,
  answer: DtoClass | undefined,
  input: unknown,
): readonly UnknownField[] {
  const found: UnknownField[] = [];
  collectUnknownFields({ known: dto, answered: answer }, input, '', found);
  return found;
}

/** Returns one warning for each unknown field that was ignored. */
export function createIgnoredFieldWarnings(unknown: readonly UnknownField[]): readonly Warning[] {
  return unknown.map(({ param, code, message }) => ({ param, code, message: `${message} It was ignored.` }));
}

interface RequestAndResponseDtos {
  readonly known: DtoClass;
  readonly answered: DtoClass | undefined;
}

function collectUnknownFields(
  { known, answered }: RequestAndResponseDtos,
  input: unknown,
  parent: string,
  found: UnknownField[],
): void {
  if (!isJsonObject(input)) return;
  const fields = getFieldDeclarations(known);
  for (const name of Object.keys(input)) {
    if (found.length >= MAX_REPORTED_UNKNOWN_FIELDS) return;
    const param = parent === '' ? name : `${parent}.${name}`;
    const field = fields.get(name);
    if (!field) {
      found.push(
        describeUnknownField(
          param.slice(0, MAX_FIELD_PATH_CHARS),
          answered !== undefined && getOpenApiTypeOfField(answered, name) !== undefined,
        ),
      );
    } else if (field.nested) {
      const inner = { known: field.nested, answered: answered && getOpenApiClassOfField(answered, name) };
      const value = input[name];
      if (Array.isArray(value))
        value.forEach((item, at) => collectUnknownFields(inner, item, `${param}[${at}]`, found));
      else collectUnknownFields(inner, value, param, found);
    }
  }
}

function describeUnknownField(param: string, isReadOnly: boolean): UnknownField {
  return isReadOnly
    ? { param, code: 'read_only_field', message: 'Is read-only.' }
    : { param, code: 'unknown_field', message: 'Is not a known field.' };
}

/** The metadata keys of `@ApiProperty`; the package does not export them. */
const API_PROPERTIES_METADATA_KEY = 'swagger/apiModelPropertiesArray';
const API_PROPERTY_METADATA_KEY = 'swagger/apiModelProperties';

/** Returns the names of the fields that OpenAPI describes, in order. */
export function listOpenApiFieldsOfDtoClass(owner: DtoClass): readonly string[] {
  const names = (Reflect.getMetadata(API_PROPERTIES_METADATA_KEY, owner.prototype as object) ??
    []) as readonly string[];
  return names.map((name) => name.slice(1));
}

/** Returns the type with which OpenAPI describes a field of a class; undefined if there is no such field. */
function getOpenApiTypeOfField(owner: DtoClass, name: string): unknown {
  const property = Reflect.getMetadata(API_PROPERTY_METADATA_KEY, owner.prototype as object, name) as
    ApiPropertyOptions | undefined;
  return property?.type;
}

function getOpenApiClassOfField(owner: DtoClass, name: string): DtoClass | undefined {
  const type = getOpenApiTypeOfField(owner, name);
  return typeof type === 'function' ? (type as DtoClass) : undefined;
}
