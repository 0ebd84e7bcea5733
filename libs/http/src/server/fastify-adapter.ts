import { maxHeaderSize, STATUS_CODES } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LoggerService } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { ErrorCode } from '@tracking/contracts';
import type { Clock, Logger } from '@tracking/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, type ErrorFilter, statusOf } from '../errors/error-answer.ts';
import { notFound, RequestError } from '../errors/request-error.ts';
import { boundBodyTimes, LONGEST_BODY_MS } from './body-limits.ts';
import { endConnectionsWhenClosing } from './closing.ts';
import { JSON_KIND, JSON_LIMIT, MERGE_PATCH_KIND } from './json-body.ts';
import { giveCommandIdentity, newRequestId, traceparentOf } from './request.ts';
import { type Headers, responseHeaders } from './response-headers.ts';
import { hasBody, readRouteBodies } from './route-bodies.ts';
import { FILE_KIND, FORM_KIND } from './streamed-bodies.ts';

interface AdapterOptions {
  readonly errors: ErrorFilter;
  readonly clock: Clock;
  /** Where clients reach it; empty for a socket. */
  readonly baseUrl: string;
  readonly trustedProxies?: readonly string[];
}

/** Fastify as this API wants it: bodies as routes declare them, its own request ids, and no answer in any other error form. */
export function createFastifyAdapter(options: AdapterOptions): FastifyAdapter {
  const { errors, clock, trustedProxies = [] } = options;
  const headers = responseHeaders(options.baseUrl);
  const bare = new BareAnswers(headers.api);
  const adapter = new FastifyAdapter({
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: JSON_LIMIT,
    // Of what comes so slowly that not even a route is known, Node ends the wait after its own minute for headers.
    requestTimeout: LONGEST_BODY_MS,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    // A path that Fastify cannot even read: no hook has run.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      reply.headers(headers.api).header('Request-Id', request.id);
      errors.answer(notFound('path'), request, reply);
    },
    clientErrorHandler: (error, socket) => bare.unreadable(error, socket),
    // Node would answer in a form of its own, see `refuseUnclear`; what asks to upgrade is answered as it would be without.
    http: { requireHostHeader: false, shouldUpgradeCallback: () => false },
    // No Nest middleware is used; its dispatcher would run for every request.
    skipMiddie: true,
    // Nor is any of Fastify's schemas: only to load its compilers takes a tenth of a start.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('principal', null);
  fastify.decorateRequest('traceparent', '');
  fastify.decorateRequest('about', null);
  fastify.decorateRequest('begun', false);
  fastify.decorateRequest('audited', null);
  fastify.decorateRequest('commandIdentity', null);
  fastify.decorateRequest('expectedVersions', null);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers[request.routeOptions.config.answers ?? 'api']).header('Request-Id', request.id);
    request.traceparent = traceparentOf(request);
    forgetTypeOfNothing(request);
    refuseUnclear(request);
    done();
  });
  fastify.addHook('preHandler', (request, _reply, done) => {
    request.begun = true;
    giveCommandIdentity(request, clock);
    done();
  });
  readRouteBodies(fastify, [JSON_KIND, MERGE_PATCH_KIND, FORM_KIND, FILE_KIND]);
  boundBodyTimes(fastify, (socket) => bare.late(socket));
  endConnectionsWhenClosing(fastify);
  // Without a listener Node answers the one with a bare status, and the other not at all.
  fastify.server.on('checkExpectation', (request, response) => fastify.routing(request, response));
  fastify.server.on('connect', (_request, socket) => bare.connect(socket));
  return adapter;
}

function refuseSchemas(): never {
  throw new Error('bodies are checked as their DTOs say');
}

/** What a client calls a body that it does not send is no reason to refuse: many send the header always. */
function forgetTypeOfNothing({ headers }: FastifyRequest): void {
  if (!hasBody(headers)) delete headers['content-type'];
}

/** `uri-host [ ":" port ]` of RFC 9110, 7.2, for anything but an IPv6 address; the host may be empty. */
const HOST = /^(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*(?::\d*)?$/i;
const IPV6_HOST = /^\[([^\]]*)\](?::\d*)?$/;

/**
 * Refuses what HTTP/1.1 wants refused although a request could be made of it. What two hosts on the way could take for
 * two different things is answered here.
 * @throws RequestError
 */
export function refuseUnclear({ headers, raw }: FastifyRequest): void {
  const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  // RFC 9112, 3.2.
  if (hosts.length > 1) throw notValid('it has more than one Host header');
  if (headers.host === undefined && raw.httpVersion !== '1.0') throw notValid('it has no Host header');
  if (headers.host !== undefined && !isHost(headers.host)) throw notValid('its Host header names no host');
  // RFC 9110, 10.1.1; older clients know no expectations.
  if (headers.expect !== undefined && raw.httpVersion !== '1.0' && !/^100-continue$/i.test(headers.expect)) {
    throw new RequestError(
      'expectation_failed',
      'The request expects what is not done here; only 100-continue is known.',
    );
  }
}

function isHost(text: string): boolean {
  const address = IPV6_HOST.exec(text)?.[1];
  return address === undefined ? HOST.test(text) : isIPv6(address);
}

function notValid(reason: string): RequestError {
  return new RequestError('validation_failed', `The request is not valid HTTP: ${reason}.`);
}

/** What is not HTTP enough to become a request: answered on the bare socket, then closed. */
export class BareAnswers {
  /** @param headers of every answer */
  constructor(private readonly headers: Headers) {}

  unreadable(error: Error & { code?: string; reason?: string }, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      this.answer(socket, 'headers_too_large', `The headers are larger than ${maxHeaderSize} bytes together.`);
    } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      this.late(socket);
    } else {
      const reason = error.reason ? `: ${error.reason}` : '';
      this.answer(socket, 'validation_failed', `The request is not valid HTTP${reason}.`);
    }
  }

  /** The rest of the request is waited for no longer. */
  late(socket: Duplex): void {
    this.answer(socket, 'request_timeout', 'The request did not arrive in time.');
  }

  /** This is no proxy. */
  connect(socket: Duplex): void {
    this.answer(socket, 'method_not_allowed', 'CONNECT is not possible here.', { Allow: '' });
  }

  private answer(socket: Duplex, code: ErrorCode, message: string, headers: Headers = {}): void {
    answer(socket, { code, message, details: [] }, { ...this.headers, ...headers });
  }
}

function answer(socket: Duplex, error: Parameters<typeof errorBody>[0], headers: Headers): void {
  // Node listens no more where it hands a socket over: one that breaks now must not end the process.
  socket.on('error', () => socket.destroy());
  const requestId = newRequestId();
  const body = JSON.stringify(errorBody(error, requestId));
  const status = statusOf(error.code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** The framework's own lines in our log; its chatter about every route it maps is left out. */
export function nestLogger(logger: Logger): LoggerService {
  return {
    log: () => undefined,
    warn: (message: unknown) => logger.warn({ source: 'nest' }, String(message)),
    error: (message: unknown) => logger.error({ source: 'nest' }, String(message)),
  };
}
