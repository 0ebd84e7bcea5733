import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { join } from 'node:path';

/** First parts of the addresses of pages; what is behind them the application reads itself. */
const PAGES = ['start', 'shipments', 'exceptions', 'settings', 'sign-in', 'invitation'] as const;

/**
 * The web application, which is files: the same page at every address of its own, and what that loads. Open to everybody; what
 * it shows it asks of the API, as whoever is signed in.
 * @param folder with `index.html` and `assets`, whose names change with their content; each beside its compressed forms
 */
export function serveWebApp(fastify: FastifyInstance, folder: string): void {
  void fastify.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { answers: 'page', ...route.config };
    });
    pages.addHook('onRequest', (_request, reply, done) => {
      // Whatever keeps them in between: what one browser takes another may not.
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
      // The one asset whose name stays, whatever is in it.
      reply.header('Cache-Control', 'no-cache');
      return reply.sendFile('assets/index.css', folder, options);
    });
    pages.get('/favicon.svg', (_request, reply) => reply.sendFile('favicon.svg', folder, { maxAge: '1d' }));
    for (const page of PAGES) {
      for (const path of [`/${page}`, `/${page}/*`]) {
        pages.get(path, (_request, reply) => {
          // Asked for anew each time, answered with 304 mostly: it names the assets of the version that runs.
          reply.header('Cache-Control', 'no-cache');
          return reply.sendFile('index.html', folder, options);
        });
      }
    }
  });
}
