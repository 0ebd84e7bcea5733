import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { join } from 'node:path';

/** First path segments of the web application's pages. The application reads the rest of the path. */
const PAGES = ['start', 'shipments', 'exceptions', 'settings', 'sign-in', 'invitation'] as const;

/**
 * Serves the files of the web application: the same page at each of its URLs, and its assets. They are open to
 * everybody, because the application reads all data from the API with the session of its user.
 * @param folder with `index.html` and `assets`, whose names change with their content, each with its compressed forms
 */
export function serveWebApp(fastify: FastifyInstance, folder: string): void {
  void fastify.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { answers: 'page', ...route.config };
    });
    pages.addHook('onRequest', (_request, reply, done) => {
      // Tells caches in between that the response depends on the accepted encodings.
      reply.header('Vary', 'Accept-Encoding');
      done();
    });
    const files = { preCompressed: true, index: false } as const;
    await pages.register(fastifyStatic, {
      ...files,
      root: join(folder, 'assets'),
      prefix: '/assets/',
      immutable: true,
      maxAge: '365d',
    });
    await pages.register(fastifyStatic, { ...files, root: folder, serve: false, decorateReply: false });
    const options = { cacheControl: false };
    pages.get('/assets/index.css', (_request, reply) => {
      // The icon is the only asset whose name does not change with its content.
      reply.header('Cache-Control', 'no-cache');
      return reply.sendFile('assets/index.css', folder, options);
    });
    pages.get('/favicon.svg', (_request, reply) => reply.sendFile('favicon.svg', folder, { maxAge: '1d' }));
    for (const page of PAGES) {
      for (const path of [`/${page}`, `/${page}/*`]) {
        pages.get(path, (_request, reply) => {
          // Revalidated for each request, mostly with 304, because the page names the assets of the running version.
          reply.header('Cache-Control', 'no-cache');
          return reply.sendFile('index.html', folder, options);
        });
      }
    }
  });
}
