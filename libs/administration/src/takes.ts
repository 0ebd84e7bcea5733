import { RouteConfig } from '@nestjs/platform-fastify';
import { json, NoParameters } from '@tracking/http';
import type { DtoClass } from '@tracking/http';

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
