import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import { ANY_TYPE } from './route-bodies.ts';
import type { BodyKind, BodyTime } from './route-bodies.ts';

/** A form with a file, for `readForm`. */
export const FORM_KIND = streamed('multipart/form-data');
/** The bytes of a file, whatever their sender calls them. */
export const FILE_KIND = streamed(ANY_TYPE);

function streamed(mediaType: string): BodyKind {
  return {
    mediaType,
    streams: true,
    addParser(fastify: FastifyInstance): void {
      fastify.addContentTypeParser(mediaType, ({ headers }, payload, done) => {
        const encoding = headers['content-encoding'];
        if (encoding === undefined || encoding === 'identity') done(null, payload);
        else done(new RequestError('unsupported_media_type', 'Send the body without a Content-Encoding.'));
      });
    },
  };
}

/**
 * The bytes of a request's body as they come, to be iterated once. Reads no faster than it is asked.
 * @throws RequestError `request_timeout`, `body_too_large`; where its client goes away, whatever the connection says
 */
export async function* incoming({ raw, body, routeOptions }: FastifyRequest, time: BodyTime): AsyncGenerator<Buffer> {
  if (body === undefined || body === null) return;
  const limit = routeOptions.bodyLimit ?? 0;
  const pieces = raw.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const deadline = performance.now() + time.overallMs;
  let total = 0;
  for (;;) {
    const piece = await inTime(pieces.next(), Math.min(time.idleMs, deadline - performance.now()));
    if (piece.done === true) return;
    total += piece.value.length;
    if (total > limit) throw new RequestError('body_too_large', `The body is larger than ${limit} bytes.`);
    yield piece.value;
  }
}

/** @throws RequestError `request_timeout` */
export async function inTime<T>(coming: Promise<T>, ms: number): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const late = new RequestError('request_timeout', 'The body did not arrive in time.');
  // Of a body that nobody reads any more it keeps no process.
  const timer = setTimeout(() => reject(late), Math.max(0, ms)).unref();
  try {
    return await Promise.race([coming, over]);
  } finally {
    clearTimeout(timer);
  }
}
