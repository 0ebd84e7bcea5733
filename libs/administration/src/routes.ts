import type { PipeTransform } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import {
  NoParameters,
  EnumQueryProperty,
  TextQueryProperty,
  type RequestError,
  TextProperty,
  createInvalidRequestError,
  createJsonBodyRule,
  readAndValidateObject,
  findUnknownFields,
} from '@tracking/http';
import type { DtoClass } from '@tracking/http';

interface RouteInputClassOptions {
  /** Class of the query parameters; none by default. */
  readonly query?: DtoClass;
  /** Largest body in bytes; 1 MiB by default. */
  readonly limit?: number;
}

/**
 * Declares the query parameters and the body limit of a route. Access is not declared, because operators may do
 * everything.
 */
export function DeclareQueryAndBodyLimit({
  query = NoParameters,
  limit,
}: RouteInputClassOptions = {}): MethodDecorator {
  return RouteConfig({ parameters: query, body: createJsonBodyRule(limit) });
}

/** Reads a body sent by an operator's tool. Unknown fields are errors. */
export class OperatorBodyPipe<T extends object> implements PipeTransform<unknown, T> {
  constructor(private readonly dto: DtoClass<T>) {}

  /** @throws RequestError */
  transform(input: unknown): T {
    const { value, faults } = readAndValidateObject(this.dto, input);
    const all = [...faults, ...findUnknownFields(this.dto, undefined, input)];
    if (all.length > 0) throw createInvalidRequestError(all);
    return value;
  }
}

/** The workspace of a request. */
export class InWorkspaceDto {
  @TextProperty({ description: 'Name of the workspace.' })
  workspace!: string;
}

/** The workspaces and environments of a request. */
export class ScopeQueryDto {
  @TextQueryProperty({ description: 'Name of the workspace; all workspaces by default.' })
  workspace?: string;

  @EnumQueryProperty(ENVIRONMENTS, { description: 'Environment of the resources; both environments by default.' })
  environment?: Environment;
}

/** Response with a complete, short list. */
export interface ListResponse<T> {
  readonly data: readonly T[];
}

export function wrapInListResponse<T>(data: readonly T[]): ListResponse<T> {
  return { data };
}

/** Reads a cursor of two words. Only the operator's own tool sends cursors, so they are not signed. */
export function parseCursor(cursor: string | undefined): string[] | undefined {
  const place = cursor?.split(' ');
  if (place === undefined || place.length === 2) return place;
  throw createInvalidCursorError();
}

export function createInvalidCursorError(): RequestError {
  return createInvalidRequestError([
    { param: 'cursor', code: 'invalid_cursor', message: 'Must be a next_cursor of this list.' },
  ]);
}
