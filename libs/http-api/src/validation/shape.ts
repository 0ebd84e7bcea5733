import type { DtoClass } from './read-dto.ts';

/** The declared fields of every DTO, by its class; those that hold objects name the class of these. */
const shapes = new Map<object, Map<string, DtoClass | undefined>>();
const NO_FIELDS: ReadonlyMap<string, DtoClass | undefined> = new Map();

export function declareField(dto: object, property: string, nested: DtoClass | undefined): void {
  // A class has the fields of the one that it extends.
  const shape = shapes.get(dto) ?? new Map(shapeOf(Object.getPrototypeOf(dto) as object));
  shapes.set(dto, shape.set(property, nested));
}

export function shapeOf(dto: object): ReadonlyMap<string, DtoClass | undefined> {
  return shapes.get(dto) ?? NO_FIELDS;
}
