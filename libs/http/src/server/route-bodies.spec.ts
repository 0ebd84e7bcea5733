import { fastify, type FastifyError, type FastifyInstance } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import { createJsonBodyRule, JSON_BODY_KIND } from './json-body.ts';
import { type BodyKind, BYTES_PER_MIB, addRouteBodyParsers } from './route-bodies.ts';

const LINES: BodyKind = {
  mediaType: 'text/plain',
  addBodyParser: (server) =>
    server.addContentTypeParser('text/plain', (_request, payload, done) => done(null, payload)),
};

describe('a route', () => {
  let server: FastifyInstance;
  beforeEach(() => {
    server = fastify();
    addRouteBodyParsers(server, [JSON_BODY_KIND, LINES]);
    server.setErrorHandler<FastifyError>((error, _request, reply) => {
      void reply.code(error.statusCode ?? 400).send(error instanceof RequestError ? error.message : error.code);
    });
    const length = (body: unknown) => ({ length: JSON.stringify(body).length });
    server.post('/small', { config: { body: createJsonBodyRule() } }, ({ body }) => length(body));
    server.post('/bulk', { config: { body: createJsonBodyRule(10 * BYTES_PER_MIB) } }, ({ body }) => length(body));
    server.post('/lines', { config: { body: { kind: LINES, limit: BYTES_PER_MIB } } }, async ({ body }) => {
      let lines = 0;
      for await (const part of body as AsyncIterable<Buffer>) lines += part.toString().split('\n').length;
      return { lines };
    });
  });
  afterEach(() => server.close());

  const post = async (url: string, type: string, payload: string) => {
    const { statusCode, payload: answer } = await server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': type },
      payload,
    });
    return [statusCode, answer];
  };

  it('has its own size limit', async () => {
    const text = JSON.stringify('x'.repeat(2 * BYTES_PER_MIB));
    expect(await post('/small', 'application/json', text)).toEqual([400, 'The body is larger than 1 MiB.']);
    expect(await post('/bulk', 'application/json', text)).toEqual([200, `{"length":${text.length}}`]);
    expect((await post('/bulk', 'application/json', text.repeat(6)))[1]).toBe('The body is larger than 10 MiB.');
  });

  it('accepts the kind of body that it declares, even if another route accepts another kind', async () => {
    expect(await post('/small', 'APPLICATION/JSON; charset=utf-8', '1')).toEqual([200, '{"length":1}']);
    for (const charset of ['utf-8', 'UTF8', '"utf-8"']) {
      expect((await post('/small', `application/json; x=y;charset=${charset} `, '1'))[0]).toBe(200);
    }
    expect(await post('/small', 'application/json; charset=iso-8859-1', '1')).toEqual([
      400,
      'Send the body in UTF-8. Other values of charset are not supported.',
    ]);
    expect(await post('/small', 'text/plain', '1')).toEqual([400, 'Send the body as application/json.']);
    expect(await post('/lines', 'text/plain', 'a\nb')).toEqual([200, '{"lines":2}']);
    expect(await post('/lines', 'application/json', '1')).toEqual([400, 'Send the body as text/plain.']);
    expect((await post('/lines', 'text/csv', '1'))[0]).toBe(400);
  });

  it('without a body accepts any media type', async () => {
    server.get('/page', { config: { body: createJsonBodyRule() } }, () => ({ ok: true }));
    const request = { url: '/page', headers: { 'content-type': 'text/plain' }, payload: 'ignored' };
    expect((await server.inject({ method: 'GET', ...request })).statusCode).toBe(200);
    expect((await server.inject({ method: 'HEAD', ...request })).statusCode).toBe(200);
  });

  it('is refused without a declared body, and with a kind of body that has no parser', () => {
    expect(() => server.put('/undeclared', () => undefined)).toThrow(
      'The route PUT /undeclared does not declare the body that it accepts.',
    );
    const body = { kind: { ...LINES, mediaType: 'text/csv' }, limit: BYTES_PER_MIB };
    expect(() => server.post('/csv', { config: { body } }, () => undefined)).toThrow(
      'accepts text/csv, but no parser reads this media type',
    );
    expect(() => server.get('/page', () => undefined)).not.toThrow();
  });
});
