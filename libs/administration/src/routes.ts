import type { PipeTransform } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import {
  NoParameters,
  QueryOneOf,
  QueryText,
  type RequestError,
  Text,
  invalidRequest,
  json,
  readDto,
  unknownFields,
} from '@tracking/http';
import type { DtoClass } from '@tracking/http';

interface TakesOptions {
  /** Class of the query parameters; none by default. */
  readonly query?: DtoClass;
  /** Largest body, in bytes; 1 MiB by default. */
  readonly limit?: number;
}

/** Declares the parameters and the body of a route. There is no access to declare: operators may do everything. */
export function Takes({ query = NoParameters, limit }: TakesOptions = {}): MethodDecorator {
  return RouteConfig({ parameters: query, body: json(limit) });
}

/** Reads a body of an operator's tool, for which an unknown field is an error. */
export class InputPipe<T extends object> implements PipeTransform<unknown, T> {
  constructor(private readonly dto: DtoClass<T>) {}

  /** @throws RequestError */
  transform(input: unknown): T {
    const { value, faults } = readDto(this.dto, input);
    const all = [...faults, ...unknownFields(this.dto, undefined, input)];
    if (all.length > 0) throw invalidRequest(all);
    return value;
  }
}

/** The one workspace that a request is about. */
export class InWorkspaceDto {
  @Text({ description: 'Name of the workspace.' })
  workspace!: string;
}

/** The workspaces and environments that a request is about. */
export class WhereDto {
  @QueryText({ description: 'Name of the workspace; all of them without one.' })
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, { description: 'One environment; both without one.' })
  environment?: Environment;
}

/** A list that comes whole, because it is short. */
export interface ListAnswer<T> {
  readonly data: readonly T[];
}

export function listAnswer<T>(data: readonly T[]): ListAnswer<T> {
  return { data };
}

/** Reads a cursor of two words. Only the operator's own tool sends cursors, so they are neither sealed nor bound. */
export function placeOf(cursor: string | undefined): string[] | undefined {
  const place = cursor?.split(' ');
  if (place === undefined || place.length === 2) return place;
  throw invalidCursor();
}

export function invalidCursor(): RequestError {
  return invalidRequest([{ param: 'cursor', code: 'invalid_cursor', message: 'Must be a next_cursor of this list.' }]);
}
