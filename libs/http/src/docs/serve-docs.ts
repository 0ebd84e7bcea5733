import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { PublicAddresses } from '@tracking/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { prefersMediaType } from '../errors/error-response.ts';
import type { ApiDocumentationContent } from './api-docs.ts';
import { NAV_STYLE, DOCS_PAGE_STYLE, renderNavigation } from './documentation-page.ts';
import { renderErrorsPage } from './errors-page.ts';
import { API_TITLE } from './openapi.ts';
import {
  listPublishedDocs,
  PLAIN_TEXT_CONTENT_TYPE,
  POSTMAN_COLLECTION_PATH,
  type StaticFile,
  createLlmsFullText,
  createLlmsText,
  readPostmanCollectionWithServerUrl,
} from './published-docs.ts';

/**
 * The files of Swagger UI that the documentation page needs. Other files of its folder, such as its own page, are not
 * served.
 */
const SWAGGER_UI_ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

interface ServeDocsOptions {
  readonly describe: () => OpenAPIObject;
  readonly docs: ApiDocumentationContent;
  readonly settings: PublicAddresses & { readonly webAppFolder?: string };
}

/**
 * Serves `/openapi.json`, `/docs` with its assets, `/docs/errors`, the features' pages, the guides and the reference,
 * the Postman collection, and `/llms.txt`. `/` redirects browsers to `/docs` and lists the URLs for other clients. No
 * credentials are needed.
 */
export function serveDocs(fastify: FastifyInstance, { describe, docs, settings }: ServeDocsOptions): void {
  const { baseUrl, webAppFolder } = settings;
  const home = webAppFolder === undefined ? 'docs' : 'shipments';
  const where = {
    name: API_TITLE,
    docs: `${baseUrl}/docs`,
    guides: `${baseUrl}/docs/guides`,
    openapi: `${baseUrl}/openapi.json`,
    health: `${baseUrl}/health/ready`,
  };
  fastify.get('/', (request, reply) => {
    reply.header('Vary', 'Accept');
    return prefersMediaType(request.headers.accept, 'text/html') ? reply.redirect(home) : reply.send(where);
  });
  // Create the document on the first request, because that takes 10% of the start-up time.
  let json: Buffer | undefined;
  fastify.get('/openapi.json', (_request, reply) => {
    json ??= Buffer.from(JSON.stringify(describe()));
    return reply.type('application/json; charset=utf-8').send(json);
  });
  void fastify.register(serveDocumentationPages, { docs, settings });
}

/** Serves the HTML pages of the documentation with the response headers for pages. */
async function serveDocumentationPages(
  pages: FastifyInstance,
  { docs, settings }: Pick<ServeDocsOptions, 'docs' | 'settings'>,
): Promise<void> {
  pages.addHook('onRoute', (route) => {
    route.config = { answers: 'docs', ...route.config };
  });
  pages.get('/docs', (_request, reply) => sendHtmlPage(reply, DOCS_PAGE_HTML));
  // Redirect /docs/ to /docs, because URLs in the page are relative to /docs.
  pages.get('/docs/', (_request, reply) => reply.redirect('../docs', 301));
  for (const folder of ['guides', 'reference', 'adr'])
    pages.get(`/docs/${folder}/`, (_request, reply) => reply.redirect(`../${folder}`, 301));
  for (const [name, write] of Object.entries({
    ...docs.pages,
    errors: () => renderErrorsPage(docs),
  } as ApiDocumentationContent['pages'])) {
    serveFile(pages, { path: `docs/${name}`, type: 'text/html; charset=utf-8', read: () => write(settings) });
  }
  for (const file of listPublishedDocs()) serveFile(pages, file);
  const { baseUrl } = settings;
  const collectionType = 'application/json; charset=utf-8';
  serveFile(pages, {
    path: POSTMAN_COLLECTION_PATH,
    type: collectionType,
    read: () => readPostmanCollectionWithServerUrl(baseUrl),
  });
  serveFile(pages, { path: 'llms.txt', type: PLAIN_TEXT_CONTENT_TYPE, read: () => createLlmsText(baseUrl) });
  serveFile(pages, { path: 'llms-full.txt', type: PLAIN_TEXT_CONTENT_TYPE, read: () => createLlmsFullText(baseUrl) });
  pages.get('/docs/nav.css', (_request, reply) => sendStyleSheet(reply, NAV_STYLE));
  pages.get('/docs/pages.css', (_request, reply) => sendStyleSheet(reply, DOCS_PAGE_STYLE));
  pages.get('/docs/init.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(DOCS_SCRIPT));
  const { resolve } = createRequire(import.meta.url);
  const folder = dirname(resolve('swagger-ui-dist/package.json'));
  for (const [name, type] of Object.entries(SWAGGER_UI_ASSETS)) {
    // Read each file on its first request, into one buffer that all responses share. Concurrent first requests share the
    // promise: if each read the file, many of them would fill the memory.
    let content: Promise<Buffer> | undefined;
    pages.get(`/docs/assets/${name}`, async (_request, reply) => {
      content ??= readFile(join(folder, name)).catch((error: unknown) => {
        content = undefined;
        throw error;
      });
      return reply
        .type(type)
        .header('Cache-Control', 'public, max-age=3600')
        .send(await content);
    });
  }
}

/**
 * Serves a file from one buffer that all responses share. The buffer is created on the first request. Clients may keep
 * the file, and ask with `If-None-Match` whether it has changed.
 */
function serveFile(pages: FastifyInstance, { path, type, read }: StaticFile): void {
  let file: { readonly content: Buffer; readonly etag: string } | undefined;
  const config = { answers: type.startsWith('text/html') ? 'page' : 'api', conditional: 'read' } as const;
  pages.get(`/${path}`, { config }, (_request, reply) => {
    if (file === undefined) {
      const content = Buffer.from(read());
      file = { content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
    }
    return reply.type(type).header('Cache-Control', 'no-cache').header('ETag', file.etag).send(file.content);
  });
}

function sendHtmlPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(html);
}

function sendStyleSheet(reply: FastifyReply, css: string): FastifyReply {
  return reply.type('text/css; charset=utf-8').send(css);
}

const DOCS_PAGE_HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Shipment Tracking API</title>
    <link rel="icon" href="docs/assets/favicon-32x32.png">
    <link rel="stylesheet" href="docs/assets/swagger-ui.css">
    <link rel="stylesheet" href="docs/nav.css">
  </head>
  <body>
    ${renderNavigation('')}
    <div id="api"></div>
    <script src="docs/assets/swagger-ui-bundle.js"></script>
    <script src="docs/init.js"></script>
  </body>
</html>
`;

/** Makes Swagger UI send requests to the server of the page, instead of the one in the description. */
const DOCS_SCRIPT = `const show = async () => {
  const here = new URL('.', location.href).href;
  const response = await fetch(here + 'openapi.json');
  const spec = await response.json();
  spec.servers = [{ url: here.replace(/\\/$/, '') }];
  SwaggerUIBundle({ spec, dom_id: '#api', deepLinking: true, validatorUrl: null });
};
show();
`;
