import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createInvalidRequestError, RequestError } from '../errors/request-error.ts';
import {
  decodeBase64,
  decodeBase64Text,
  isBase64TransferEncoding,
  createMalformedFormError,
  observeFormPartHeaders,
  type PartHeaders,
  parseExtendedFileName,
} from './form-parts.ts';
import { ANY_MEDIA_TYPE, type BodyKind, type BodyTimeLimits, findContentEncodingError } from './route-bodies.ts';

import busboy, { type BusboyInstance } from '@fastify/busboy';

/** Maximum number of bytes of a form field. No valid field is longer. */
const MAX_FORM_FIELD_BYTES = 8_192;
const MAX_FORM_PARTS = 50;
/**
 * Maximum number of bytes of a form part's headers. A file name that is truncated here exceeds the file name limit
 * anyway.
 */
const MAX_PART_HEADER_BYTES = 16_384;
/** Number of characters of a field name that an error quotes. */
const MAX_QUOTED_NAME_CHARS = 200;

/** The file of a form, while it is received. */
export interface FormFile {
  /** Bytes of the file, which can be iterated once. The iteration throws if the form ends early. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** File name sent by the client, from `filename*` if it is present; undefined if there is none. */
  readonly name: string | undefined;
  /** Media type sent by the client; undefined if there is none. */
  readonly mediaType: string | undefined;
}

interface UploadFormReadingOptions {
  /** Name of the form field with the file. */
  readonly fileField: string;
  readonly time: BodyTimeLimits;
  /** Stores the file. If it throws, the form is refused. */
  readonly take: (file: FormFile) => Promise<unknown>;
}

/**
 * Reads a `multipart/form-data` body as a stream, with parts in any order. Returns the texts of the fields by name, and
 * the result of `take` under the name of the file. If this function throws, `take` has already ended.
 * @throws RequestError `malformed_multipart`, `validation_failed`, `limit_exceeded`, `request_timeout`,
 *   `body_too_large`; the error of `take`
 */
export async function readForm(
  request: FastifyRequest,
  options: UploadFormReadingOptions,
): Promise<Readonly<Record<string, unknown>>> {
  if (request.body === undefined || request.body === null) return {};
  return new FormReader(createFormParser(request), options).readForm(readBodyChunks(request, options.time));
}

function createFormParser({ headers }: FastifyRequest): BusboyInstance {
  const limits = {
    parts: MAX_FORM_PARTS,
    fieldSize: MAX_FORM_FIELD_BYTES,
    headerSize: MAX_PART_HEADER_BYTES,
    headerPairs: 100,
  };
  const type = String(headers['content-type']);
  try {
    return new busboy.Busboy({
      headers: { 'content-type': type },
      limits,
      preservePath: true,
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    });
  } catch {
    throw createMalformedFormError('the Content-Type has no boundary');
  }
}

class FormReader {
  private readonly parts = new Map<string, unknown>();
  private readonly failure = Promise.withResolvers<never>();
  private file: Readable | undefined;
  private partHeaders: PartHeaders = {};
  private taking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly parser: BusboyInstance,
    private readonly options: UploadFormReadingOptions,
  ) {
    // Avoid an unhandled rejection: `readForm` awaits the promise later.
    this.failure.promise.catch(() => undefined);
    observeFormPartHeaders(parser, (headers) => (this.partHeaders = headers));
    parser.on('field', (...[name, value, , isCut, encoding]) =>
      this.rejectFormOnThrow(() =>
        this.storeOrRefuseFormField(unescapeFormPartName(name), decodeFormField(value, encoding), isCut),
      ),
    );
    parser.on('file', (...[name, bytes, fileName, encoding, mediaType]) => {
      const { partHeaders } = this;
      // Add an error listener: an unread file has none, and an unhandled error ends the process.
      bytes.on('error', () => undefined);
      this.file ??= bytes;
      this.rejectFormOnThrow(() =>
        this.handleFormPart({
          name: unescapeFormPartName(name),
          fileName: parseExtendedFileName(partHeaders) ?? unescapeFormPartName(fileName),
          // The parser assumes `text/plain` if a part has no type.
          mediaType: partHeaders['content-type'] && mediaType,
          bytes,
          isBase64: isBase64TransferEncoding(encoding),
        }),
      );
    });
    parser.on('error', () =>
      this.failure.reject(createMalformedFormError('the form is incomplete, or does not match the boundary')),
    );
    parser.on('partsLimit', () => {
      this.failure.reject(new RequestError('limit_exceeded', `A form may have at most ${MAX_FORM_PARTS} parts.`));
    });
  }

  async readForm(body: AsyncIterable<Buffer>): Promise<Readonly<Record<string, unknown>>> {
    try {
      const finished = once(this.parser, 'finish');
      finished.catch(() => undefined);
      await this.rejectIfFormReadingFails(this.writeBodyToParser(body));
      await this.rejectIfFormReadingFails(rejectAfterTimeout(finished, this.options.time.idleMs));
      await this.taking;
      return Object.fromEntries([...this.parts].sort(([a], [b]) => (a < b ? -1 : 1)));
    } catch (error) {
      this.file?.destroy(error as Error);
      await this.taking.catch(() => undefined);
      throw error;
    }
  }

  private async writeBodyToParser(body: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of body) {
      if (!this.parser.write(piece)) await this.rejectIfFormReadingFails(once(this.parser, 'drain'));
    }
    this.parser.end();
  }

  private rejectIfFormReadingFails<T>(step: Promise<T>): Promise<T> {
    return Promise.race([step, this.failure.promise]);
  }

  private storeOrRefuseFormField(name: string | undefined, value: string, isCut: boolean): void {
    if (isCut) this.refuseFormPart(name, 'too_long', 'Is too long.');
    else this.storeFormField(name, value);
  }

  private rejectFormOnThrow(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.failure.reject(error);
    }
  }

  private handleFormPart({ name, fileName, mediaType, bytes, isBase64 }: FormPart): void {
    if (name !== this.options.fileField || this.parts.has(name)) {
      bytes.resume();
      this.storeFormField(name, '');
      return;
    }
    this.file = bytes;
    this.parts.set(name, undefined);
    const content = isBase64 ? decodeBase64(bytes) : bytes;
    this.taking = this.options
      .take({ bytes: content, name: fileName, mediaType })
      .then((taken) => this.parts.set(name, taken));
    this.taking.catch((error: unknown) => this.failure.reject(error));
  }

  private storeFormField(name = '', value: string): void {
    if (this.parts.has(name)) this.refuseFormPart(name, 'invalid_value', 'Must be given only once.');
    else this.parts.set(name, value);
  }

  private refuseFormPart(name = '', code: 'too_long' | 'invalid_value', message: string): void {
    this.failure.reject(createInvalidRequestError([{ param: name.slice(0, MAX_QUOTED_NAME_CHARS), code, message }]));
  }
}

