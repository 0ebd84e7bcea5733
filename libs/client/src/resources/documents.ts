import type { AnswerOf, BodyOf, QueryOf } from '../api-types.ts';
import type { Answered } from '../call.ts';
import { Download, rangeHeaders, type DownloadOptions } from '../documents/document-download.ts';
import {
  MULTIPART_LIMIT,
  described,
  formOf,
  sha256,
  type DocumentUpload,
  type DocumentContentType,
  type UploadOptions,
} from '../documents/document-upload.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import type { Api } from '../http/api.ts';
import { newKey } from '../http/requester.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from '../options.ts';

type DocumentWritten = AnswerOf<'addDocument'>;
/** How the bytes of a document are sent. */
export type PresignedUpload = AnswerOf<'requestUpload'>['upload'];

/** Bytes take as long as they take. */
const UNHURRIED = { timeout: 0, deadline: 0 };

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
