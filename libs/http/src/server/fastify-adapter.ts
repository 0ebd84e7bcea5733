import { createServer, maxHeaderSize, type RequestListener, type ServerOptions, STATUS_CODES } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { type LoggerService, NotFoundException } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { ErrorCode } from '@tracking/contracts';
import type { Clock, Logger, Metrics } from '@tracking/ports';
import { HttpConnectionLimiter, type ConnectionLimits, handleRequestsInOrder } from '@tracking/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createErrorBody, type ErrorFilter, getErrorStatus } from '../errors/error-response.ts';
import { createNotFoundError, RequestError } from '../errors/request-error.ts';
import { limitBodyReceiveTimes, MAX_BODY_TIMEOUT_MS } from './body-limits.ts';
import { closeConnectionsWhenServerCloses } from './closing.ts';
import { JSON_BODY_KIND, DEFAULT_JSON_BODY_BYTES, MERGE_PATCH_BODY_KIND } from './json-body.ts';
import { assignCommandIdAndTime, createRequestId, readOrCreateTraceparent } from './request.ts';
import { type Headers, createResponseHeadersByRouteKind } from './response-headers.ts';
import { hasRequestBody, addRouteBodyParsers } from './route-bodies.ts';
import { toClientNetworkPrefix } from './quota.ts';
import { FILE_BODY_KIND, FORM_BODY_KIND } from './streamed-bodies.ts';

interface FastifyAdapterOptions {
  readonly errors: ErrorFilter;
  readonly clock: Clock;
  /** URL of the server for its clients; empty for a socket. */
  readonly baseUrl: string;
  readonly trustedProxies?: readonly string[];
  /** Guard that limits connections. Absent on the operators' socket, which has no limits. */
  readonly connections?: Partial<ConnectionLimits> & { readonly metrics: Metrics };
}

/** Creates Fastify for this API: bodies as routes declare them, our own request ids, and one error format. */
export function createFastifyAdapter(options: FastifyAdapterOptions): FastifyAdapter {
  const { errors, clock, trustedProxies = [] } = options;
  const headers = createResponseHeadersByRouteKind(options.baseUrl);
  const bare = new SocketErrorResponder(headers.api);
  const isProxy = createAddressMatcher(trustedProxies);
  const guard =
    options.connections &&
    new HttpConnectionLimiter({
      ...options.connections,
      networkOf: (address) => (isProxy(address) ? undefined : toClientNetworkPrefix(address)),
      refuse: (socket) => bare.refuseConnection(socket),
    });
  const adapter = new FastifyAdapter({
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: DEFAULT_JSON_BODY_BYTES,
    // Allow the longest time of any body. Node's own limit of one minute applies to headers.
    requestTimeout: MAX_BODY_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: createRequestId,
    return503OnClosing: false,
    // Set the response headers here, because no hook has run for a path that Fastify cannot read.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      reply.headers(headers.api).header('Request-Id', request.id);
      errors.sendErrorResponse(createNotFoundError('path'), request, reply);
    },
    clientErrorHandler: (error, socket) => bare.sendErrorForUnparsableHttpRequest(error, socket),
    // Do not let Node check the host, because it would respond in its own format: see `refuseAmbiguousRequest`.
    http: { requireHostHeader: false, shouldUpgradeCallback: () => false },
    serverFactory: (handle: RequestListener, settings: unknown) => {
      const { http, keepAliveTimeout, requestTimeout } = settings as NodeHttpServerSettings;
      const server = createServer({ ...http, keepAliveTimeout, requestTimeout }, handleRequestsInOrder(handle));
      guard?.guardServerConnections(server);
      return server;
    },
    // Skip Nest's middleware dispatcher, which would run for every request without any middleware.
    skipMiddie: true,
    // Refuse Fastify schemas, because loading the schema compilers takes 10% of the start-up time.
    schemaController: {
      compilersFactory: { buildValidator: refuseFastifySchemas, buildSerializer: refuseFastifySchemas },
    },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('principal', null);
  fastify.decorateRequest('traceparent', '');
  fastify.decorateRequest('resourceIds', null);
  fastify.decorateRequest('readModelAgeMs', null);
  fastify.decorateRequest('handlerCalled', false);
  fastify.decorateRequest('audited', null);
  fastify.decorateRequest('commandIdentity', null);
  fastify.decorateRequest('expectedVersions', null);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers[request.routeOptions.config.answers ?? 'api']).header('Request-Id', request.id);
    request.traceparent = readOrCreateTraceparent(request);
    ignoreContentTypeWithoutBody(request);
    refuseAmbiguousRequest(request);
    // Before the body is read.
    if (request.is404) throw new NotFoundException();
    done();
  });
  fastify.addHook('preHandler', (request, _reply, done) => {
    request.handlerCalled = true;
    assignCommandIdAndTime(request, clock);
    done();
  });
  addRouteBodyParsers(fastify, [JSON_BODY_KIND, MERGE_PATCH_BODY_KIND, FORM_BODY_KIND, FILE_BODY_KIND]);
  limitBodyReceiveTimes(fastify, (socket) => bare.respondToRequestReceivedTooSlowly(socket));
  closeConnectionsWhenServerCloses(fastify);
  // Without these listeners, Node responds to an invalid request with a bare status and to CONNECT not at all.
  fastify.server.on('checkExpectation', (...exchange) => fastify.server.emit('request', ...exchange));
  fastify.server.on('connect', (_request, socket) => bare.refuseConnectRequest(socket));
  return adapter;
}

