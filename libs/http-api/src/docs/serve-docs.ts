import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { prefers } from '../errors/problem-details.ts';
import { API_TITLE } from './api-text.ts';
import { DOCS_PAGE, DOCS_SCRIPT, ERRORS_PAGE } from './pages.ts';

/** The files of Swagger UI that the page needs; the folder holds others, among them a page of its own. */
const ASSETS = new Set(['/swagger-ui.css', '/swagger-ui-bundle.js', '/favicon-32x32.png']);

/**
 * `/openapi.json`, `/docs` with its assets, and `/docs/errors`; `/` leads there: a browser at once, others by addresses.
 * Open to everybody.
 */
export function serveDocs(fastify: FastifyInstance, describe: () => OpenAPIObject, baseUrl: string): void {
  const where = {
    name: API_TITLE,
    docs: `${baseUrl}/docs`,
    openapi: `${baseUrl}/openapi.json`,
    health: `${baseUrl}/health/ready`,
  };
  fastify.get('/', (request, reply) => {
    reply.header('Vary', 'Accept');
    return prefers(request.headers.accept, 'text/html') ? reply.redirect('docs') : reply.send(where);
  });
  // Made when it is first asked for: it was a tenth of what a start takes.
  let json: string | undefined;
  fastify.get('/openapi.json', (_request, reply) => {
    json ??= JSON.stringify(describe());
    return reply.type('application/json; charset=utf-8').send(json);
  });
  void fastify.register(servePages);
}

/** What a browser shows, under the headers of its kind. */
async function servePages(pages: FastifyInstance): Promise<void> {
  pages.addHook('onRoute', (route) => {
    route.config = { answers: 'docs', ...route.config };
  });
  pages.get('/docs', (_request, reply) => page(reply, DOCS_PAGE));
  // The page names its parts as seen from /docs.
  pages.get('/docs/', (_request, reply) => reply.redirect('../docs', 301));
  pages.get('/docs/errors', { config: { answers: 'page' } }, (_request, reply) => page(reply, ERRORS_PAGE));
  pages.get('/docs/init.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(DOCS_SCRIPT));
  const { resolve } = createRequire(import.meta.url);
  await pages.register(fastifyStatic, {
    root: dirname(resolve('swagger-ui-dist/package.json')),
    prefix: '/docs/assets/',
    allowedPath: (path) => ASSETS.has(path),
    index: false,
    maxAge: '1h',
  });
}

function page(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(html);
}
