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
import type { Api } from '../http/api.ts';
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

  private async presigned(
    shipmentId: string,
    upload: ReturnType<typeof described>,
    { idempotencyKey, ...options }: UploadOptions,
  ): Promise<DocumentWritten> {
    const { file, checksum_sha256, replaces_document_id, type, file_name } = upload;
    const { ifMatch, onProgress, presignedAbove: _, ...rest } = options;
    const requested = await this.requestUpload(
      shipmentId,
      {
        type,
        file_name,
        content_type: file.type as DocumentContentType,
        size_bytes: file.size,
        checksum_sha256: checksum_sha256 ?? (await sha256(file)),
        ...(replaces_document_id !== undefined && { replaces_document_id }),
      },
      { ...rest, ...(ifMatch !== undefined && { ifMatch }), ...(idempotencyKey !== undefined && { idempotencyKey }) },
    );
    await this.put(requested.upload, file, { ...rest, ...(onProgress && { onProgress }) });
    return this.complete(requested.id, rest);
  }
}
