import type { AnswerOf, ApiCaller, BodyOf, QueryOf } from './api.ts';
import type { ApiResponse, PostOptions, ReadOptions, RequestOptions, WriteOptions } from './call.ts';
import { ApiError, type ErrorCode } from './errors.ts';
import type { components } from './generated/api.ts';
import type { Progress } from './http/request.ts';
import { createIdempotencyKey } from './http/requester.ts';

/** Limits of transfers: uploads and downloads have no timeout. */
const NO_TIME_LIMITS = { timeout: 0, deadline: 0 };
/** Maximum size of a document in a single request. */
const MAX_MULTIPART_BYTES = 25 * 1_024 * 1_024;

type DocumentWritten = AnswerOf<'addDocument'>;
/** The request that uploads the bytes of a document. */
export type PresignedUpload = AnswerOf<'requestUpload'>['upload'];

export class Documents {
  constructor(private readonly api: ApiCaller) {}

  /**
   * Uploads a file in one request, or in three requests with a presigned URL if it is larger than 25 MiB. A broken
   * upload restarts from the beginning.
   * @throws InvalidRequestError `unsupported_document_type` if the content has another type
   */
  async upload(shipmentId: string, upload: DocumentUpload, options: UploadOptions = {}): Promise<DocumentWritten> {
    const { onProgress, presignedAbove = MAX_MULTIPART_BYTES, ...rest } = options;
    const whole = completeUploadFieldsFromFile(upload);
    if (whole.file.size > presignedAbove) return this.uploadFileByPresignedUrl(shipmentId, whole, options);
    const { data } = await this.api.send<DocumentWritten>(
      'addDocument',
      { id: shipmentId },
      {
        ...NO_TIME_LIMITS,
        ...rest,
        body: createDocumentUploadForm(whole),
        ...(onProgress && { onUpload: onProgress }),
      },
    );
    return data;
  }

  /**
   * Requests a URL to which another party, such as a browser, sends the bytes without a key. Call `complete` after the
   * upload.
   */
  requestUpload(shipmentId: string, upload: BodyOf<'requestUpload'>, options?: PostOptions) {
    return this.api.call('requestUpload', { path: { id: shipmentId }, body: upload }, options);
  }

  /** Sends the bytes to a presigned URL. Any client can send them, because the URL needs no credentials. */
  async put(upload: PresignedUpload, file: Blob, options: Omit<UploadOptions, 'presignedAbove'> = {}): Promise<void> {
    const { onProgress, headers, ...rest } = options;
    await this.api.requester.request({
      ...NO_TIME_LIMITS,
      ...rest,
      method: 'PUT',
      path: upload.url,
      headers: { ...headers, ...upload.headers },
      body: file,
      ...(onProgress && { onUpload: onProgress }),
    });
  }

  /**
   * Completes an upload by URL. @throws InvalidRequestError if the size or hash differs from the announced value; you
   * may then send the bytes again
   */
  complete(id: string, options?: PostOptions) {
    return this.api.call('completeUpload', { path: { id } }, options);
  }

