import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { hasBody } from './route-bodies.ts';

/** A body that is read whole must have come by then: a client that drips it holds no connection longer. */
const BODY_MS = 60_000;
/** What a client goes on to send after it was answered is thrown away for so long: many read no answer before. */
const REST_MS = 10_000;
/** The longest that any route waits for a body. */
export const LONGEST_BODY_MS = 60 * 60_000;

/**
 * Ends the wait for bodies. Of one that is streamed, its reader tells how long it waits; here only what comes after the
 * answer is bounded.
 * @param late answers on the bare socket and closes it
 */
export function boundBodyTimes(fastify: FastifyInstance, late: (socket: Duplex) => void): void {
  fastify.addHook('onRequest', ({ raw, headers, routeOptions }, reply, done) => {
    if (hasBody(headers) && routeOptions.config?.body?.kind.streams !== true) {
      const timer = setTimeout(() => {
        if (raw.complete) return;
        if (reply.raw.headersSent) raw.destroy();
        else late(raw.socket);
      }, BODY_MS).unref();
      raw.once('close', () => clearTimeout(timer));
    }
    done();
  });
  fastify.addHook('onResponse', ({ raw, routeOptions }, _reply, done) => {
    if (routeOptions.config?.body?.kind.streams === true && !raw.destroyed) {
      const timer = setTimeout(() => !raw.complete && raw.destroy(), REST_MS).unref();
      raw.once('close', () => clearTimeout(timer));
      // Whoever stopped in the middle of it listens still.
      raw.removeAllListeners('readable');
      setImmediate(() => raw.resume());
    }
    done();
  });
}
