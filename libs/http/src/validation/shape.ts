import type { DtoClass } from './read-dto.ts';

/** What is known of a declared field beside how it is checked. */
export interface FieldShape {
  /** The class of the object, or of the objects in the list, that it holds. */
  readonly nested?: DtoClass | undefined;
  /** Its value in the one form that the code behind knows; what it cannot make sense of it leaves for the check. */
  readonly normalise?: ((value: unknown) => unknown) | undefined;
}
type Shape = ReadonlyMap<string, FieldShape>;

/** The declared fields of every class of requests and answers. */
const shapes = new Map<object, Map<string, FieldShape>>();
const NO_FIELDS: Shape = new Map();

export function declareField(owner: object, property: string, field: FieldShape): void {
  // A class has the fields of the one that it extends.
  const shape = shapes.get(owner) ?? new Map(shapeOf(Object.getPrototypeOf(owner) as object));
  shapes.set(owner, shape.set(property, field));
}

export function shapeOf(owner: object): Shape {
  return shapes.get(owner) ?? NO_FIELDS;
}
