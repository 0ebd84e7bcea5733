import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, gzipSync } from 'node:zlib';
import acceptNegotiator from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Smaller bodies fit into one packet with or without compression. */
const MIN_COMPRESSED_BYTES = 1_024;
/** Texts up to this size are compressed in less time than a thread needs to take over the work. */
const MAX_SYNC_COMPRESSION_BYTES = 65_536;
const COMPRESSIBLE_TYPE = /^(?:text\/|image\/svg\+xml|application\/(?:json|problem\+json|javascript)\b)/;

/** Encodings of responses that are compressed for each request, and of files that are compressed once. */
const COMPRESSION_ENCODINGS = ['gzip'];
const FILE_COMPRESSION_ENCODINGS = ['br', 'gzip'];
/** The fastest level: higher levels need twice the time for texts that are 5 to 10% smaller. */
const TEXT_COMPRESSION_OPTIONS = { level: constants.Z_BEST_SPEED };
/** A higher quality takes seconds for the largest file, and the first client waits for it. */
const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const gzipText = promisify<string, { level: number }, Buffer>(gzip);
const FILE_COMPRESSORS_BY_ENCODING: Readonly<Record<string, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) => promisify<Buffer, object, Buffer>(brotliCompress)(content, BROTLI_OPTIONS),
  gzip: promisify<Buffer, Buffer>(gzip),
};

/**
 * Compresses responses for clients that accept it. A response that is one text is compressed for each request. A buffer
 * is a file that all responses share, so it is compressed once per encoding. Streams are sent as they are.
 *
 * An `ETag` is the same for all encodings: clients send it back in `If-Match`, where a weak ETag never matches.
 */
export function compressResponses(fastify: FastifyInstance): void {
  const compressedFiles = new WeakMap<Buffer, Map<string, Promise<Buffer>>>();

  const compressFile = (content: Buffer, encoding: string): Promise<Buffer> => {
    const forms = compressedFiles.get(content) ?? new Map<string, Promise<Buffer>>();
    compressedFiles.set(content, forms);
    const form = forms.get(encoding) ?? FILE_COMPRESSORS_BY_ENCODING[encoding]?.(content) ?? Promise.resolve(content);
    forms.set(encoding, form);
    return form;
  };

  fastify.addHook('onSend', async (request, reply, payload) => {
    const isFile = Buffer.isBuffer(payload);
    if (!(isFile || typeof payload === 'string') || !shouldCompressResponse(reply, payload)) return payload;
    addVaryByEncoding(reply);
    const encoding = acceptNegotiator.negotiate(
      request.headers['accept-encoding'] ?? '',
      isFile ? FILE_COMPRESSION_ENCODINGS : COMPRESSION_ENCODINGS,
    );
    if (encoding === null) return payload;
    reply.header('Content-Encoding', encoding).removeHeader('Content-Length');
    if (isFile) return compressFile(payload, encoding);
    return payload.length <= MAX_SYNC_COMPRESSION_BYTES
      ? gzipSync(payload, TEXT_COMPRESSION_OPTIONS)
      : gzipText(payload, TEXT_COMPRESSION_OPTIONS);
  });
}

function shouldCompressResponse(reply: FastifyReply, payload: string | Buffer): boolean {
  return (
    payload.length >= MIN_COMPRESSED_BYTES &&
    !reply.hasHeader('Content-Encoding') &&
    COMPRESSIBLE_TYPE.test(String(reply.getHeader('Content-Type') ?? ''))
  );
}

/** Shared caches must store one response per accepted encoding. */
function addVaryByEncoding(reply: FastifyReply): void {
  const others = reply.getHeader('Vary');
  reply.header('Vary', others === undefined ? 'Accept-Encoding' : `${String(others)}, Accept-Encoding`);
}
