import { Controller, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { DOCUMENT_LIMITS } from '@tracking/contracts';
import type { ShipmentDocument } from '@tracking/contracts';
import { BodyPipe, Command, Operation, RequestError, SentBody, WriteResponder, refusal, sizeOf } from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import { SHIPMENTS, SHIPMENT_ID } from '@tracking/shipments-http';
import type { FastifyReply } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DocumentReader } from './document-reader.ts';
import { DocumentUploadResource, RequestUploadDto } from './document.resource.ts';
import { UploadUrls } from './upload-urls.ts';
import type { Upload } from './upload-urls.ts';

/** Makes documents whose bytes come later, to a URL of their own. */
@ApiTags('Documents')
@Controller('v1/shipments/:id/documents/uploads')
export class UploadsController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(UploadUrls) private readonly uploads: UploadUrls,
  ) {}

  @Post()
  @Operation('requestUpload', {
    summary: 'Get a URL to send a large file to',
    description: `For a file of up to ${sizeOf(DOCUMENT_LIMITS.presignedBytes)}: \`PUT\` its bytes to \`upload.url\`, which needs no key and lives 15 minutes, then \`POST /v1/documents/{id}/complete\`. What is not complete after 24 hours expires. A repeat under the same Idempotency-Key gets the same document with a URL of its own. If-Match and the ETag of the answer are those of the shipment.`,
    body: RequestUploadDto,
    conditional: 'write',
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 201, description: 'The document, and how to send its bytes.', type: DocumentUploadResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  @refusal(409, 'The document that it replaces was replaced already.')
  async request(
    @SentBody(new BodyPipe(RequestUploadDto, DocumentUploadResource)) sent: ReadBody<RequestUploadDto>,
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentDocument> & { readonly upload: Upload }> {
    const document = { ...sent.value, replaces_document_id: sent.value.replaces_document_id ?? null };
    requireSize(document.size_bytes);
    const written = await this.shipments.requestUpload({ ...command, shipment_id, document });
    const location = `/v1/documents/${written.answer.document.id}`;
    const body = await this.responder.respond(reply, sent.warnings, { ...this.documents.written(written), location });
    // A repeat gets the same document and a URL that is signed again.
    reply.request.keepsAnswer = false;
    return { ...body, upload: this.uploads.issue(written.answer.document, command) };
  }
}

/** @throws RequestError `body_too_large` */
function requireSize(bytes: number): void {
  if (bytes <= DOCUMENT_LIMITS.presignedBytes) return;
  const message = `A document has at most ${sizeOf(DOCUMENT_LIMITS.presignedBytes)}.`;
  throw new RequestError('body_too_large', message, [{ param: 'size_bytes', code: 'invalid_value', message }]);
}
