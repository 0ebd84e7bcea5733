import { RouteConfig } from '@nestjs/platform-fastify';
import { json } from '../server/json-body.ts';
import { NoParameters } from '../validation/parameters.ts';
import type { DtoClass } from '../validation/read-dto.ts';

export interface TakesOptions {
  /** Its query parameters; none, unless told. */
  readonly query?: DtoClass;
  /** Largest body, in bytes; 1 MiB, unless told. */
  readonly limit?: number;
}

/** What a route of the operators' API takes: whoever reaches it may do everything. */
export function Takes({ query = NoParameters, limit }: TakesOptions = {}): MethodDecorator {
  return RouteConfig({ parameters: query, body: json(limit) });
}
