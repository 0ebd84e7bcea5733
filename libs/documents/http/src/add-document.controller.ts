import { Controller, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { DOCUMENT_LIMITS } from '@tracking/contracts';
import type { ShipmentDocument } from '@tracking/contracts';
import { BodyPipe, Command, Operation, SentBody, WriteResponder, refusal, sizeOf } from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import { SHIPMENTS, SHIPMENT_ID } from '@tracking/shipments-http';
import type { FastifyReply } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';
import { AddDocumentDto, DocumentWrittenResource } from './document.resource.ts';
import { DOCUMENT_FORM } from './receive-forms.ts';

/** Takes a document with its file, in one request. */
@ApiTags('Documents')
@Controller('v1/shipments/:id/documents')
export class AddDocumentController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
  ) {}

  @Post()
  @Operation('addDocument', {
    summary: 'Add a document with its file',
    description: `A form with the file, up to ${sizeOf(DOCUMENT_LIMITS.multipartBytes)}; larger ones are sent to a URL of their own. What it is, is judged by its content. If-Match and the ETag of the answer are those of the shipment.`,
    body: AddDocumentDto,
    takes: DOCUMENT_FORM,
    conditional: 'write',
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 201, description: 'Stored.', type: DocumentWrittenResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  @refusal(409, 'The document that it replaces was replaced already.')
  async add(
    @SentBody(new BodyPipe(AddDocumentDto, DocumentWrittenResource)) sent: ReadBody<AddDocumentDto>,
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument>> {
    const { request } = reply;
    const { type, file, replaces_document_id = null } = sent.value;
    const { fileName: file_name, object } = file;
    const about = { ...command, shipment_id, object } as const;
    request.unnamedObject = null;
    const written = await this.storage.unlessRefused(request, object.id, () =>
      this.shipments.addDocument({ ...about, document: { type, file_name, replaces_document_id } }),
    );
    // A repeat of what was carried out before: the bytes of that time are the document's.
    if (written.answer.object_id !== object.id) await this.storage.destroy(request, object.id);
    const location = `/v1/documents/${written.answer.document.id}`;
    return this.responder.respond(reply, sent.warnings, { ...this.documents.written(written), location });
  }
}
