import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { hasBody } from './route-bodies.ts';

/** A body that is read whole must have come by then: a client that drips it holds no connection longer. */
const BODY_MS = 60_000;
/** How often it is looked whether one should have come. */
const LOOK_MS = 1_000;
/** What a client goes on to send after it was answered is thrown away for so long: many read no answer before. */
const REST_MS = 10_000;
const REQUEST_TIMEOUT = 408;
/** The longest that any route waits for a body. */
export const LONGEST_BODY_MS = 60 * 60_000;

/**
 * Ends the wait for bodies. Of one that is streamed, its reader tells how long it waits; here only what comes after the
 * answer is bounded.
 * @param late answers on the bare socket and closes it
 */
export function boundBodyTimes(fastify: FastifyInstance, late: (socket: Duplex) => void): void {
  const coming = new Map<IncomingMessage, { readonly until: number; readonly reply: ServerResponse }>();
  fastify.addHook('onRequest', ({ raw, headers, routeOptions }, reply, done) => {
    if (hasBody(headers) && routeOptions.config?.body?.kind.streams !== true) {
      coming.set(raw, { until: performance.now() + BODY_MS, reply: reply.raw });
    }
    done();
  });
  fastify.addHook('preValidation', ({ raw }, _reply, done) => {
    coming.delete(raw);
    done();
  });
  // One look at all of them: a timer and a listener for each took a fiftieth of a request.
  const looking = setInterval(() => {
    for (const [raw, { until, reply }] of coming) {
      const isOver = raw.complete || raw.destroyed;
      if (!isOver && until > performance.now()) continue;
      coming.delete(raw);
      if (isOver) continue;
      if (reply.headersSent) raw.destroy();
      else late(raw.socket);
    }
  }, LOOK_MS).unref();
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(looking);
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    // The client sent nothing for the whole idle time: do not wait for the rest (RFC 9110, 15.5.9).
    if (reply.statusCode === REQUEST_TIMEOUT) reply.header('Connection', 'close');
    done(null, payload);
  });
  fastify.addHook('onResponse', ({ raw, routeOptions }, reply, done) => {
    if (reply.statusCode === REQUEST_TIMEOUT) raw.socket.destroySoon();
    else if (routeOptions.config?.body?.kind.streams === true && !raw.destroyed) {
      const timer = setTimeout(() => !raw.complete && raw.destroy(), REST_MS).unref();
      raw.once('close', () => clearTimeout(timer));
      // Whoever stopped in the middle of it listens still.
      raw.removeAllListeners('readable');
      setImmediate(() => raw.resume());
    }
    done();
  });
}
