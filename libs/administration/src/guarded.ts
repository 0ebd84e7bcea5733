import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { errorBody, newRequestId } from '@tracking/http';
import type { FastifyInstance } from 'fastify';

/**
 * The operators' API as a part of another server, under `/administration`, for whoever knows the token.
 * @returns a handler that answers false for other paths
 */
export async function guarded(
  app: NestFastifyApplication,
  token: string,
): Promise<(request: IncomingMessage, response: ServerResponse) => boolean> {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  await fastify.ready();
  const expected = digestOf(`Bearer ${token}`);
  return (request, response) => {
    if (!/^\/administration(?:[/?]|$)/.test(request.url ?? '')) return false;
    // Digests are of one length, so that the comparison tells nothing of the token.
    if (timingSafeEqual(digestOf(request.headers.authorization ?? ''), expected)) {
      fastify.routing(request, response);
    } else {
      const id = newRequestId();
      const message = 'The token is missing or wrong: send the header Authorization: Bearer <TOKEN>.';
      response.writeHead(401, {
        'Content-Type': 'application/json; charset=utf-8',
        'WWW-Authenticate': 'Bearer',
        'Request-Id': id,
      });
      response.end(JSON.stringify(errorBody({ code: 'invalid_api_key', message, details: [] }, id)));
    }
    return true;
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
