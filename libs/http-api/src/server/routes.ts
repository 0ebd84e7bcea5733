import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpException } from '@nestjs/common';
import { RequestError } from '../errors/request-error.ts';

/** The paths that this API answers, each with its methods: to tell a wrong method from a wrong path. */
export class Routes {
  private readonly methods = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>();

  /** Records every route as it is added; refuses one under `/v1` that nothing protects. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method, config }) => {
      if (url.startsWith('/v1') && config?.permission === undefined) {
        throw new Error(`${String(method)} ${url} requires no permission`);
      }
      const route = this.methods.get(url) ?? { path: pattern(url), methods: new Set() };
      for (const name of [method].flat()) route.methods.add(name);
      this.methods.set(url, route);
    });
  }

  /** Where the path exists under other methods, the router's 404 tells them; anything else stays as it is. */
  refine(error: unknown, request: FastifyRequest): unknown {
    if (!(error instanceof HttpException) || error.getStatus() !== 404) return error;
    const path = request.url.split('?', 1)[0] ?? '';
    const route = [...this.methods.values()].find((candidate) => candidate.path.test(path));
    if (!route || route.methods.has(request.method)) return error;
    const message = `${request.method} is not possible here; see Allow.`;
    return new RequestError('not_found', message, [], { Allow: [...route.methods].join(', ') });
  }
}

function pattern(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