/**
 * Characters that browsers escape in names of fields and files:
 * https://html.spec.whatwg.org/#multipart/form-data-encoding-algorithm
 */
const BROWSER_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Reverts the escapes that browsers put into names. Any other `%` is part of the name. */
function unescapeFormPartName(name: string | undefined): string | undefined {
  return name?.replaceAll(/%(?:22|0D|0A)/g, (escape) => BROWSER_ESCAPES[escape] ?? escape);
}

/** @throws RequestError `malformed_multipart` */
function decodeFormField(value: string, transferEncoding: string): string {
  return isBase64TransferEncoding(transferEncoding) ? decodeBase64Text(value) : value;
}

interface FormPart {
  readonly name: string | undefined;
  readonly fileName: string | undefined;
  readonly mediaType: string | undefined;
  readonly bytes: Readable;
  readonly isBase64: boolean;
}

/** Body kind of a form with a file, which `readForm` reads. */
export const FORM_BODY_KIND = createStreamedBodyKind('multipart/form-data');
/** Body kind of a file of any media type. */
export const FILE_BODY_KIND = createStreamedBodyKind(ANY_MEDIA_TYPE);

function createStreamedBodyKind(mediaType: string): BodyKind {
  return {
    mediaType,
    streams: true,
    addBodyParser(fastify: FastifyInstance): void {
      fastify.addContentTypeParser(mediaType, ({ headers }, payload, done) => {
        const refused = findContentEncodingError(headers);
        if (refused) done(refused);
        else done(null, payload);
      });
    },
  };
}

/**
 * Yields the bytes of a request's body as they arrive. The body can be iterated once and is read on demand.
 * @throws RequestError `request_timeout`, `body_too_large`; the error of the connection if the client disconnects
 */
export async function* readBodyChunks(
  { raw, body, routeOptions }: FastifyRequest,
  time: BodyTimeLimits,
): AsyncGenerator<Buffer> {
  if (body === undefined || body === null) return;
  const limit = routeOptions.bodyLimit ?? 0;
  const pieces = raw.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const deadline = performance.now() + time.overallMs;
  let total = 0;
  for (;;) {
    const piece = await rejectAfterTimeout(pieces.next(), Math.min(time.idleMs, deadline - performance.now()));
    if (piece.done === true) return;
    total += piece.value.length;
    if (total > limit) throw new RequestError('body_too_large', `The body is larger than ${limit} bytes.`);
    yield piece.value;
  }
}

/** @throws RequestError `request_timeout` */
export async function rejectAfterTimeout<T>(coming: Promise<T>, ms: number): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const late = new RequestError('request_timeout', 'The body did not arrive in time.');
  // Stop the timer from keeping the process alive if the body is no longer read.
  const timer = setTimeout(() => reject(late), Math.max(0, ms)).unref();
  try {
    return await Promise.race([coming, over]);
  } finally {
    clearTimeout(timer);
  }
}
