import { join } from 'node:path';
import fastifyStatic, { type SendOptions } from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** First path segments of the web application's pages. The application reads the rest of the path. */
const WEB_APP_PATH_SEGMENTS = ['start', 'shipments', 'exceptions', 'settings', 'sign-in', 'invitation'] as const;

type Caching = Pick<SendOptions, 'cacheControl' | 'immutable' | 'maxAge'>;

/**
 * Bytes of a file that are read ahead for a client. The number is small because thousands of clients may stop reading.
 */
const FILE_PIECE_BYTES = 16_384;

/**
 * Serves the files of the web application: the same page at each of its URLs, and its assets. They need no
 * credentials, because the application reads all data from the API with the session of its user.
 * @param folder with `index.html` and `assets`, whose names change with their content, each with its compressed forms
 */
export function serveWebApp(fastify: FastifyInstance, folder: string): void {
  void fastify.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { answers: 'page', ...route.config };
    });
    pages.addHook('onRequest', (_request, reply, done) => {
      // Shared caches must store one response per accepted encoding.
      reply.header('Vary', 'Accept-Encoding');
      done();
    });
    await pages.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, index: false });
    const send = (reply: FastifyReply, path: string, caching: Caching, root = folder) =>
      reply.sendFile(path, root, { ...caching, highWaterMark: FILE_PIECE_BYTES } as Caching);
    pages.get<{ Params: { '*': string } }>('/assets/*', ({ params: { '*': name } }, reply) => {
      if (name.includes('..')) return reply.callNotFound();
      return send(reply, name, { immutable: true, maxAge: '365d' }, join(folder, 'assets'));
    });
    pages.get('/assets/index.css', (_request, reply) => {
      // The icon is the only asset whose name does not change with its content.
      reply.header('Cache-Control', 'no-cache');
      return send(reply, 'assets/index.css', { cacheControl: false });
    });
    pages.get('/favicon.svg', (_request, reply) => send(reply, 'favicon.svg', { maxAge: '1d' }));
    for (const page of WEB_APP_PATH_SEGMENTS) {
      for (const path of [`/${page}`, `/${page}/*`]) {
        pages.get(path, (_request, reply) => {
          // Let browsers revalidate the page for each request, because it names the assets of the running version.
          reply.header('Cache-Control', 'no-cache');
          return send(reply, 'index.html', { cacheControl: false });
        });
      }
    }
  });
}
