import type { FieldError, Warning } from '@tracking/contracts';
import { isObject } from './checks.ts';
import type { DtoClass } from './read-dto.ts';
import { shapeOf } from './shape.ts';

/** Most fields reported: their number is the client's choice. */
const MAX_UNKNOWN = 100;
/** Characters of their paths. */
const MAX_PATH = 200;

/** A fault that warns where the client is lenient. */
type UnknownField = FieldError & { readonly code: 'unknown_field' | 'read_only_field' };

/**
 * The fields of a body that its DTO does not have, also inside its objects and lists; those that only answers have are
 * told apart.
 * @param answer class of what the operation answers
 */
export function unknownFields(dto: DtoClass, answer: DtoClass | undefined, input: unknown): readonly UnknownField[] {
  const found: UnknownField[] = [];
  collect({ known: dto, answered: answer }, input, '', found);
  return found;
}

/** What stands in the answer about fields that were ignored. */
export function ignored(unknown: readonly UnknownField[]): readonly Warning[] {
  return unknown.map(({ param, code, message }) => ({ param, code, message: `${message} It was ignored.` }));
}

interface Classes {
  /** Of what may be sent. */
  readonly known: DtoClass;
  /** Of what is answered in its place. */
  readonly answered: DtoClass | undefined;
}

function collect(classes: Classes, input: unknown, parent: string, found: UnknownField[]): void {
  if (!isObject(input)) return;
  const [known, answered] = [shapeOf(classes.known), classes.answered && shapeOf(classes.answered)];
  for (const name of Object.keys(input)) {
    if (found.length >= MAX_UNKNOWN) return;
    const param = parent === '' ? name : `${parent}.${name}`;
    const field = known.get(name);
    if (!field) {
      found.push(unknown(param.slice(0, MAX_PATH), answered?.has(name) === true));
    } else if (field.nested) {
      const inner = { known: field.nested, answered: answered?.get(name)?.nested };
      const value = input[name];
      if (Array.isArray(value)) value.forEach((item, at) => collect(inner, item, `${param}[${at}]`, found));
      else collect(inner, value, param, found);
    }
  }
}

function unknown(param: string, readOnly: boolean): UnknownField {
  return readOnly
    ? { param, code: 'read_only_field', message: 'Is set by the service.' }
    : { param, code: 'unknown_field', message: 'Is not known here.' };
}