/** Server settings that Fastify passes to Node's HTTP server. */
interface NodeHttpServerSettings {
  readonly http: ServerOptions;
  readonly keepAliveTimeout: number;
  readonly requestTimeout: number;
}

/** Returns a test for addresses within these CIDRs or single addresses. */
function createAddressMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function refuseFastifySchemas(): never {
  throw new Error('A route has a Fastify schema. Declare a DTO class instead, which validates the body.');
}

/** Ignores the media type of a request without a body: many clients always send the header. */
function ignoreContentTypeWithoutBody({ headers }: FastifyRequest): void {
  if (!hasRequestBody(headers)) delete headers['content-type'];
}

/** Matches `uri-host [ ":" port ]` of RFC 9110, 7.2, except for IPv6 addresses; the host may be empty. */
const HOST_HEADER_PATTERN = /^(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*(?::\d*)?$/i;
const IPV6_HOST_PATTERN = /^\[([^\]]*)\](?::\d*)?$/;

/**
 * Refuses requests that HTTP/1.1 requires to be refused although they can be parsed, such as requests that two servers
 * could interpret differently.
 * @throws RequestError
 */
export function refuseAmbiguousRequest({ headers, raw }: FastifyRequest): void {
  const hosts = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  // RFC 9112, 3.2.
  if (hosts.length > 1) throw createInvalidHttpError('more than one Host header was sent');
  if (headers.host === undefined && raw.httpVersion !== '1.0')
    throw createInvalidHttpError('the Host header is missing');
  if (headers.host !== undefined && !isValidHost(headers.host))
    throw createInvalidHttpError('the Host header is not a valid host name');
  // RFC 9110, 10.1.1. HTTP/1.0 has no expectations.
  if (headers.expect !== undefined && raw.httpVersion !== '1.0' && !/^100-continue$/i.test(headers.expect)) {
    throw new RequestError('expectation_failed', 'Expect must be 100-continue.');
  }
}

function isValidHost(text: string): boolean {
  const address = IPV6_HOST_PATTERN.exec(text)?.[1];
  return address === undefined ? HOST_HEADER_PATTERN.test(text) : isIPv6(address);
}

function createInvalidHttpError(reason: string): RequestError {
  return new RequestError('validation_failed', `The request is not valid HTTP: ${reason}.`);
}

/** An error of Node's HTTP parser, with the bytes that it could not read. */
interface HttpParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: unknown;
}

/** Returns true if the bytes begin with a valid request line, so that only the method is wrong. */
function isUnknownHttpMethodError({ rawPacket }: HttpParserError): boolean {
  return (
    Buffer.isBuffer(rawPacket) && REQUEST_LINE_PATTERN.test(rawPacket.subarray(0, maxHeaderSize).toString('latin1'))
  );
}

/** Matches a request line (RFC 9112, 3) with any method. */
const REQUEST_LINE_PATTERN = /^[\w!#$%&'*+.^`|~-]{1,40} \S+ HTTP\/1\.[01]\r?\n/;

/** Responds on the bare socket to bytes that are not a valid HTTP request, and closes it. */
export class SocketErrorResponder {
  /** @param headers of every response */
  constructor(private readonly headers: Headers) {}

  sendErrorForUnparsableHttpRequest(error: HttpParserError, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      this.writeErrorResponseToSocket(
        socket,
        'headers_too_large',
        `The headers of the request are larger than ${maxHeaderSize} bytes in total.`,
      );
    } else if (error.code === 'HPE_INVALID_METHOD' && isUnknownHttpMethodError(error)) {
      this.writeErrorResponseToSocket(socket, 'method_not_implemented', 'The method of the request is unknown.');
    } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      this.respondToRequestReceivedTooSlowly(socket);
    } else {
      const reason = error.reason ? `: ${error.reason}` : '';
      this.writeErrorResponseToSocket(socket, 'validation_failed', `The request is not valid HTTP${reason}.`);
    }
  }

  /** Stops waiting for the rest of the request. */
  respondToRequestReceivedTooSlowly(socket: Duplex): void {
    this.writeErrorResponseToSocket(socket, 'request_timeout', 'The request did not arrive in time.');
  }

  /** Refuses a connection that exceeds a limit. */
  refuseConnection(socket: Duplex): void {
    this.writeErrorResponseToSocket(socket, 'busy', 'Too many connections are open; close some, or try again later.', {
      'Retry-After': '5',
    });
  }

  /** Refuses CONNECT, because this server is not a proxy. */
  refuseConnectRequest(socket: Duplex): void {
    this.writeErrorResponseToSocket(socket, 'method_not_allowed', 'CONNECT is not supported.', { Allow: '' });
  }

  private writeErrorResponseToSocket(socket: Duplex, code: ErrorCode, message: string, headers: Headers = {}): void {
    writeErrorResponse(socket, { code, message, details: [] }, { ...this.headers, ...headers });
  }
}

function writeErrorResponse(socket: Duplex, error: Parameters<typeof createErrorBody>[0], headers: Headers): void {
  // Handle errors of the socket: Node has removed its own listeners, and an unhandled error ends the process.
  socket.on('error', () => socket.destroy());
  const requestId = createRequestId();
  const body = JSON.stringify(createErrorBody(error, requestId));
  const status = getErrorStatus(error.code);
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

/** Writes the warnings and errors of the framework to our log, without its lines about each route. */
export function createNestLogger(logger: Logger): LoggerService {
  return {
    log: () => undefined,
    warn: (message: unknown) => logger.warn({ source: 'nest' }, String(message)),
    error: (message: unknown) => logger.error({ source: 'nest' }, String(message)),
  };
}
