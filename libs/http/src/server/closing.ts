import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long clients may continue to send and read, of the 20 s that a process has for its end. */
const SLOW_CLIENTS_MS = 8_000;
/** How long a client may at least read an answer that comes after that. */
const LATE_READERS_MS = 2_000;

/** The latest request of a connection. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Ends connections with the server. An answer to what was in flight when the close began says that its connection ends: kept
 * alive, it would hold the close up. A client that still sends or reads after a while would do so too, and is cut off. A
 * request that is complete and not answered yet is left to be answered: its calls have deadlines of their own.
 */
export function endConnectionsWhenClosing(fastify: FastifyInstance): void {
  const connections = new Map<Socket, Exchange | undefined>();
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;

  /** @param isSlow applies to connections on which this process does nothing */
  const cut = (isSlow: (socket: Socket) => boolean) => {
    const waiting = new Set([...connections].flatMap(([socket, exchange]) => (isWorkedOn(exchange) ? [] : [socket])));
    for (const socket of waiting) if (isSlow(socket)) socket.destroy();
    timer = setTimeout(() => cut((socket) => waiting.has(socket)), LATE_READERS_MS).unref();
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
    timer = setTimeout(() => cut(() => true), SLOW_CLIENTS_MS).unref();
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

function isWorkedOn(exchange: Exchange | undefined): boolean {
  return exchange !== undefined && exchange.request.complete && !exchange.response.headersSent;
}
