import { applyDecorators, Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Scope, ShipmentDocument, Warning } from '@tracking/contracts';
import {
  Audited,
  BodyPipe,
  Command,
  etagOf,
  NO_BODY,
  Operation,
  type ReadBody,
  refusal,
  SentBody,
  reportChange,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import { ETAG_OF_SHIPMENT, SHIPMENTS } from '@tracking/shipments-http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DOCUMENT_IDS, type DocumentIds, DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';
import { DocumentResource, DocumentWrittenResource, RejectDocumentDto } from './document.resource.ts';

const OfId = (): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', description: 'Id of the document, `doc_…`.' }),
    refusal(404, 'No such document in this workspace and environment.'),
  );

/** One document: reads, uploads, verdicts and deletion. */
@ApiTags('Documents')
@Controller('v1/documents/:id')
export class DocumentController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
  ) {}

  @Get()
  @Operation('getDocument', {
    summary: 'Get a document, whatever became of it',
    description: 'The ETag is that of the shipment.',
    conditional: 'read',
    readsYourWrites: true,
  })
  @OfId()
  @ApiResponse({ status: 200, description: 'The document.', type: DocumentResource })
  async get(
    @Param('id', DOCUMENT_IDS) { document_id }: DocumentIds,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentDocument> {
    const { document, shipment_version } = await this.documents.current(request, document_id);
    reply.header('ETag', etagOf(shipment_version));
    return this.documents.resource(document);
  }

  @Post('complete')
  @HttpCode(200)
  @Operation('completeUpload', {
    summary: 'Say that all bytes of a document were sent',
    description: `What came must have the size and the checksum that were told; else it stays pending, and the bytes can be sent again. ${ETAG_OF_SHIPMENT}`,
    conditional: 'write',
  })
  @OfId()
  @ApiResponse({
    status: 200,
    description: 'The document, also where it was complete before.',
    type: DocumentWrittenResource,
  })
  @refusal(409, 'No bytes have come, they are lost, or none are waited for any more.')
  async complete(
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Param('id', DOCUMENT_IDS) ids: DocumentIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const lost_object_id = await this.lostObject(reply.request, command, ids);
    const written = await this.shipments.completeUpload({ ...command, ...ids, lost_object_id });
    return this.responder.respond(reply, ignored, this.documents.written(written));
  }

  @Post('approve')
  @HttpCode(200)
  @Operation('approveDocument', {
    summary: 'Approve a document',
    description: `The first verdict stands. ${ETAG_OF_SHIPMENT}`,
    conditional: 'write',
  })
  @OfId()
  @ApiResponse({
    status: 200,
    description: 'The document, also where it was approved before.',
    type: DocumentWrittenResource,
  })
  @refusal(409, 'It is rejected, or has no bytes.')
  async approve(
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Param('id', DOCUMENT_IDS) ids: DocumentIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const written = await this.shipments.approveDocument({ ...command, ...ids });
    return this.responder.respond(reply, ignored, this.documents.written(written));
  }

  @Post('reject')
  @HttpCode(200)
  @Operation('rejectDocument', {
    summary: 'Reject a document',
    description: `The first verdict stands, with its reason; a better one replaces it by \`replaces_document_id\`. ${ETAG_OF_SHIPMENT}`,
    body: RejectDocumentDto,
    conditional: 'write',
  })
  @OfId()
  @ApiResponse({
    status: 200,
    description: 'The document, also where it was rejected before.',
    type: DocumentWrittenResource,
  })
  @refusal(409, 'It is approved, or has no bytes.')
  async reject(
    @SentBody(new BodyPipe(RejectDocumentDto, DocumentWrittenResource)) sent: ReadBody<RejectDocumentDto>,
    @Param('id', DOCUMENT_IDS) ids: DocumentIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const written = await this.shipments.rejectDocument({ ...command, ...ids, reason: sent.value.reason });
    return this.responder.respond(reply, sent.warnings, this.documents.written(written));
  }

  @Delete()
  @Operation('deleteDocument', {
    summary: 'Delete a document: its bytes are destroyed, what is known of it stays',
    description: ETAG_OF_SHIPMENT,
    conditional: 'write',
    readsYourWrites: true,
  })
  @OfId()
  @ApiResponse({
    status: 200,
    description: 'The document, also where it was deleted before.',
    type: DocumentWrittenResource,
  })
  @Audited('document.deleted')
  async remove(
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Param('id', DOCUMENT_IDS) ids: DocumentIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const { request } = reply;
    const before = await this.documents.current(request, ids.document_id);
    const written = await this.shipments.deleteDocument({ ...command, ...ids });
    const { document, object_id } = written.answer;
    reportChange(request, { before: before.document, after: document }, document.id);
    if (object_id !== null) await this.storage.destroy(request, object_id);
    return this.responder.respond(reply, ignored, this.documents.written(written));
  }

  /** The id of received bytes that are gone: a sweep with a wrong clock takes bytes of a pending document for orphans. */
  private async lostObject(
    request: FastifyRequest,
    scope: Scope,
    { document_id }: DocumentIds,
  ): Promise<string | null> {
    const { workspace_id, environment } = scope;
    const found = await this.shipments.getDocument({ workspace_id, environment, document_id });
    const came = found?.received_object_id ?? null;
    if (came === null || (await this.storage.has(came))) return null;
    this.storage.reportMissing(request, came);
    return came;
  }
}
