import type { FastifyInstance } from 'fastify';

/** Of the 20 s that a process has for its end: an attempt at a receiver, which ends after this, may take 10. */
const IN_FLIGHT_MS = 8_000;

/**
 * Ends connections with the server. An answer to what was in flight when the close began says that its connection ends: kept
 * alive, it would hold the close up. So would a client that sends or reads slowly: what is not over in time is cut off.
 */
export function endConnectionsWhenClosing(fastify: FastifyInstance): void {
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  fastify.addHook('preClose', (done) => {
    closing = true;
    timer = setTimeout(() => fastify.server.closeAllConnections(), IN_FLIGHT_MS).unref();
    done();
  });
  fastify.addHook('onClose', (_instance, done) => {
    clearTimeout(timer);
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('Connection', 'close');
    done(null, payload);
  });
}
