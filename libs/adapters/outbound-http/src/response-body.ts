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

/** Kept of an answer's body, after decompression. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * Most compressed bytes read. No coding needs more for `MAX_BODY_BYTES` of output: incompressible data is stored as it is, with
 * a few bytes of header.
 */
const MAX_COMPRESSED_BYTES = MAX_BODY_BYTES + 1024;

type Coding = 'gzip' | 'deflate' | 'br' | 'identity' | 'unknown';

/** The beginning of an answer's body: never more than the limit in memory, whatever the receiver sends or declares. */
export class ResponseBody {
  readonly #coding: Coding;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(contentEncoding: string | undefined) {
    this.#coding = parseCoding(contentEncoding);
    this.#limit = this.#coding === 'identity' ? MAX_BODY_BYTES : MAX_COMPRESSED_BYTES;
  }

  /** Whether there is more than is kept: nothing further need be read. */
  get isFull(): boolean {
    return this.#size > this.#limit;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /**
   * What is kept, as text: at once unless it was compressed. What a broken stream gave until it broke; nothing where the
   * coding is not known. Never rejects.
   */
  text(): string | Promise<string> {
    const [first] = this.#chunks;
    if (first === undefined || this.#coding === 'unknown') return '';
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    return this.#coding === 'identity' ? bytes.toString('utf8', 0, MAX_BODY_BYTES) : inflate(bytes, this.#coding);
  }
}

function parseCoding(contentEncoding: string | undefined): Coding {
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

/** Stops at the first full chunk of output, which is as long as the limit: a bomb never unfolds. */
function inflate(bytes: Buffer, coding: 'gzip' | 'deflate' | 'br'): Promise<string> {
  return new Promise((resolve) => {
    const stream = createDecoder(bytes, coding);
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

function createDecoder(bytes: Buffer, coding: 'gzip' | 'deflate' | 'br'): Gunzip | BrotliDecompress {
  // The final flush makes a stream that was cut short give what it has.
  if (coding === 'br')
    return createBrotliDecompress({ chunkSize: MAX_BODY_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH });
  const options = { chunkSize: MAX_BODY_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip') return createGunzip(options);
  // "deflate" is the zlib format (RFC 9110, section 8.4.1.2), but some send it bare: the first byte tells.
  return ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options);
}

export type ReceivedHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * Headers that frame the message, name the host or control the connection. Callers cannot set them: owners of endpoints
 * choose headers, and a `Host` of theirs would also choose the name that the certificate is checked against.
 */
const OWN_HEADERS = new Set([
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

/** Kept of an answer; the parser bounds their size to 16 KiB in all. */
const MAX_HEADERS = 64;

/** Names and values in turn, as undici takes them fastest. Headers that are ours to set are left out. */
export function requestHeaders(given: Readonly<Record<string, string>>, userAgent: string): string[] {
  // The kept body is small and read by people: compression would only cost.
  const defaults: Record<string, string> = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
  const headers: string[] = [];
  for (const name in given) {
    const lowerCase = name.toLowerCase();
    if (OWN_HEADERS.has(lowerCase)) continue;
    delete defaults[lowerCase];
    headers.push(name, given[name] ?? '');
  }
  for (const name in defaults) headers.push(name, defaults[name] ?? '');
  return headers;
}

/** Names in lower case, several values of one name joined with commas. */
export function responseHeaders(received: ReceivedHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(received).slice(0, MAX_HEADERS);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
