import type { Warning } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../errors/request-error.ts';
import { isStrict } from '../server/request.ts';
import { isObject } from './checks.ts';
import { readDto } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';
import { ignored, unknownFields } from './unknown-fields.ts';

/** What a body sets, and which of its fields were ignored. */
export interface ReadBody<T> {
  readonly value: T;
  readonly warnings: readonly Warning[];
}

/**
 * The body of a request.
 * @param answer class of what the operation answers: its fields are known, though nobody can set them
 * @throws RequestError naming every faulty field; under strict handling also those that would be ignored
 */
export function readBody<T extends object>(dto: DtoClass<T>, answer: DtoClass, request: FastifyRequest): ReadBody<T> {
  const { value, faults } = readDto(dto, request.body);
  const unknown = unknownFields(dto, answer, request.body);
  const all = isStrict(request) ? [...faults, ...unknown] : faults;
  if (all.length > 0) throw invalidRequest(all);
  return { value, warnings: isStrict(request) ? [] : ignored(unknown) };
}

class NoFields {}

/** The same for an operation that takes no body: whatever is sent is ignored. */
export function readNoBody(request: FastifyRequest): readonly Warning[] {
  return isObject(request.body) ? readBody(NoFields, NoFields, request).warnings : [];
}
