import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';

const compressGzip = promisify(gzip);
const decompressGzip = promisify(gunzip);

/**
 * Headers that are stored with a response. A repeat gets the later of the stored and the current `Consistency-Token`.
 * Other headers describe a single request, such as its id and quota.
 */
const STORED_RESPONSE_HEADERS = ['content-type', 'location', 'etag', 'consistency-token'] as const;
/** Headers that are not sent if the response cannot be stored or is replaced. */
const HEADERS_REMOVED_FROM_REPLACED_RESPONSE = [...STORED_RESPONSE_HEADERS, 'set-cookie'] as const;

/** A response, as it was first sent. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Response body in UTF-8. */
  readonly body: string;
}

/** Encrypts stored responses. A text can be decrypted only in the context for which it was encrypted. */
export interface ResponseCipher {
  sealText(text: string, context: string): string;
  /** @throws Error if the text was changed, or was encrypted with another key or for another context */
  openText(sealed: string, context: string): string;
}

/**
 * Error statuses that are stored for repeats, because the command ran. With any other error status, the command did not
 * run.
 */
const STORED_ERROR_STATUSES: ReadonlySet<number> = new Set([404, 409, 412]);

/** Returns true if a response with this status is stored for repeats. */
export function isStatusStoredForRepeats(status: number): boolean {
  return status < 300 || STORED_ERROR_STATUSES.has(status);
}

/** Returns the response that is about to be sent, for storage. */
export function captureResponseForStorage(reply: FastifyReply, payload: unknown): StoredResponse {
  if (payload !== undefined && payload !== null && typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    throw new TypeError(
      'The response of a request with an Idempotency-Key must not be a stream, because a stream cannot be stored.',
    );
  }
  const headers: Record<string, string | string[]> = {};
  for (const name of STORED_RESPONSE_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
  }
  return { status: reply.statusCode, headers, body: payload?.toString() ?? '' };
}

/** Sets the status and headers of the reply to those of the stored response. */
export function replaceStatusAndHeaders(reply: FastifyReply, { status, headers }: StoredResponse): FastifyReply {
  return clearResponseHeaders(reply).code(status).headers(headers).header('Idempotency-Replayed', 'true');
}

/** Removes the headers of a response that is not sent. */
export function clearResponseHeaders(reply: FastifyReply): FastifyReply {
  for (const name of HEADERS_REMOVED_FROM_REPLACED_RESPONSE) reply.removeHeader(name);
  return reply;
}

/** Minimum length in characters of a response that is compressed. Shorter responses are not compressed. */
const MIN_COMPRESSED_CHARS = 64 * 1024;
/** Prefix of compressed responses. No JSON document begins with it. */
const COMPRESSED_PREFIX = 'gzip:';

/** Encrypts a response. @param claimId the only claim for which the response can be decrypted */
export async function encryptResponse(box: ResponseCipher, claimId: string, answer: StoredResponse): Promise<string> {
  const text = JSON.stringify(answer);
  if (text.length < MIN_COMPRESSED_CHARS) return box.sealText(text, claimId);
  // Compresses in a thread pool, so that the event loop is not blocked.
  const bytes = await compressGzip(text, { level: constants.Z_BEST_SPEED });
  return box.sealText(COMPRESSED_PREFIX + bytes.toString('base64'), claimId);
}

export async function decryptSealedResponse(
  box: ResponseCipher,
  claimId: string,
  sealed: string,
): Promise<StoredResponse> {
  const text = box.openText(sealed, claimId);
  if (!text.startsWith(COMPRESSED_PREFIX)) return JSON.parse(text) as StoredResponse;
  const bytes = await decompressGzip(Buffer.from(text.slice(COMPRESSED_PREFIX.length), 'base64'));
  return JSON.parse(bytes.toString()) as StoredResponse;
}
