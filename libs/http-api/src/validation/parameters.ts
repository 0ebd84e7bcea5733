import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../errors/request-error.ts';
import { isStrict } from '../server/request.ts';
import { readDto } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';

/** The query parameters of a request. @throws RequestError naming every faulty one */
export function readQuery<T extends object>(dto: DtoClass<T>, request: FastifyRequest): T {
  const { value, faults } = readDto(dto, request.query, isStrict(request));
  if (faults.length > 0) throw invalidRequest(faults);
  return value;
}
