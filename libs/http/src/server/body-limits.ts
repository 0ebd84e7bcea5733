import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Busy } from '@tracking/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { whenSent } from './answers-under-way.ts';
import { JSON_LIMIT } from './json-body.ts';
import { hasBody, MIB } from './route-bodies.ts';

/** Bytes of bodies larger than a usual one that are held at a time; each takes several times its size while it is read. */
const AT_ONCE = 48 * MIB;
/** What is held of a body that is streamed: what the socket, its reader and the judgement of a file keep. */
const OF_STREAM = (3 / 4) * MIB;
/** The part of them that one workspace may hold: while it sends slowly, others still send theirs. */
const SHARE = 1 / 2;

interface HeldBody {
  readonly bytes: number;
  /** Of whoever sends it. */
  readonly workspace: string | undefined;
}

/** Refuses large bodies while many of them are held already. Runs before a body is read, for whoever may send one. */
export function boundLargeBodies(fastify: FastifyInstance, atOnce = AT_ONCE): void {
  const held = new Map<string, HeldBody>();
  fastify.addHook('onRequest', (request, _reply, done) => {
    const body = {
      bytes: bytesOf(request),
      workspace: request.principal?.workspace_id ?? request.upload?.workspace_id,
    };
    if (body.bytes === 0 || (body.bytes <= JSON_LIMIT && !isStreamed(request))) {
      done();
      return;
    }
    const all = [...held.values(), body];
    const own = all.filter(({ workspace }) => workspace === body.workspace);
    if (total(all) > atOnce || total(own) > atOnce * SHARE) {
      done(new Busy('gateway', 'many large bodies are held already'));
      return;
    }
    held.set(request.id, body);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (held.has(request.id)) whenSent(request, reply, () => held.delete(request.id));
    done(null, payload);
  });
}

function total(bodies: readonly HeldBody[]): number {
  return bodies.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** As its client tells, else as many as the route takes. */
function bytesOf({ headers, routeOptions }: FastifyRequest): number {
  if (!hasBody(headers)) return 0;
  const limit = isStreamed({ routeOptions }) ? OF_STREAM : (routeOptions.config.body?.limit ?? 0);
  return Math.min(limit, Number(headers['content-length'] ?? limit));
}

function isStreamed({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean {
  return routeOptions.config.body?.kind.streams === true;
}

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
