import { Readable } from 'node:stream';
import { Controller, Get, HttpCode, Inject, Param, Put, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  DOCUMENT_CONTENT_TYPES,
  DOCUMENT_LIMITS,
  type DocumentRecord,
  createDownloadName,
  isDocumentPresent,
} from '@tracking/contracts';
import {
  getCommandIdentity,
  FILE_BODY_KIND,
  readBodyChunks,
  matchesEtag,
  createNotFoundError,
  DeclareApiOperation,
  DeclareErrorResponse,
  RequestError,
  type AcceptedRouteBody,
} from '@tracking/http';
import type { FoundDocument } from '@tracking/shipments';
import { SHIPMENTS_INJECTION_TOKEN } from '@tracking/shipments-http';
import contentDisposition from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DOCUMENT_ID_PIPE, type ShipmentAndDocumentIds, DocumentReader } from './document-reader.ts';
import { type ByteRange, DocumentStorage } from './document-storage.ts';
import { UploadTokenDto } from './document.resource.ts';
import { RESERVATION_TIME_AFTER_UPLOAD_MS } from './receive-forms.ts';
import { type UploadGrant, UploadRateLimiterPerDocument } from './upload-urls.ts';

/** Milliseconds after which a client that reads nothing is disconnected. */
const MAX_DOWNLOAD_STALL_MS = 60_000;

const UPLOAD_TIME_LIMITS = { idleMs: 30_000, overallMs: 60 * 60_000 };
const UPLOAD_BODY_LIMITS: AcceptedRouteBody = {
  kind: FILE_BODY_KIND,
  limit: DOCUMENT_LIMITS.presignedBytes,
  time: UPLOAD_TIME_LIMITS,
};

const BINARY_CONTENT_SCHEMA = { schema: { type: 'string', format: 'binary' } };
const BINARY_SCHEMA_BY_MEDIA_TYPE = Object.fromEntries(
  DOCUMENT_CONTENT_TYPES.map((type) => [type, BINARY_CONTENT_SCHEMA]),
);

/** Downloads and uploads of the files of documents. */
@ApiTags('Documents')
@Controller('v1/documents/:id')
export class DocumentBytesController {
  constructor(
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
    @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(UploadRateLimiterPerDocument) private readonly throttle: UploadRateLimiterPerDocument,
  ) {}

  @Get('download')
  @DeclareApiOperation('downloadDocument', {
    summary: 'Download the file of a document',
    description:
      'Sends the file as an attachment with its name, which gets the extension of the content type if it has another one. A Range header can request one range; with several ranges the whole file is sent. The ETag identifies the content, which never changes. If the stored file turns out to be damaged, the connection ends before the last bytes.',
    conditional: 'read',
    readsYourWrites: true,
  })
  @ApiParam({ name: 'id', description: 'Id of the document, `doc_…`.' })
  @ApiHeader({
    name: 'Range',
    required: false,
    description: 'Requested bytes, for example `bytes=0-1023`, `bytes=1024-` or `bytes=-512`.',
  })
  @ApiHeader({
    name: 'If-Range',
    required: false,
    description: 'ETag of the content to which the range applies. If it does not match, the whole file is sent.',
  })
  @ApiResponse({
    status: 200,
    description: 'The file.',
    content: BINARY_SCHEMA_BY_MEDIA_TYPE,
  })
  @ApiResponse({
    status: 206,
    description: 'The requested range of the file.',
    content: BINARY_SCHEMA_BY_MEDIA_TYPE,
  })
  @DeclareErrorResponse(404, 'No such document in this workspace and environment.')
  @DeclareErrorResponse(409, 'The file was not uploaded, is deleted, or is damaged.')
  @DeclareErrorResponse(416, 'The file has no bytes in this range; `Content-Range` has its size.')
  async respondWithDocumentFile(
    @Param('id', DOCUMENT_ID_PIPE) { document_id }: ShipmentAndDocumentIds,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { document, object_id } = await this.documents.readShipmentDocumentOrThrow(request, document_id);
    const { shipment_id, checksum_sha256 } = document;
    request.resourceIds = { shipment_id, document_id };
    const etag = `"${checksum_sha256}"`;
    if (!isDocumentPresent(document) || object_id === null) throw createNoStoredBytesError(document);
    if (matchesIfNoneMatchHeader(request, etag)) {
      reply.code(304).header('ETag', etag).send();
      return;
    }
    const range = readRequestedRange(request, etag, document.size_bytes);
    const headers = createDownloadHeaders(document, range);
    if (request.method === 'HEAD') {
      // Send an empty stream for HEAD: with another payload, the framework would change `Content-Length`.
      reply.headers(headers).send(Readable.from([]));
      return;
    }
    const bytes = await this.storage.openDocumentFile(request, { document, object_id }, range);
    if (bytes === undefined) throw await this.createMissingBytesError(request, document_id);
    reply.code(range === undefined ? 200 : 206).headers(headers);
    sendDocumentBytes(reply, bytes);
  }

