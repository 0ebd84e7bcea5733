import { Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { DOCUMENT_LIMITS, type Page, type WorkspaceScope, type ShipmentDocument } from '@tracking/contracts';
import type { StorageReservation } from '@tracking/documents';
import {
  RequestBodyValidationPipe,
  InjectCommandContext,
  InjectWorkspaceScope,
  PageCursorCodec,
  DeclareApiOperation,
  readListPage,
  PageDto,
  type RequestBodyWithWarnings,
  DeclareErrorResponse,
  RequestError,
  InjectRequestBody,
  formatSize,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import {
  SHIPMENT_ETAG_DESCRIPTION,
  ApiShipmentIdParameter,
  SHIPMENT_ID_PIPE,
  ShipmentReader,
  SHIPMENTS_INJECTION_TOKEN,
} from '@tracking/shipments-http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';
import {
  AddDocumentDto,
  DocumentPageResource,
  DocumentUploadResource,
  DocumentWrittenResource,
  RequestUploadDto,
} from './document.resource.ts';
import { RESERVATION_TIME_AFTER_UPLOAD_MS, DOCUMENT_FORM_BODY_LIMITS } from './receive-forms.ts';
import { type SignedUploadUrl, UploadUrlIssuer } from './upload-urls.ts';

/** The documents of a shipment. */
@ApiTags('Documents')
@Controller('v1/shipments/:id/documents')
export class ShipmentDocumentsController {
  @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments!: DocumentsHttpDependencies['shipments'];
  @Inject(ShipmentReader) private readonly shipmentReader!: ShipmentReader;
  @Inject(DocumentReader) private readonly documents!: DocumentReader;
  @Inject(DocumentStorage) private readonly storage!: DocumentStorage;
  @Inject(UploadUrlIssuer) private readonly uploads!: UploadUrlIssuer;
  @Inject(WriteResponder) private readonly responder!: WriteResponder;
  @Inject(PageCursorCodec) private readonly cursors!: PageCursorCodec;

  @Post()
  @DeclareApiOperation('addDocument', {
    summary: 'Upload a document',
    description: `A form with the file, of up to ${formatSize(DOCUMENT_LIMITS.multipartBytes)}; use an upload URL for larger files. The media type is determined from the content. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: AddDocumentDto,
    acceptedBody: DOCUMENT_FORM_BODY_LIMITS,
    conditional: 'write',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 201, description: 'Stored.', type: DocumentWrittenResource })
  @DeclareErrorResponse(409, 'The document to replace was already replaced.')
  @DeclareErrorResponse(507, 'The service has no disk space left for documents; see Retry-After.')
  async addDocument(
    @InjectRequestBody(new RequestBodyValidationPipe(AddDocumentDto, DocumentWrittenResource))
    sent: RequestBodyWithWarnings<AddDocumentDto>,
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const { request } = reply;
    const { type, file, replaces_document_id = null } = sent.value;
    const { fileName: file_name, object } = file;
    const about = { ...command, shipment_id, object } as const;
    const reservation = takeReservationOfReceivedFile(request);
    const written = await this.storage.runWithStorageReservation(reservation, object.size_bytes, (fields) => {
      request.unnamedObject = null;
      return this.storage.runAndDestroyObjectIfRefused(request, object.id, () =>
        this.shipments.addDocument({ ...about, ...fields, document: { type, file_name, replaces_document_id } }),
      );
    });
    // Destroy the new bytes of a repeated request: the document keeps the bytes of the first attempt.
    if (written.answer.object_id !== object.id) await this.storage.deleteStoredObjectOrLog(request, object.id);
    const location = `/v1/documents/${written.answer.document.id}`;
    return this.responder.respondToWrite(reply, sent.warnings, {
      ...this.documents.toWrittenResource(written),
      location,
    });
  }

  @Post('uploads')
  @DeclareApiOperation('requestUpload', {
    summary: 'Request an upload URL for a large file',
    description: `For a file of up to ${formatSize(DOCUMENT_LIMITS.presignedBytes)}: \`PUT\` the file to \`upload.url\`, which needs no key and is valid for 15 minutes, then call \`POST /v1/documents/{id}/complete\`. A document that is not complete after 24 hours expires. A repeat with the same Idempotency-Key gets the same document with a new URL. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: RequestUploadDto,
    conditional: 'write',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 201, description: 'The document and its upload request.', type: DocumentUploadResource })
  @DeclareErrorResponse(409, 'The document to replace was already replaced.')
  async requestUpload(
    @InjectRequestBody(new RequestBodyValidationPipe(RequestUploadDto, DocumentUploadResource))
    sent: RequestBodyWithWarnings<RequestUploadDto>,
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument> & { readonly upload: SignedUploadUrl }> {
    const document = { ...sent.value, replaces_document_id: sent.value.replaces_document_id ?? null };
    requireAllowedDocumentSize(document.size_bytes);
    const reservation = await this.storage.reserveStorageBytes(
      command.workspace_id,
      0,
      RESERVATION_TIME_AFTER_UPLOAD_MS,
    );
    const written = await this.storage.runWithStorageReservation(reservation, document.size_bytes, (fields) =>
      this.shipments.requestUpload({ ...command, ...fields, shipment_id, document }),
    );
    const location = `/v1/documents/${written.answer.document.id}`;
    const body = await this.responder.respondToWrite(reply, sent.warnings, {
      ...this.documents.toWrittenResource(written),
      location,
    });
    // Do not store the response: a repeated request gets the same document with a newly signed URL.
    reply.request.storesResponse = false;
    return { ...body, upload: this.uploads.createUploadUrl(written.answer.document, command) };
  }

  @Get()
  @DeclareApiOperation('listDocuments', {
    summary: 'List the documents of a shipment, newest first',
    description: 'Documents in any status, including deleted ones.',
    query: PageDto,
    readsYourWrites: 'list',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 200, description: 'A page of documents.', type: DocumentPageResource })
  async listDocuments(
    @Param('id') id: string,
    @Query() query: PageDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<ShipmentDocument>> {
    const listing = { list: `documents of ${id}`, scope, filter: {}, sort: '-created_at' };
    return readListPage(query, listing, this.cursors, async (limit, after) => {
      const { id: shipmentId } = await this.shipmentReader.getShipment(request, id);
      return this.documents.listDocuments(request, shipmentId, { limit, after });
    });
  }
}

/** Takes over the reservation for the received file, which the command then uses or releases. */
function takeReservationOfReceivedFile(request: FastifyRequest): StorageReservation {
  const { storageReservation } = request;
  if (storageReservation === null) throw new Error('no storage was reserved for the file of the form');
  request.storageReservation = null;
  return storageReservation;
}

/** @throws RequestError `body_too_large` */
function requireAllowedDocumentSize(bytes: number): void {
  if (bytes <= DOCUMENT_LIMITS.presignedBytes) return;
  const message = `A document may have at most ${formatSize(DOCUMENT_LIMITS.presignedBytes)}.`;
  throw new RequestError('body_too_large', message, [{ param: 'size_bytes', code: 'invalid_value', message }]);
}