  list(shipmentId: string, query: QueryOf<'listDocuments'> = {}, options?: RequestOptions) {
    return this.api.list('listDocuments', { path: { id: shipmentId }, query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getDocument', { path: { id } }, options);
  }

  /** Downloads a file, or a range of it, as a stream. */
  async download(id: string, options: DownloadOptions = {}): Promise<Download> {
    const { range, ifRange, onProgress, ...rest } = options;
    const answered: ApiResponse<ReadableStream<Uint8Array<ArrayBuffer>>> = await this.api.send(
      'downloadDocument',
      { id },
      {
        ...rest,
        headers: { ...rest.headers, ...createRangeHeaders(options) },
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

  /** Deletes the bytes of a document. The document itself remains, with the status `deleted`. */
  delete(id: string, options?: WriteOptions) {
    return this.api.call('deleteDocument', { path: { id } }, options);
  }

  /** Returns the document types that shipments of each mode require. */
  required(options?: ReadOptions) {
    return this.api.call('getRequiredDocuments', {}, options);
  }

  /** Returns the bytes that the documents of the workspace use, and the quota. */
  storage(options?: ReadOptions) {
    return this.api.call('getStorage', {}, options);
  }

  /**
   * Uploads a file by a presigned URL. A repeat with the same idempotency key continues with the document of the first
   * call.
   */
  private async uploadFileByPresignedUrl(
    shipmentId: string,
    upload: ReturnType<typeof completeUploadFieldsFromFile>,
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
    const idempotencyKey = given ?? createIdempotencyKey();
    const request = () =>
      this.requestUpload(shipmentId, body, { ...rest, ...(ifMatch !== undefined && { ifMatch }), idempotencyKey });
    const putOptions = { ...rest, ...(onProgress && { onProgress }) };
    const { id, upload: presigned } = await request();
    // An earlier call with the same idempotency key may have sent the bytes.
    const isPending = given === undefined || (await this.get(id, rest)).status === 'pending_upload';
    if (!isPending) return this.complete(id, rest);
    try {
      await this.put(presigned, file, putOptions);
    } catch (error) {
      // The URL expired during failed attempts. A call with the same key returns another URL for the same document.
      if (hasErrorCode(error, 'invalid_upload_url')) await this.put((await request()).upload, file, putOptions);
      // Completed by a concurrent call.
      else if (!hasErrorCode(error, 'document_not_pending')) throw error;
    }
    return this.complete(id, rest);
  }
}

function hasErrorCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof ApiError && error.code === code;
}

export type ShipmentDocument = components['schemas']['Document'];
export type DocumentType = components['schemas']['DocumentType'];
export type DocumentContentType = components['schemas']['DocumentContentType'];

/** A file and the fields of its document. */
export interface DocumentUpload {
  readonly type: DocumentType;
  readonly file: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer;
  /** Name of the file. Default: the name of the `File`. */
  readonly file_name?: string;
  /**
   * Content type. Default: the type of the `Blob` or `File`. The service rejects a type that the content does not have.
   */
  readonly content_type?: DocumentContentType;
  /** ID of the document that the new one replaces. */
  readonly replaces_document_id?: string;
  /** SHA-256 in hex. If it is omitted, a file above 25 MiB is read into memory to compute it. */
  readonly checksum_sha256?: string;
}

export interface UploadOptions extends Omit<PostOptions, 'strict'> {
  readonly onProgress?: (progress: Progress) => void;
  /** Size in bytes above which a presigned URL is used. Default and maximum: 25 MiB. */
  readonly presignedAbove?: number;
}

/** Completes the fields of an upload from its file. @throws TypeError if a required field is missing */
function completeUploadFieldsFromFile(
  upload: DocumentUpload,
): DocumentUpload & { readonly file: Blob; readonly file_name: string } {
  const given = upload.file;
  const isBlob = typeof (given as Blob).stream === 'function';
  const name = upload.file_name ?? (given as Partial<File>).name;
  if (name === undefined) throw new TypeError('file_name is required, because the file has no name.');
  const type = upload.content_type ?? (isBlob ? (given as Blob).type : '');
  const blob = isBlob ? (given as Blob) : new Blob([given as ArrayBuffer]);
  const file = blob.type === type ? blob : blob.slice(0, blob.size, type);
  return { ...upload, file, file_name: name };
}

/** Builds the multipart form. Fields precede the file, because the service checks them before the file arrives. */
function createDocumentUploadForm({
  type,
  file,
  file_name,
  replaces_document_id,
}: ReturnType<typeof completeUploadFieldsFromFile>): FormData {
  const form = new FormData();
  form.append('type', type);
  if (replaces_document_id !== undefined) form.append('replaces_document_id', replaces_document_id);
  form.append('file', file, file_name);
  return form;
}

/** Returns the SHA-256 hash of a file in hex. */
async function sha256(file: Blob): Promise<string> {
  // Browsers provide Web Crypto only on pages that use TLS.
  if (!globalThis.crypto?.subtle)
    throw new TypeError('checksum_sha256 is required, because Web Crypto is not available.');
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export interface DownloadOptions extends ReadOptions {
  /** Range of bytes from `start` to `end`, both inclusive. If `end` is absent, the range ends with the last byte. */
  readonly range?: { readonly start: number; readonly end?: number };
  /** ETag that the file must still have for the range. Otherwise the response contains the whole current file. */
  readonly ifRange?: string;
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * A download in progress. Read `stream`, or call `bytes` or `blob` to read the whole file. To stop early, call
 * `stream.cancel()`.
 */
export class Download {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Number of bytes in the response; undefined if unknown. */
  readonly size: number | undefined;
  readonly contentType: string;
  /** File name given at the upload, with an extension of the content type. Check it before you use it as a path. */
  readonly fileName: string | undefined;
  readonly etag: string | undefined;
  /**
   * Range of bytes in the response, and the size of the whole file. Undefined if the response contains the whole file.
   */
  readonly range: { readonly start: number; readonly end: number; readonly total: number } | undefined;

  constructor(
    { data, headers }: ApiResponse<ReadableStream<Uint8Array<ArrayBuffer>>>,
    onProgress?: (progress: Progress) => void,
  ) {
    const length = headers['content-length'];
    this.size = length === undefined ? undefined : Number(length);
    this.contentType = headers['content-type'] ?? 'application/octet-stream';
    this.fileName = parseContentDispositionFileName(headers['content-disposition'] ?? '');
    this.etag = headers['etag'];
    const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
    this.range = total === undefined ? undefined : { start: Number(start), end: Number(end), total: Number(total) };
    this.stream = onProgress ? data.pipeThrough(createProgressStream(this.size, onProgress)) : data;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  async blob(): Promise<Blob> {
    const blob = await new Response(this.stream).blob();
    return blob.slice(0, blob.size, this.contentType);
  }
}

function createRangeHeaders({ range, ifRange }: DownloadOptions): Record<string, string> {
  return {
    ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }),
    ...(ifRange !== undefined && { 'If-Range': ifRange }),
  };
}

function createProgressStream(total: number | undefined, onProgress: (progress: Progress) => void) {
  let loaded = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      loaded += chunk.length;
      onProgress({ loaded, total });
      controller.enqueue(chunk);
    },
  });
}

/**
 * Returns the file name of a Content-Disposition header. The extended file name takes precedence over the plain one
 * (RFC 6266).
 */
function parseContentDispositionFileName(disposition: string): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    // Use the plain one.
  }
  return quoted?.replaceAll(/\\(.)/g, '$1');
}