  @Put('content')
  @HttpCode(204)
  @DeclareApiOperation('putDocumentContent', {
    summary: 'Upload the file of a document',
    description:
      'Send the request to the `upload.url` of the response, unchanged: its token replaces other credentials. A repeated upload replaces the earlier file. Afterwards, call `POST /v1/documents/{id}/complete`.',
    query: UploadTokenDto,
    acceptedBody: UPLOAD_BODY_LIMITS,
  })
  @ApiParam({ name: 'id', description: 'Id of the document, `doc_…`.' })
  @ApiResponse({ status: 204, description: 'Stored.' })
  @DeclareErrorResponse(400, 'The file is empty, or its type is not accepted.')
  @DeclareErrorResponse(403, 'The URL was not issued for this document, or has expired.')
  @DeclareErrorResponse(404, 'No such document.')
  @DeclareErrorResponse(408, 'The upload was too slow.')
  @DeclareErrorResponse(409, 'The document is already complete, expired or deleted.')
  @DeclareErrorResponse(
    413,
    'The file is larger than announced, or another upload of the document uses the rest of the storage.',
  )
  @DeclareErrorResponse(429, 'Too many uploads of this document per minute; see Retry-After.')
  @DeclareErrorResponse(503, 'A database or message broker is unavailable or at its limit; see Retry-After.')
  @DeclareErrorResponse(507, 'The service has no disk space left for documents; see Retry-After.')
  async receiveUploadedFile(
    @Param('id', DOCUMENT_ID_PIPE) ids: ShipmentAndDocumentIds,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const grant = getUploadGrantOfRequestOrThrow(request);
    request.resourceIds = { ...ids, workspace_id: grant.workspace_id };
    await this.throttle.requireUploadsPerMinuteWithinLimit(ids.document_id);
    const { workspace_id, environment, actor } = grant;
    const scope = { workspace_id, environment };
    const found = await this.shipments.getDocument({ ...scope, document_id: ids.document_id });
    requirePendingDocument(found);
    const former = found.received_object_id;
    // Ignore an upload with the same bytes, if the stored object still exists.
    const kept_object_id = former !== null && (await this.storage.hasObject(former)) ? former : null;
    const { content_type: contentType, file_name: fileName, size_bytes } = found.document;
    const maxMs = UPLOAD_TIME_LIMITS.overallMs + RESERVATION_TIME_AFTER_UPLOAD_MS;
    const reservation = await this.storage.reserveBytesOfPendingUpload(
      workspace_id,
      ids.document_id,
      size_bytes,
      maxMs,
    );
    try {
      const object = await this.storage.storeFile(request, {
        shipmentId: ids.shipment_id,
        source: readBodyChunks(request, UPLOAD_TIME_LIMITS),
        limitBytes: grant.size_bytes,
        ...readDeclaredContentLength(request),
        hint: { contentType, fileName },
      });
      const { traceparent, id: request_id } = request;
      const by = { ...getCommandIdentity(request), ...scope, actor, request_id, traceparent, strict: false };
      const { answer } = await this.storage.runAndDestroyObjectIfRefused(request, object.id, () =>
        this.shipments.receiveUpload({ ...by, ...ids, object, kept_object_id }),
      );
      // A parallel upload may have replaced the former object, so that this one replaced another object.
      const unneeded = answer.outcome === 'unchanged' ? object.id : (answer.replaced_object_id ?? former);
      if (unneeded !== null) await this.storage.deleteStoredObjectOrLog(request, unneeded);
    } finally {
      await reservation.deleteStorageReservation();
    }
  }

  /**
   * The error for missing bytes: the document was just deleted, or was imported from events, which do not contain
   * files.
   */
  private async createMissingBytesError(request: FastifyRequest, documentId: string): Promise<Error> {
    const { document, object_id } = await this.documents.readDocumentFromStream(request, documentId);
    if (!isDocumentPresent(document)) return createNoStoredBytesError(document);
    this.storage.logMissingDocumentBytes(request, object_id);
    return new RequestError('document_not_uploaded', 'The file of the document is not stored here.');
  }
}

