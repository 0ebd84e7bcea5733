import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Permission } from '@tracking/contracts';
import { NoParameters } from '../validation/parameters.ts';
import type { DtoClass } from '../validation/read-dto.ts';
import { ErrorResource } from './error.resource.ts';

/**
 * The permission that an operation needs and the query parameters that it has, none without a DTO: both are checked
 * before its body is read, and documented with the answers they bring.
 */
export function Requires(permission: Permission, parameters?: DtoClass): MethodDecorator {
  return applyDecorators(
    RouteConfig({ permission, parameters: parameters ?? NoParameters }),
    ApiBearerAuth(),
    ...(parameters ? [ApiQuery({ type: parameters })] : []),
    refusal(400, parameters ? 'A parameter is unknown or not valid.' : 'A query parameter was sent; there are none.'),
    refusal(401, 'No API key, or not a valid one.'),
    refusal(403, `The key lacks the permission ${permission}.`),
    refusal(429, 'More requests within a minute than the key has; see Retry-After.'),
    refusal(500, 'A fault of ours; repeat it later.'),
    refusal(503, 'An engine is down or at its limit; see Retry-After.'),
  );
}

/** The JSON body of a route, and the answers to a wrong one. */
export function TakesJson(dto: DtoClass): MethodDecorator {
  return applyDecorators(
    ApiBody({ type: dto }),
    refusal(400, 'The body is not valid; every faulty field is named.'),
    refusal(413, 'The body is larger than 1 MiB.'),
    refusal(415, 'The body is not application/json, or is compressed.'),
  );
}

/** An error that a route can answer with. */
export function refusal(status: number, description: string): MethodDecorator {
  return ApiResponse({ status, description, type: ErrorResource });
}
