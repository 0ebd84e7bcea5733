import { Busy } from '@tracking/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { JSON_LIMIT } from './json-body.ts';
import { MIB } from './sizes.ts';

/** Bytes of bodies larger than a usual one that are held at a time; each takes several times its size while it is read. */
const AT_ONCE = 48 * MIB;

/** Refuses large bodies while many of them are held already. Runs before a body is read, for whoever may send one. */
export function boundLargeBodies(fastify: FastifyInstance, atOnce = AT_ONCE): void {
  const held = new Map<string, number>();
  let total = 0;
  fastify.addHook('onRequest', (request, _reply, done) => {
    const bytes = bytesOf(request);
    if (bytes > JSON_LIMIT && total + bytes > atOnce) {
      done(new Busy('gateway', 'many large bodies are held already'));
      return;
    }
    if (bytes > JSON_LIMIT) {
      held.set(request.id, bytes);
      total += bytes;
    }
    done();
  });
  // Also where its client has gone.
  fastify.addHook('onResponse', (request, _reply, done) => {
    total -= held.get(request.id) ?? 0;
    held.delete(request.id);
    done();
  });
}

/** As its client tells, else as many as the route takes. */
function bytesOf({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.config.body?.limit ?? 0;
  return Math.min(limit, Number(headers['content-length'] ?? limit));
}
