import { invalidRequest } from '../errors/request-error.ts';
import { readDto } from '../validation/read-dto.ts';
import type { DtoClass } from '../validation/read-dto.ts';
import { unknownFields } from '../validation/unknown-fields.ts';

/** A body of an operator's tool; what it sends and we do not know is a mistake. @throws RequestError */
export function readInput<T extends object>(dto: DtoClass<T>, input: unknown): T {
  const { value, faults } = readDto(dto, input);
  const all = [...faults, ...unknownFields(dto, undefined, input)];
  if (all.length > 0) throw invalidRequest(all);
  return value;
}
