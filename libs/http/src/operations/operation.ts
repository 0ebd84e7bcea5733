import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { ErrorResource } from '../docs/error.resource.ts';
import type { Conditional } from '../preconditions/preconditions.ts';
import { createJsonBodyRule } from '../server/json-body.ts';
import { listAcceptedBodyKinds, type AcceptedRouteBody, formatSize } from '../server/route-bodies.ts';
import { NoParameters } from '../validation/parameters.ts';
import type { DtoClass } from '../validation/read-dto.ts';
import { type Access, type OperationId, ACCESS_BY_OPERATION } from './operations.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the route; absent for pages. */
    operation?: OperationId;
    /** Access that the route requires; absent for pages, which need no credentials. */
    access?: Access;
    /** True if a request without a body counts as one whose body is an object without fields. */
    bodyMayBeOmitted?: true;
  }
}

interface OperationOptions {
  readonly summary: string;
  readonly description?: string;
  /** Class of the query parameters, which the handler gets as `@Query()`; none by default. */
  readonly query?: DtoClass;
  /** Class of the request body. Without a class, every field of a body is reported as unknown. */
  readonly body?: DtoClass;
  /**
   * True if the body may be omitted, which counts as an object without fields. Set it for every POST whose fields are
   * all optional, unless the operation would then affect all resources.
   */
  readonly bodyMayBeOmitted?: true;
  /** Media types and size limit of the body; JSON up to 1 MiB by default. */
  readonly acceptedBody?: AcceptedRouteBody;
  /** Preconditions that a request may have, such as `If-Match`; none by default. */
  readonly conditional?: Conditional;
  /**
   * True if the response must be at least as recent as the `Consistency-Token` of the request. Other reads ignore the
   * header. `list` if the response is served during a takeover too, with the header `Read-Model-Age`.
   */
  readonly readsYourWrites?: true | 'list';
  /** True if success responses have an `ETag`. True by default for conditional operations. */
  readonly hasEtag?: boolean;
  /** True if the operation begins a session. A request that begins a session must come from our own pages. */
  readonly beginsSession?: true;
}

const HTTP_OPERATION_OPTIONS_BY_ID = new Map<OperationId, OperationOptions>();

/** Returns the options of an operation, for its description. @throws Error if no handler declares it */
export function getOperationOptions(operationId: OperationId): OperationOptions {
  const options = HTTP_OPERATION_OPTIONS_BY_ID.get(operationId);
  if (!options) throw new Error(`Operation ${operationId} has no handler. Declare one with @Operation.`);
  return options;
}

/**
 * Declares a handler as an operation of the public API. Access, query parameters and body are checked before the
 * handler runs. The OpenAPI description includes the responses that follow from these checks.
 */
export function DeclareApiOperation(operationId: OperationId, options: OperationOptions): MethodDecorator {
  HTTP_OPERATION_OPTIONS_BY_ID.set(operationId, options);
  const {
    summary,
    description,
    query,
    body,
    bodyMayBeOmitted,
    acceptedBody = createJsonBodyRule(),
    conditional,
    beginsSession,
  } = options;
  const access: Access = ACCESS_BY_OPERATION[operationId];
  const config = {
    operation: operationId,
    access,
    parameters: query ?? NoParameters,
    body: acceptedBody,
    ...(conditional && { conditional }),
    ...(beginsSession && { beginsSession }),
    ...(bodyMayBeOmitted && { bodyMayBeOmitted }),
  };
  const commonResponses = [
    RouteConfig(config),
    ApiOperation({ operationId, summary, ...(description !== undefined && { description }) }),
    ...(body ? createBodyDecorators(body, acceptedBody, bodyMayBeOmitted !== true) : []),
    DeclareErrorResponse(400),
    DeclareErrorResponse(500),
  ];
  if (access === 'open') return applyDecorators(...commonResponses);
  return applyDecorators(
    ...commonResponses,
    ApiBearerAuth(),
    ...(conditional ? CONDITIONAL_REQUEST_DECORATORS[conditional] : []),
    DeclareErrorResponse(401),
    ...(access === 'authenticated' ? [] : [DeclareErrorResponse(403)]),
    DeclareErrorResponse(429),
    DeclareServiceUnavailableOpenApiResponse(),
  );
}

function createBodyDecorators(dto: DtoClass, takes: AcceptedRouteBody, required: boolean): readonly MethodDecorator[] {
  const mediaTypes = listAcceptedBodyKinds(takes).map(({ mediaType }) => mediaType);
  return [
    ApiBody({ type: dto, required }),
    ApiConsumes(...mediaTypes),
    DeclareErrorResponse(413, `The body is larger than ${formatSize(takes.limit)}.`),
    DeclareErrorResponse(415),
  ];
}

const IF_MATCH_HEADER_DECORATORS = [
  ApiHeader({
    name: 'If-Match',
    required: false,
    description:
      'List of ETags. The write is carried out only if the resource has one of these ETags. `*` accepts any version.',
  }),
  DeclareErrorResponse(412),
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
  write: IF_MATCH_HEADER_DECORATORS,
  upsert: [
    ...IF_MATCH_HEADER_DECORATORS,
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: '`*`: the resource is created only if it does not exist yet; otherwise 412.',
    }),
  ],
};

/** Decorator that describes the 503 response of operations that need a storage engine. */
export const DeclareServiceUnavailableOpenApiResponse = () => DeclareErrorResponse(503);

/** Declares an error response of a route. @param description reason that only this operation has */
export function DeclareErrorResponse(status: number, description = ''): MethodDecorator {
  return ApiResponse({ status, description, type: ErrorResource });
}
