import type { AnswerOf, Api, BodyOf, QueryOf } from './api.ts';
import type { Answered, PostOptions, ReadOptions, RequestOptions, WriteOptions } from './call.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import type { components } from './generated/api.ts';
import type { Progress } from './http/request.ts';
import { newKey } from './http/requester.ts';

/** Bytes take as long as they take. */
const UNHURRIED = { timeout: 0, deadline: 0 };
/** Largest document that goes in one request. */
const MULTIPART_LIMIT = 25 * 1_024 * 1_024;

type DocumentWritten = AnswerOf<'addDocument'>;
/** How the bytes of a document are sent. */
export type PresignedUpload = AnswerOf<'requestUpload'>['upload'];

export class Documents {
  constructor(private readonly api: Api) {}

  /**
   * Uploads a file: in one request, or above 25 MiB by a presigned URL, in three. It is sent again from its beginning where
   * that breaks. @throws InvalidRequestError `unsupported_document_type` for what is judged to be something else
   */
  async upload(shipmentId: string, upload: DocumentUpload, options: UploadOptions = {}): Promise<DocumentWritten> {
    const { onProgress, presignedAbove = MULTIPART_LIMIT, ...rest } = options;
    const whole = described(upload);
    if (whole.file.size > presignedAbove) return this.presigned(shipmentId, whole, options);
    const { data } = await this.api.send<DocumentWritten>(
      'addDocument',
      { id: shipmentId },
      {
        ...UNHURRIED,
        ...rest,
        body: formOf(whole),
        ...(onProgress && { onUpload: onProgress }),
      },
    );
    return data;
  }

  /** Asks for the URL by which somebody else, as a browser, sends the bytes without a key. Then `complete` it. */
  requestUpload(shipmentId: string, upload: BodyOf<'requestUpload'>, options?: PostOptions) {
    return this.api.call('requestUpload', { path: { id: shipmentId }, body: upload }, options);
  }

  /** Sends the bytes to a presigned URL. It needs no credentials, so that any client can do it. */
  async put(upload: PresignedUpload, file: Blob, options: Omit<UploadOptions, 'presignedAbove'> = {}): Promise<void> {
    const { onProgress, headers, ...rest } = options;
    await this.api.requester.request({
      ...UNHURRIED,
      ...rest,
      method: 'PUT',
      path: upload.url,
      headers: { ...headers, ...upload.headers },
      body: file,
      ...(onProgress && { onUpload: onProgress }),
    });
  }

  /** @throws InvalidRequestError where size or hash are not what was told: it may be put again */
  complete(id: string, options?: PostOptions) {
    return this.api.call('completeUpload', { path: { id } }, options);
  }

