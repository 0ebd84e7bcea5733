import { applyDecorators, Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { WorkspaceScope, ShipmentDocument, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  RequestBodyValidationPipe,
  InjectCommandContext,
  formatEtag,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  type RequestBodyWithWarnings,
  DeclareErrorResponse,
  InjectRequestBody,
  reportChangeForAudit,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import { SHIPMENT_ETAG_DESCRIPTION, SHIPMENTS_INJECTION_TOKEN } from '@tracking/shipments-http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DOCUMENT_ID_PIPE, type ShipmentAndDocumentIds, DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';
import { DocumentResource, DocumentWrittenResource, RejectDocumentDto } from './document.resource.ts';

const DeclareDocumentIdParameter = (): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', description: 'Id of the document, `doc_…`.' }),
    DeclareErrorResponse(404, 'No such document in this workspace and environment.'),
  );

/** Routes of one document: read, upload, approve or reject, and delete. */
@ApiTags('Documents')
@Controller('v1/documents/:id')
export class DocumentController {
  constructor(
    @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
  ) {}

  @Get()
  @DeclareApiOperation('getDocument', {
    summary: 'Get a document',
    description: 'The ETag is the ETag of the shipment.',
    conditional: 'read',
    readsYourWrites: true,
  })
  @DeclareDocumentIdParameter()
  @ApiResponse({ status: 200, description: 'The document.', type: DocumentResource })
  async getDocument(
    @Param('id', DOCUMENT_ID_PIPE) { document_id }: ShipmentAndDocumentIds,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentDocument> {
    const { document, shipment_version } = await this.documents.readDocumentFromStream(request, document_id);
    reply.header('ETag', formatEtag(shipment_version));
    return this.documents.convertToDocumentResource(document);
  }

  @Post('complete')
  @HttpCode(200)
  @DeclareApiOperation('completeUpload', {
    summary: 'Complete an upload',
    description: `The uploaded file must have the announced size and checksum; otherwise the document stays pending and the file can be uploaded again. ${SHIPMENT_ETAG_DESCRIPTION}`,
    conditional: 'write',
  })
  @DeclareDocumentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'The document, even if it was complete before.',
    type: DocumentWrittenResource,
  })
  @DeclareErrorResponse(409, 'The file was not uploaded or is lost, or the document no longer accepts uploads.')
  async completeUpload(
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @Param('id', DOCUMENT_ID_PIPE) ids: ShipmentAndDocumentIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const lost_object_id = await this.findLostObject(reply.request, command, ids);
    const written = await this.shipments.completeUpload({ ...command, ...ids, lost_object_id });
    return this.responder.respondToWrite(reply, ignored, this.documents.toWrittenResource(written));
  }

  @Post('approve')
  @HttpCode(200)
  @DeclareApiOperation('approveDocument', {
    summary: 'Approve a document',
    description: `The first review decision is final. ${SHIPMENT_ETAG_DESCRIPTION}`,
    conditional: 'write',
  })
  @DeclareDocumentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'The document, even if it was approved before.',
    type: DocumentWrittenResource,
  })
  @DeclareErrorResponse(409, 'The document is rejected, or has no file.')
  async approveDocument(
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @Param('id', DOCUMENT_ID_PIPE) ids: ShipmentAndDocumentIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const written = await this.shipments.approveDocument({ ...command, ...ids });
    return this.responder.respondToWrite(reply, ignored, this.documents.toWrittenResource(written));
  }

  @Post('reject')
  @HttpCode(200)
  @DeclareApiOperation('rejectDocument', {
    summary: 'Reject a document',
    description: `The first review decision is final. To replace the document, upload another one with \`replaces_document_id\`. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: RejectDocumentDto,
    conditional: 'write',
  })
  @DeclareDocumentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'The document, even if it was rejected before.',
    type: DocumentWrittenResource,
  })
  @DeclareErrorResponse(409, 'The document is approved, or has no file.')
  async rejectDocument(
    @InjectRequestBody(new RequestBodyValidationPipe(RejectDocumentDto, DocumentWrittenResource))
    sent: RequestBodyWithWarnings<RejectDocumentDto>,
    @Param('id', DOCUMENT_ID_PIPE) ids: ShipmentAndDocumentIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const written = await this.shipments.rejectDocument({ ...command, ...ids, reason: sent.value.reason });
    return this.responder.respondToWrite(reply, sent.warnings, this.documents.toWrittenResource(written));
  }

  @Delete()
  @DeclareApiOperation('deleteDocument', {
    summary: 'Delete a document',
    description: SHIPMENT_ETAG_DESCRIPTION,
    conditional: 'write',
    readsYourWrites: true,
  })
  @DeclareDocumentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'The document, even if it was deleted before. Its file is destroyed, and its data stay.',
    type: DocumentWrittenResource,
  })
  @RecordInAuditLog('document.deleted')
  async deleteDocument(
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @Param('id', DOCUMENT_ID_PIPE) ids: ShipmentAndDocumentIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const { request } = reply;
    const before = await this.documents.readDocumentFromStream(request, ids.document_id);
    const written = await this.shipments.deleteDocument({ ...command, ...ids });
    const { document, object_id } = written.answer;
    reportChangeForAudit(request, { before: before.document, after: document }, document.id);
    if (object_id !== null) await this.storage.deleteStoredObjectOrLog(request, object_id);
    return this.responder.respondToWrite(reply, ignored, this.documents.toWrittenResource(written));
  }

  /**
   * Returns the id of uploaded bytes that no longer exist, which happens if a sweep with a wrong clock deleted the
   * bytes of a pending document as orphans.
   */
  private async findLostObject(
    request: FastifyRequest,
    scope: WorkspaceScope,
    { document_id }: ShipmentAndDocumentIds,
  ): Promise<string | null> {
    const { workspace_id, environment } = scope;
    const found = await this.shipments.getDocument({ workspace_id, environment, document_id });
    const came = found?.received_object_id ?? null;
    if (came === null || (await this.storage.hasObject(came))) return null;
    this.storage.logMissingDocumentBytes(request, came);
    return came;
  }
}
