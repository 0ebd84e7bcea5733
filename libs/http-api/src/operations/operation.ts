import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { Permission } from '@tracking/contracts';
import { ErrorResource } from '../docs/error.resource.ts';
import { json } from '../server/json-body.ts';
import type { RouteBody } from '../server/route-bodies.ts';
import { sizeOf } from '../server/sizes.ts';
import { NoParameters } from '../validation/parameters.ts';
import type { DtoClass } from '../validation/read-dto.ts';
import { OPERATIONS } from './operations.ts';
import type { OperationId } from './operations.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which operation the route is; pages are none. */
    operation?: OperationId;
    /** What the principal must be allowed to do. Routes without one are open to everybody. */
    permission?: Permission;
  }
}

export interface OperationOptions {
  readonly summary: string;
  readonly description?: string;
  /** Its query parameters, which the handler has as `@Query()` of this class; none, unless told. */
  readonly query?: DtoClass;
  /** What its body holds. Without, a body may be sent, but every field of it is unknown. */
  readonly body?: DtoClass;
  /** How its body is read, and how large it may be; JSON up to 1 MiB, unless told. */
  readonly takes?: RouteBody;
}

/**
 * Makes a handler an operation of the public API: its permission, query parameters and body are checked before it runs,
 * and described with the answers that they bring.
 */
export function Operation(operationId: OperationId, options: OperationOptions): MethodDecorator {
  const { query, body, takes = json(), ...described } = options;
  const permission = OPERATIONS[operationId];
  const config = { operation: operationId, parameters: query ?? NoParameters, body: takes };
  if (permission === 'open') return applyDecorators(RouteConfig(config), ApiOperation({ operationId, ...described }));
  return applyDecorators(
    RouteConfig({ ...config, permission }),
    ApiOperation({ operationId, ...described }),
    ApiBearerAuth(),
    ...(body ? describeBody(body, takes) : []),
    refusal(400, query ? 'A parameter is unknown or not valid.' : 'A query parameter was sent; there are none.'),
    refusal(401, 'No API key, or not a valid one.'),
    refusal(403, `The key lacks the permission ${permission}.`),
    refusal(429, 'More requests within a minute than the key has; see Retry-After.'),
    refusal(500, 'A fault of ours; repeat it later.'),
    refusal(503, 'An engine is down or at its limit; see Retry-After.'),
  );
}

function describeBody(dto: DtoClass, { kind, limit }: RouteBody): readonly MethodDecorator[] {
  return [
    ApiBody({ type: dto }),
    refusal(400, 'The body is not valid; every faulty field is named.'),
    refusal(413, `The body is larger than ${sizeOf(limit)}.`),
    refusal(415, `The body is not ${kind.mediaType}, or is compressed.`),
  ];
}

/** An error that a route can answer with. */
export function refusal(status: number, description: string): MethodDecorator {
  return ApiResponse({ status, description, type: ErrorResource });
}
