import { createHash, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { getSocketPath } from '@tracking/contracts';
import { createErrorBody, createRequestId } from '@tracking/http';
import type { FastifyInstance } from 'fastify';

/**
 * Serves the application on the administration socket of the data folder, which only this user can open. Replaces a
 * socket that a crash left behind, so the caller must hold the lock of the data folder. `app.close()` removes the socket.
 * @returns the path of the socket
 * @throws Error when the socket has to lie outside the data folder, in a folder of another user
 */
export async function serveOnAdministrationSocket(app: NestFastifyApplication, dataDir: string): Promise<string> {
  const path = getSocketPath(resolve(dataDir), tmpdir());
  const folder = dirname(path);
  if (folder !== resolve(dataDir)) await createPrivateSocketFolder(folder);
  await rm(path, { force: true });
  await app.listen(path);
  await chmod(path, 0o600);
  return path;
}

/**
 * Creates a private folder for the socket. Refuses a folder of another user, who could answer in place of this service.
 */
async function createPrivateSocketFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    throw new Error(`${folder} is needed for the administration socket and belongs to another user`);
  }
}

/**
 * Makes the operators' API part of another server: under `/administration`, for clients that send the token.
 * @returns a handler, which returns false for other paths
 */
export async function createTokenProtectedHandler(
  app: NestFastifyApplication,
  token: string,
): Promise<(request: IncomingMessage, response: ServerResponse) => boolean> {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  await fastify.ready();
  const expected = computeSha256(`Bearer ${token}`);
  return (request, response) => {
    if (!/^\/administration(?:[/?]|$)/.test(request.url ?? '')) return false;
    // Compare digests: they have equal lengths, so that the duration reveals nothing about the token.
    if (timingSafeEqual(computeSha256(request.headers.authorization ?? ''), expected)) {
      fastify.routing(request, response);
    } else {
      const id = createRequestId();
      const message = 'The token is missing or wrong: send the header Authorization: Bearer <TOKEN>.';
      response.writeHead(401, {
        'Content-Type': 'application/json; charset=utf-8',
        'WWW-Authenticate': 'Bearer',
        'Request-Id': id,
      });
      response.end(JSON.stringify(createErrorBody({ code: 'invalid_api_key', message, details: [] }, id)));
    }
    return true;
  };
}

function computeSha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
