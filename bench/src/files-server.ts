import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Fastify from 'fastify';

/** The baseline of uploads and downloads: the same framework streams bodies to files, durably, and back. */
const folder = process.env['DATA_DIR'] ?? '';
const app = Fastify({ bodyLimit: Number.MAX_SAFE_INTEGER });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

type Named = { readonly Params: { readonly name: string } };
const fileOf = ({ params }: { readonly params: Named['Params'] }) => join(folder, params.name.replace(/\W/g, ''));

app.put<Named>('/files/:name', async (request, reply) => {
  await pipeline(request.raw, createWriteStream(fileOf(request), { flush: true }));
  return reply.code(204).send();
});
app.get<Named>('/files/:name', async (request, reply) => {
  const file = fileOf(request);
  const { size } = await stat(file);
  return reply.header('content-length', size).type('application/pdf').send(createReadStream(file));
});
app.delete<Named>('/files/:name', async (request, reply) => {
  await rm(fileOf(request));
  return reply.code(204).send();
});
app.get('/ready', () => ({ status: 'ready' }));

process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
