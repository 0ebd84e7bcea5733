import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { ErrorResource } from '../docs/error.resource.ts';
import type { Conditional } from '../preconditions/preconditions.ts';
import { jsonBody } from '../server/json-body.ts';
import { listBodyKinds, type RouteBody, formatSize } from '../server/route-bodies.ts';
import { NoParameters } from '../validation/parameters.ts';
import type { DtoClass } from '../validation/read-dto.ts';
import { type Access, describeRefusal, type OperationId, OPERATIONS } from './operations.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the route; absent for pages. */
    operation?: OperationId;
    /** Access that the route requires. Pages are open to everybody. */
    access?: Access;
  }
}

interface OperationOptions {
  readonly summary: string;
  readonly description?: string;
  /** Class of the query parameters, which the handler gets as `@Query()`; none by default. */
  readonly query?: DtoClass;
  /** Class of the request body. Without a class, every field of a body is reported as unknown. */
  readonly body?: DtoClass;
  /** True if the body may be omitted; it is required by default. */
  readonly bodyMayBeOmitted?: true;
  /** Media types and size limit of the body; JSON up to 1 MiB by default. */
  readonly acceptedBody?: RouteBody;
  /** Preconditions that a request may have, such as `If-Match`; none by default. */
  readonly conditional?: Conditional;
  /**
   * True if the response must be at least as recent as the `Consistency-Token` of the request. Other reads ignore the
   * header.
   */
  readonly readsYourWrites?: true;
  /** True if success responses have an `ETag`. True by default for conditional operations. */
  readonly hasEtag?: boolean;
  /** True if the operation begins a session. A request that begins a session must come from our own pages. */
  readonly beginsSession?: true;
}

const OPTIONS_BY_OPERATION = new Map<OperationId, OperationOptions>();

/** Returns the options of an operation, for its description. @throws Error if no handler declares it */
export function getOperationOptions(operationId: OperationId): OperationOptions {
  const options = OPTIONS_BY_OPERATION.get(operationId);
  if (!options) throw new Error(`Operation ${operationId} has no handler. Declare one with @Operation.`);
  return options;
}

/**
 * Declares a handler as an operation of the public API. Access, query parameters and body are checked before the
 * handler runs. The OpenAPI description includes the responses that follow from these checks.
 */
export function Operation(operationId: OperationId, options: OperationOptions): MethodDecorator {
  OPTIONS_BY_OPERATION.set(operationId, options);
  const {
    summary,
    description,
    query,
    body,
    bodyMayBeOmitted,
    acceptedBody = jsonBody(),
    conditional,
    beginsSession,
  } = options;
  const access: Access = OPERATIONS[operationId];
  const config = {
    operation: operationId,
    access,
    parameters: query ?? NoParameters,
    body: acceptedBody,
    ...(conditional && { conditional }),
    ...(beginsSession && { beginsSession }),
  };
  const commonResponses = [
    RouteConfig(config),
    ApiOperation({ operationId, summary, ...(description !== undefined && { description }) }),
    ...(body ? describeBody(body, acceptedBody, bodyMayBeOmitted !== true) : []),
    refusal(
      400,
      query
        ? 'A query parameter is unknown or not valid.'
        : 'The operation takes no query parameters, but the request has some.',
    ),
    refusal(500, 'Internal server error. Send the request again later.'),
  ];
  if (access === 'open') return applyDecorators(...commonResponses);
  const forbiddenResponse = describeRefusal(access);
  return applyDecorators(
    ...commonResponses,
    ApiBearerAuth(),
    ...(conditional ? CONDITIONAL_REQUEST_DECORATORS[conditional] : []),
    refusal(401, 'The request has no valid API key or session.'),
    ...(forbiddenResponse === undefined ? [] : [refusal(403, forbiddenResponse)]),
    refusal(429, 'The rate limit of the key is exceeded; see Retry-After.'),
    MayBeUnavailable(),
  );
}

function describeBody(dto: DtoClass, takes: RouteBody, required: boolean): readonly MethodDecorator[] {
  const mediaTypes = listBodyKinds(takes).map(({ mediaType }) => mediaType);
  return [
    ApiBody({ type: dto, required }),
    ApiConsumes(...mediaTypes),
    refusal(400, 'The body is not valid; `details` lists all invalid fields.'),
    refusal(413, `The body is larger than ${formatSize(takes.limit)}.`),
    refusal(415, `The body is not ${mediaTypes.join(' or ')}, or is compressed.`),
  ];
}

const IF_MATCH = [
  ApiHeader({
    name: 'If-Match',
    required: false,
    description:
      'List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version.',
  }),
  refusal(412, 'The resource has none of the ETags of If-Match. The header `ETag` has the current ETag.'),
];
const CONDITIONAL_REQUEST_DECORATORS: Readonly<Record<Conditional, readonly MethodDecorator[]>> = {
  read: [
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'List of ETags. The response is 304 if the resource still has one of these ETags.',
    }),
    ApiResponse({ status: 304, description: 'The resource still has one of the ETags of If-None-Match.' }),
  ],
  write: IF_MATCH,
  upsert: [
    ...IF_MATCH,
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: '`*`: the resource is created only if it does not exist yet; otherwise 412.',
    }),
  ],
};

/** Decorator that describes the 503 response of operations that need a storage engine. */
export const MayBeUnavailable = () =>
  refusal(503, 'A database or message broker is unavailable or at its limit; see Retry-After.');

/** Describes an error response of a route. */
export function refusal(status: number, description: string): MethodDecorator {
  return ApiResponse({ status, description, type: ErrorResource });
}
