import { Busy } from '@tracking/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { whenSent } from './answer-end.ts';
import { JSON_LIMIT } from './json-body.ts';
import { hasBody } from './route-bodies.ts';
import { MIB } from './sizes.ts';

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
