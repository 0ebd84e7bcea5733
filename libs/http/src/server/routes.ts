import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpException } from '@nestjs/common';
import { RequestError } from '../errors/request-error.ts';

/** The paths of this API with their methods, to distinguish a wrong method from a wrong path. */
export class RouteRegistry {
  private readonly methods = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>();

  private readonly operations = new Set<string>();

  /**
   * Records every route. Refuses routes under `/v1` without an operation, and operators' routes without declared
   * parameters.
   */
  recordRoutes(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method, config }) => {
      if (url.startsWith('/v1') && config?.operation === undefined) {
        throw new Error(`The route ${String(method)} ${url} has no operation.`);
      }
      if (config?.operation !== undefined) this.operations.add(config.operation);
      if (url.startsWith('/administration') && config?.parameters === undefined) {
        throw new Error(`The route ${String(method)} ${url} does not declare its query parameters.`);
      }
      const route = this.methods.get(url) ?? { path: createPathPattern(url), methods: new Set() };
      for (const name of [method].flat()) route.methods.add(name);
      this.methods.set(url, route);
    });
    // The router passes `GET /v1/shipments/bulk` to the route of a shipment with the id `bulk`.
    fastify.addHook('onRequest', (request, _reply, done) => {
      const fixed = this.methods.get(extractRequestPath(request.url));
      if (fixed !== undefined && !request.is404 && !fixed.methods.has(request.method))
        throw createMethodNotAllowedError(request, fixed.methods);
      done();
    });
  }

  /**
   * Checks that every operation has a route. Call this method after all routes are added. @throws Error naming an
   * operation without a route
   */
  requireRouteForEachOperation(operations: readonly string[]): void {
    const missing = operations.filter((operation) => !this.operations.has(operation));
    if (missing.length > 0) throw new Error(`These operations have no route: ${missing.join(', ')}.`);
  }

  /** Turns the router's 404 into a 405 with the allowed methods if the path exists. Returns other errors as they are. */
  toMethodNotAllowedIfKnown(error: unknown, request: FastifyRequest): unknown {
    if (!(error instanceof HttpException) || error.getStatus() !== 404) return error;
    const methods = this.findMethodsOfPath(extractRequestPath(request.url));
    return methods === undefined || methods.has(request.method) ? error : createMethodNotAllowedError(request, methods);
  }

  /** Returns the methods of a path; undefined if it does not exist. A fixed path takes precedence over parameters. */
  private findMethodsOfPath(path: string): ReadonlySet<string> | undefined {
    const fixed = this.methods.get(path);
    if (fixed !== undefined) return fixed.methods;
    const routes = [...this.methods.values()].filter((candidate) => candidate.path.test(path));
    return routes.length === 0 ? undefined : new Set(routes.flatMap((route) => [...route.methods]));
  }
}

function createMethodNotAllowedError({ method }: FastifyRequest, methods: ReadonlySet<string>): RequestError {
  const allowed = [...methods].sort().join(', ');
  const message = `${method} is not allowed on this path. Use ${allowed}.`;
  return new RequestError('method_not_allowed', message, [], { Allow: allowed });
}

/** Returns the path of a request, even if its target is an absolute URL (RFC 9112, 3.2.2). */
function extractRequestPath(target: string): string {
  return target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] ?? '';
}

function createPathPattern(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
