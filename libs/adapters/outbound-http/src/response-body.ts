import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Gunzip,
} from 'node:zlib';
import type { Dispatcher } from 'undici';

/** Maximum bytes of an answer's body that are kept, after decompression. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * Maximum compressed bytes that the client reads. No coding needs more for `MAX_BODY_BYTES` of output: incompressible
 * data is stored unchanged, with a few bytes of header.
 */
const MAX_COMPRESSED_BYTES = MAX_BODY_BYTES + 1024;

type Coding = 'gzip' | 'deflate' | 'br' | 'identity' | 'unknown';

/** Beginning of an answer's body. It never holds more than the limit in memory, whatever the receiver sends. */
export class LimitedResponseBody {
  readonly #coding: Coding;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(contentEncoding: string | undefined) {
    this.#coding = parseContentEncoding(contentEncoding);
    this.#limit = this.#coding === 'identity' ? MAX_BODY_BYTES : MAX_COMPRESSED_BYTES;
  }

  /** True if the body is longer than the limit, so that reading can stop. */
  get isFull(): boolean {
    return this.#size > this.#limit;
  }

  addBodyChunk(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /**
   * Returns the kept part as text, synchronously unless it was compressed. A broken stream yields the part before the
   * error; an unknown content coding yields an empty text. Never rejects.
   */
  decodeText(): string | Promise<string> {
    const [first] = this.#chunks;
    if (first === undefined || this.#coding === 'unknown') return '';
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    return this.#coding === 'identity'
      ? bytes.toString('utf8', 0, MAX_BODY_BYTES)
      : decompressPrefix(bytes, this.#coding);
  }
}

function parseContentEncoding(contentEncoding: string | undefined): Coding {
  switch (contentEncoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return 'identity';
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
      return 'deflate';
    case 'br':
      return 'br';
    default:
      return 'unknown';
  }
}

/**
 * Decompresses data up to the limit. Decompression stops at the first full chunk of output, which is as long as the
 * limit, so that a decompression bomb does not expand.
 */
function decompressPrefix(bytes: Buffer, coding: 'gzip' | 'deflate' | 'br'): Promise<string> {
  return new Promise((resolve) => {
    const stream = createContentDecoder(bytes, coding);
    const out: Buffer[] = [];
    let size = 0;
    const finish = () => {
      stream.destroy();
      resolve(Buffer.concat(out).toString('utf8', 0, MAX_BODY_BYTES));
    };
    stream.on('data', (chunk: Buffer) => {
      out.push(chunk);
      size += chunk.length;
      if (size >= MAX_BODY_BYTES) finish();
    });
    stream.once('end', finish);
    stream.on('error', finish);
    stream.end(bytes);
  });
}

function createContentDecoder(bytes: Buffer, coding: 'gzip' | 'deflate' | 'br'): Gunzip | BrotliDecompress {
  // The final flush makes a truncated stream return its data.
  if (coding === 'br')
    return createBrotliDecompress({ chunkSize: MAX_BODY_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH });
  const options = { chunkSize: MAX_BODY_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip') return createGunzip(options);
  // "deflate" is the zlib format (RFC 9110, section 8.4.1.2), but some servers send raw deflate. The first byte shows
  // the format.
  return ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options);
}

export type ReceivedHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * Names of headers that frame the message, name the host or control the connection. Callers cannot set these headers:
 * owners of endpoints choose headers, and their `Host` would also determine the name that the certificate is checked
 * against.
 */
const FORBIDDEN_REQUEST_HEADERS = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

/** Maximum number of response headers that are kept. The parser limits their total size to 32 KiB. */
const MAX_KEPT_RESPONSE_HEADERS = 64;

/**
 * Returns the request headers as alternating names and values, undici's fastest format. Headers that callers cannot set
 * are dropped.
 */
export function createRequestHeaders(given: Readonly<Record<string, string>>, userAgent: string): string[] {
  // Receivers are asked for responses without compression, because the kept part is small and is read by people.
  const defaults: Record<string, string> = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
  const headers: string[] = [];
  for (const name in given) {
    const lowerCase = name.toLowerCase();
    if (FORBIDDEN_REQUEST_HEADERS.has(lowerCase)) continue;
    delete defaults[lowerCase];
    headers.push(name, given[name] ?? '');
  }
  for (const name in defaults) headers.push(name, defaults[name] ?? '');
  return headers;
}

/** Returns the headers with names in lower case and multiple values joined by commas. */
export function normalizeResponseHeaders(received: ReceivedHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(received).slice(0, MAX_KEPT_RESPONSE_HEADERS);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
