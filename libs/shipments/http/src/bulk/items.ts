import { getSchemaPath } from '@nestjs/swagger';
import { DomainError } from '@tracking/contracts';
import { JSON_LIMIT, MIB, fault, field, isLargerThan, json, sizeOf } from '@tracking/http';
import type { DtoClass, FieldCheck, RouteBody } from '@tracking/http';
import type { FastifyRequest } from 'fastify';

const MAX_ITEMS = 500;

/** Bodies of operations that take many items. */
export const BULK_BODY: RouteBody = json(10 * MIB);

/**
 * The items of a body. Each item is read by itself, and its faults are in its own answer; so the schema refers to the
 * class of an item by name, which `@ApiExtraModels` adds.
 */
export const Items = (dto: DtoClass, description: string): PropertyDecorator =>
  field(
    items,
    { description },
    { type: 'array', items: { $ref: getSchemaPath(dto) }, minItems: 1, maxItems: MAX_ITEMS },
  );

const items: FieldCheck = (value, param) => {
  if (!Array.isArray(value)) return fault(param, 'invalid_type', 'Must be an array.');
  if (value.length === 0) return fault(param, 'invalid_value', 'Must hold at least one item.');
  if (value.length <= MAX_ITEMS) return [];
  return fault(param, 'limit_exceeded', `At most ${MAX_ITEMS} are possible; there are ${value.length}.`);
};

/** The announced size of a request's body in bytes; infinite if it is not announced. */
export function sizeOfBody({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? Infinity);
}

/** Refuses an item that is too large as a request of its own. @throws DomainError `body_too_large` */
export function refuseTooLarge(item: unknown): void {
  if (!isLargerThan(JSON_LIMIT, item)) return;
  throw new DomainError('body_too_large', `The item is larger than ${sizeOf(JSON_LIMIT)}.`);
}
