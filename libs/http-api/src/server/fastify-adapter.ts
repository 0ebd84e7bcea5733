import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import './request.ts';

/** Largest JSON body of the public API, in bytes. */
const BODY_LIMIT = 1_048_576;
/** A whole request must have arrived by then, in milliseconds: a client that drips its body holds no connection longer. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Fastify as this API wants it: JSON bodies only, its own request ids, and no answer in any other error form.
 *
 * @param onBadUrl answers requests whose path Fastify cannot even read; no hook has run for them
 */
export function createFastifyAdapter(
  trustedProxies: readonly string[],
  onBadUrl: (request: FastifyRequest, reply: FastifyReply) => void,
  bodyLimit = BODY_LIMIT,
): FastifyAdapter {
  const adapter = new FastifyAdapter({
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit,
    requestTimeout: REQUEST_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => onBadUrl(request, reply),
    clientErrorHandler: answerUnreadable,
    // Node would answer in a form of its own, see `refuseWithoutHost`.
    http: { requireHostHeader: false },
    // No Nest middleware is used; its dispatcher would run for every request.
    skipMiddie: true,
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('principal', null);
  fastify.decorateRequest('traceparent', '');
  fastify.decorateRequest('about', null);
  forgetTypeOfNothing(fastify);
  acceptJsonOnly(fastify);
  hangUpWhenClosing(fastify);
  return adapter;
}

/** Always our own: an id that a client chose could be made to collide with another's in the logs. */
function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

/** What a client calls a body that it does not send is no reason to refuse: many send the header always. */
function forgetTypeOfNothing(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ headers }, _reply, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
    if (length === '0' && encoding === undefined) delete headers['content-type'];
    done();
  });
}

/** HTTP/1.1 demands the header (RFC 9112, 3.2). @throws RequestError */
export function refuseWithoutHost({ headers, raw }: FastifyRequest): void {
  if (headers.host !== undefined || raw.httpVersion === '1.0') return;
  throw new RequestError('validation_failed', 'The request is not valid HTTP: it has no Host header.');
}

/** One parser, for `application/json`; every other media type is answered 415 by Fastify. */
function acceptJsonOnly(fastify: FastifyInstance): void {
  // Keys as `__proto__` are keys like any other: only declared fields are looked at, and nothing is merged into anything.
  const parse = fastify.getDefaultJsonParser('ignore', 'ignore');
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      done(new RequestError('unsupported_media_type', 'Send the body without a Content-Encoding.'));
      return;
    }
    if (!isUtf8(body)) {
      done(new RequestError('malformed_json', 'The body is not UTF-8.'));
      return;
    }
    void parse(request, body.toString(), (error, value) => {
      // The parser's own message quotes the body.
      if (error) done(new RequestError('malformed_json', 'The body is not a JSON document.'));
      else done(null, value);
    });
  });
}

/** Answers to what was in flight when the close began end their connection: kept alive, it would hold the close up. */
function hangUpWhenClosing(fastify: FastifyInstance): void {
  let closing = false;
  fastify.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('Connection', 'close');
    done(null, payload);
  });
}

/** What is not HTTP enough to become a request: answered on the bare socket, then closed. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const requestId = newRequestId();
  const body = JSON.stringify({
    error: {
      type: 'invalid_request',
      code: 'validation_failed',
      message: 'The request is not valid HTTP.',
      param: null,
      details: [],
      request_id: requestId,
    },
  });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}
