import type { OpenAPIObject } from '@nestjs/swagger';
import { isKept } from '../idempotency/stored-answer.ts';

type OperationObject = NonNullable<OpenAPIObject['paths'][string]['post']>;

export const KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Names the request: sent again under it within 24 hours, it takes effect once and is answered the same.',
  schema: { type: 'string' as const, minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
} as const;

const CONFLICT = 'The Idempotency-Key was sent with another request, or the first one under it is under way.';
const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });

/** Describes that an operation takes an `Idempotency-Key`, as every POST does. */
export function takeKey(operation: OperationObject): void {
  const { parameters = [], responses } = operation;
  operation.parameters = [...parameters, { $ref: `#/components/parameters/${KEY_PARAMETER.name}` }];
  const told = responses['409'];
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const before = told && 'description' in told ? `${told.description} ` : '';
  responses['409'] = { content, ...told, description: before + CONFLICT, headers: header('Retry-After') };
  for (const [status, response] of Object.entries(responses)) {
    if (!response || '$ref' in response || !isKept(Number(status))) continue;
    response.headers = { ...response.headers, ...header('Idempotency-Replayed') };
  }
}
