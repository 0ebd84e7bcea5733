import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Milliseconds for clients to finish sending and reading when the server closes. A process must stop within 20 s. */
const SHUTDOWN_CLIENT_GRACE_MS = 8_000;
/** Minimum time for a client to read a response. */
const MIN_RESPONSE_READ_MS = 2_000;

/** The latest request of a connection and its response. */
interface LatestConnectionRequestAndResponse {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Closes connections when the server closes. Responses to open requests announce the end of the connection, because a
 * connection that stays open would delay the close. Clients that still send or read after a grace period are
 * disconnected. A request that was received completely always gets its response.
 */
export function closeConnectionsWhenServerCloses(fastify: FastifyInstance): void {
  const connections = new Map<Socket, LatestConnectionRequestAndResponse | undefined>();
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;

  /** @param isSlow selects the connections to close among those without a request in its handler */
  const disconnect = (isSlow: (socket: Socket) => boolean) => {
    const waiting = new Set(
      [...connections].flatMap(([socket, exchange]) => (isHttpRequestHandlerRunning(exchange) ? [] : [socket])),
    );
    for (const socket of waiting) if (isSlow(socket)) socket.destroy();
    timer = setTimeout(() => disconnect((socket) => waiting.has(socket)), MIN_RESPONSE_READ_MS).unref();
  };

  fastify.server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  fastify.addHook('onRequest', ({ raw: request, socket }, { raw: response }, done) => {
    if (connections.has(socket)) connections.set(socket, { request, response });
    done();
  });
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    timer = setTimeout(() => disconnect(() => true), SHUTDOWN_CLIENT_GRACE_MS).unref();
    done();
  });
  fastify.addHook('onClose', (_instance, done) => {
    clearTimeout(timer);
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('Connection', 'close');
    done(null, payload);
  });
}

/**
 * Lets clients finish their use of open connections when the server closes. The server stops listening, and waits until
 * every connection is closed or the time is over. Meanwhile, it responds to requests, and each response announces the
 * end of its connection. Without the drain time, a request fails if it arrives while its idle connection is being
 * closed. Call this function after all other `preClose` hooks are added.
 * @param drainMs maximum time, in milliseconds; at most 8 s are used
 */
export function drainConnectionsWhenClosing(fastify: FastifyInstance, drainMs: number): void {
  const { server } = fastify;
  fastify.addHook('preClose', (done) => {
    if (!server.listening) return done();
    const timer = setTimeout(finishServerClosing, Math.min(drainMs, SHUTDOWN_CLIENT_GRACE_MS));
    function finishServerClosing(): void {
      clearTimeout(timer);
      server.off('close', finishServerClosing);
      done();
    }
    server.once('close', finishServerClosing);
    // Call `close` of the TCP server, because `close` of the HTTP server would also end idle connections.
    Server.prototype.close.call(server);
  });
}

function isHttpRequestHandlerRunning(exchange: LatestConnectionRequestAndResponse | undefined): boolean {
  return exchange !== undefined && exchange.request.complete && !exchange.response.headersSent;
}
