import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Calls back once the answer is sent, or its client has gone. Call it when the answer is about to be sent.
 *
 * Fastify's `onResponse` is not enough: it does not run if the client resets the connection while the answer is sent.
 */
export function whenSent({ raw }: FastifyRequest, reply: FastifyReply, end: () => void): void {
  // The response may have had its `close` event already.
  if (raw.socket.destroyed) end();
  else reply.raw.once('close', end);
}