  list(shipmentId: string, query: QueryOf<'listDocuments'> = {}, options?: RequestOptions) {
    return this.api.list('listDocuments', { path: { id: shipmentId }, query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getDocument', { path: { id } }, options);
  }

  /** The bytes as a stream, all or a range of them. */
  async download(id: string, options: DownloadOptions = {}): Promise<Download> {
    const { range, ifRange, onProgress, ...rest } = options;
    const answered: Answered<ReadableStream<Uint8Array<ArrayBuffer>>> = await this.api.send(
      'downloadDocument',
      { id },
      {
        ...rest,
        headers: { ...rest.headers, ...rangeHeaders(options) },
        answer: 'stream',
      },
    );
    return new Download(answered, onProgress);
  }

  approve(id: string, options?: PostOptions) {
    return this.api.call('approveDocument', { path: { id } }, options);
  }

  reject(id: string, reason: string, options?: PostOptions) {
    return this.api.call('rejectDocument', { path: { id }, body: { reason } }, options);
  }

  /** Destroys the bytes; what is known of the document stays, as `deleted`. */
  delete(id: string, options?: WriteOptions) {
    return this.api.call('deleteDocument', { path: { id } }, options);
  }

  /** Which types a shipment of each mode needs. */
  required(options?: ReadOptions) {
    return this.api.call('getRequiredDocuments', {}, options);
  }

  /** A repeat under the same key continues with the document of the first call. */
  private async presigned(
    shipmentId: string,
    upload: ReturnType<typeof described>,
    { idempotencyKey: given, ...options }: UploadOptions,
  ): Promise<DocumentWritten> {
    const { file, checksum_sha256, replaces_document_id, type, file_name } = upload;
    const { ifMatch, onProgress, presignedAbove: _, ...rest } = options;
    const body = {
      type,
      file_name,
      content_type: file.type as DocumentContentType,
      size_bytes: file.size,
      checksum_sha256: checksum_sha256 ?? (await sha256(file)),
      ...(replaces_document_id !== undefined && { replaces_document_id }),
    };
    const idempotencyKey = given ?? newKey();
    const request = () =>
      this.requestUpload(shipmentId, body, { ...rest, ...(ifMatch !== undefined && { ifMatch }), idempotencyKey });
    const putOptions = { ...rest, ...(onProgress && { onProgress }) };
    const { id, upload: presigned } = await request();
    // An earlier call under this key may have sent the bytes.
    const isPending = given === undefined || (await this.get(id, rest)).status === 'pending_upload';
    if (!isPending) return this.complete(id, rest);
    try {
      await this.put(presigned, file, putOptions);
    } catch (error) {
      // Expired while attempts failed: under the same key the same document gets another URL.
      if (isCode(error, 'invalid_upload_url')) await this.put((await request()).upload, file, putOptions);
      // Completed by a concurrent call.
      else if (!isCode(error, 'document_not_pending')) throw error;
    }
    return this.complete(id, rest);
  }
}

function isCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof ApiError && error.code === code;
}

export type ShipmentDocument = components['schemas']['Document'];
export type DocumentType = components['schemas']['DocumentType'];
export type DocumentContentType = components['schemas']['DocumentContentType'];

/** A file that becomes a document. */
export interface DocumentUpload {
  readonly type: DocumentType;
  readonly file: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer;
  /** The name of a `File` unless told. */
  readonly file_name?: string;
  /** The type of a `Blob` or `File` unless told. The service judges by content, and refuses another type. */
  readonly content_type?: DocumentContentType;
  /** The document that this one takes the place of. */
  readonly replaces_document_id?: string;
  /** SHA-256 in hex, where it is known: else a file above 25 MiB is read once more for it, in memory as a whole. */
  readonly checksum_sha256?: string;
}

export interface UploadOptions extends Omit<PostOptions, 'strict'> {
  readonly onProgress?: (progress: Progress) => void;
  /** Above so many bytes by a presigned URL: 25 MiB unless told, which is the most that goes otherwise. */
  readonly presignedAbove?: number;
}

/** The upload with all that follows from its file. @throws TypeError where something is missing */
function described(upload: DocumentUpload): DocumentUpload & { readonly file: Blob; readonly file_name: string } {
  const given = upload.file;
  const isBlob = typeof (given as Blob).stream === 'function';
  const name = upload.file_name ?? (given as Partial<File>).name;
  if (name === undefined) throw new TypeError('file_name is needed: the file has no name of its own.');
  const type = upload.content_type ?? (isBlob ? (given as Blob).type : '');
  const blob = isBlob ? (given as Blob) : new Blob([given as ArrayBuffer]);
  const file = blob.type === type ? blob : blob.slice(0, blob.size, type);
  return { ...upload, file, file_name: name };
}

/** Fields first: the service looks at them before the file arrives. */
function formOf({ type, file, file_name, replaces_document_id }: ReturnType<typeof described>): FormData {
  const form = new FormData();
  form.append('type', type);
  if (replaces_document_id !== undefined) form.append('replaces_document_id', replaces_document_id);
  form.append('file', file, file_name);
  return form;
}

/** In hex. */
async function sha256(file: Blob): Promise<string> {
  // Pages without TLS have none.
  if (!globalThis.crypto?.subtle) throw new TypeError('checksum_sha256 is needed: there is no Web Crypto here.');
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export interface DownloadOptions extends ReadOptions {
  /** Bytes, the last one included; without `end` to the last of all. */
  readonly range?: { readonly start: number; readonly end?: number };
  /** ETag: only where it is still that file, the range of it, else all of the present one. */
  readonly ifRange?: string;
  readonly onProgress?: (progress: Progress) => void;
}

/** A file on its way. Read `stream`, or all at once; what is not read is to be cancelled: `stream.cancel()`. */
export class Download {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Bytes to come. */
  readonly size: number | undefined;
  readonly contentType: string;
  /** As it was uploaded; never use it as a path as it is. */
  readonly fileName: string | undefined;
  readonly etag: string | undefined;
  /** Where a range was answered: which bytes, of how many. */
  readonly range: { readonly start: number; readonly end: number; readonly total: number } | undefined;

  constructor(
    { data, headers }: Answered<ReadableStream<Uint8Array<ArrayBuffer>>>,
    onProgress?: (progress: Progress) => void,
  ) {
    const length = headers['content-length'];
    this.size = length === undefined ? undefined : Number(length);
    this.contentType = headers['content-type'] ?? 'application/octet-stream';
    this.fileName = nameIn(headers['content-disposition'] ?? '');
    this.etag = headers['etag'];
    const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
    this.range = total === undefined ? undefined : { start: Number(start), end: Number(end), total: Number(total) };
    this.stream = onProgress ? data.pipeThrough(counting(this.size, onProgress)) : data;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  async blob(): Promise<Blob> {
    const blob = await new Response(this.stream).blob();
    return blob.slice(0, blob.size, this.contentType);
  }
}

function rangeHeaders({ range, ifRange }: DownloadOptions): Record<string, string> {
  return {
    ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }),
    ...(ifRange !== undefined && { 'If-Range': ifRange }),
  };
}

function counting(total: number | undefined, onProgress: (progress: Progress) => void) {
  let loaded = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      loaded += chunk.length;
      onProgress({ loaded, total });
      controller.enqueue(chunk);
    },
  });
}

/** The name in any script, or else the plain one (RFC 6266). */
function nameIn(disposition: string): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    // Then the plain one.
  }
  return quoted?.replaceAll(/\\(.)/g, '$1');
}