function createNoStoredBytesError({ status }: DocumentRecord): RequestError {
  return new RequestError('document_not_uploaded', `The document is ${status}, so it has no file to download.`);
}

function matchesIfNoneMatchHeader({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  return known !== undefined && matchesEtag(known, etag);
}

/** @throws RequestError `range_not_satisfiable` */
function readRequestedRange({ method, headers }: FastifyRequest, etag: string, size: number): ByteRange | undefined {
  const { range, 'if-range': ifRange } = headers;
  // Ignore a range whose condition is a weak tag or a date, because neither identifies the content.
  if (method !== 'GET' || range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const found = parseByteRange(range, size);
  if (found !== null) return found;
  const content = { 'Content-Range': `bytes */${size}`, 'Accept-Ranges': 'bytes' };
  throw new RequestError('range_not_satisfiable', `The file has ${size} bytes, but none in this range.`, [], content);
}

const CONTENT_HEADERS = [
  'ETag',
  'Content-Type',
  'Content-Length',
  'Content-Range',
  'Content-Disposition',
  'Accept-Ranges',
];

function createDownloadHeaders(
  document: DocumentRecord,
  range: ByteRange | undefined,
): Readonly<Record<string, string>> {
  const { content_type, size_bytes, checksum_sha256 } = document;
  const name = createDownloadName(document);
  const { start, end } = range ?? { start: 0, end: size_bytes };
  return {
    ETag: `"${checksum_sha256}"`,
    'Content-Type': content_type,
    'Content-Length': String(end - start),
    'Content-Disposition': contentDisposition(name, { type: 'attachment', fallback: toAsciiFileName(name) }),
    'Accept-Ranges': 'bytes',
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${size_bytes}` }),
  };
}

/** Returns an ASCII file name for clients that do not support `filename*`. */
function toAsciiFileName(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]/gu, '_');
}

function removeContentHeaders(reply: FastifyReply): void {
  for (const name of CONTENT_HEADERS) {
    reply.removeHeader(name);
    reply.raw.removeHeader(name);
  }
}

/**
 * Sends the bytes. The framework closes the source if the client disconnects. If the source fails, the framework sends
 * the error, or closes the connection if the response has started.
 */
function sendDocumentBytes(reply: FastifyReply, bytes: AsyncIterable<Uint8Array>): void {
  reply.raw.setTimeout(MAX_DOWNLOAD_STALL_MS, () => reply.raw.destroy());
  const guarded = async function* () {
    try {
      yield* bytes;
    } catch (error) {
      if (!reply.raw.headersSent) removeContentHeaders(reply);
      throw error;
    }
  };
  reply.send(Readable.from(guarded(), { objectMode: false }));
}

function getUploadGrantOfRequestOrThrow({ upload }: FastifyRequest): UploadGrant {
  if (upload === null) throw new Error('The upload token of this request was not checked.');
  return upload;
}

/**
 * Checks that the document waits for a file. Called before any byte is stored. @throws RequestError
 * `document_not_pending`
 */
function requirePendingDocument(found: FoundDocument | undefined): asserts found is FoundDocument {
  if (found === undefined) throw createNotFoundError('document');
  const { status } = found.document;
  if (status === 'pending_upload') return;
  throw new RequestError('document_not_pending', `The document is ${status} and does not accept uploads.`);
}

function readDeclaredContentLength({ headers }: FastifyRequest): { readonly declaredBytes?: number } {
  const length = headers['content-length'];
  return length === undefined ? {} : { declaredBytes: Number(length) };
}

const RANGE_HEADER_PATTERN = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Returns the range that a `Range` header requests; null if the file has no byte in it (416). Undefined for all bytes,
 * also if the header has several ranges or is malformed, which RFC 9110 (14.2) allows a server to ignore.
 */
export function parseByteRange(header: string, size: number): ByteRange | undefined | null {
  const [, first = '', last = ''] = RANGE_HEADER_PATTERN.exec(header) ?? [];
  if (first === '') return last === '' ? undefined : createSuffixByteRange(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : null;
}

function createSuffixByteRange(length: number, size: number): ByteRange | null {
  return length === 0 || size === 0 ? null : { start: Math.max(0, size - length), end: size };
}
