import { Controller, HttpCode, Inject, Param, Put, Req } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { DOCUMENT_LIMITS } from '@tracking/contracts';
import { FILE_KIND, Operation, RequestError, commandIdentityOf, incoming, notFound, refusal } from '@tracking/http';
import type { RouteBody } from '@tracking/http';
import type { FoundDocument } from '@tracking/shipments';
import { SHIPMENTS } from '@tracking/shipments-http';
import type { FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DOCUMENT_IDS } from './document-ids.pipe.ts';
import type { DocumentIds } from './document-ids.pipe.ts';
import { DocumentStorage } from './document-storage.ts';
import { UploadTokenDto } from './document.resource.ts';
import { UploadThrottle } from './upload-throttle.ts';
import type { UploadGrant } from './upload-urls.ts';

const TIME = { idleMs: 30_000, overallMs: 60 * 60_000 };
const CONTENT: RouteBody = { kind: FILE_KIND, limit: DOCUMENT_LIMITS.presignedBytes, time: TIME };

/** Takes the bytes of a document from whoever holds the URL that was issued for them. */
@ApiTags('Documents')
@Controller('v1/documents/:id/content')
export class ContentController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
    @Inject(UploadThrottle) private readonly throttle: UploadThrottle,
  ) {}

  @Put()
  @HttpCode(204)
  @Operation('putDocumentContent', {
    summary: 'Send the bytes of a document',
    description:
      'To the `upload.url` that was answered, as it is: its token stands for credentials. Sent again, the last bytes count; `POST /v1/documents/{id}/complete` makes the document of them.',
    query: UploadTokenDto,
    takes: CONTENT,
  })
  @ApiParam({ name: 'id', description: 'Id of the document, `doc_…`.' })
  @ApiResponse({ status: 204, description: 'Stored.' })
  @refusal(400, 'There are no bytes, or they are of no type that is accepted.')
  @refusal(403, 'The URL is not one that was issued for this document, or expired.')
  @refusal(404, 'No such document.')
  @refusal(408, 'The bytes came too slowly.')
  @refusal(409, 'It is complete, expired or deleted: no bytes are waited for.')
  @refusal(413, 'There are more bytes than were told.')
  @refusal(429, 'More uploads of this document within a minute than are taken; see Retry-After.')
  @refusal(503, 'An engine is down or at its limit; see Retry-After.')
  async put(@Param('id', DOCUMENT_IDS) ids: DocumentIds, @Req() request: FastifyRequest): Promise<void> {
    const grant = grantOf(request);
    request.about = { ...ids, workspace_id: grant.workspace_id };
    await this.throttle.upload(ids.document_id);
    const { workspace_id, environment, actor } = grant;
    const scope = { workspace_id, environment };
    const found = await this.shipments.getDocument({ ...scope, document_id: ids.document_id });
    requirePending(found);
    const former = found.received_object_id;
    // The same bytes count for nothing new only as long as those that came are there.
    const kept_object_id = former !== null && (await this.storage.has(former)) ? former : null;
    const { content_type: contentType, file_name: fileName } = found.document;
    const object = await this.storage.store({
      shipmentId: ids.shipment_id,
      source: incoming(request, TIME),
      limitBytes: grant.size_bytes,
      ...declared(request),
      hint: { contentType, fileName },
    });
    const { traceparent, id: request_id } = request;
    const by = { ...commandIdentityOf(request), ...scope, actor, request_id, traceparent, strict: false };
    const { answer } = await this.storage.unlessRefused(request, object.id, () =>
      this.shipments.receiveUpload({ ...by, ...ids, object, kept_object_id }),
    );
    const unneeded = answer.outcome === 'unchanged' ? object.id : former;
    if (unneeded !== null) await this.storage.destroy(request, unneeded);
  }
}

function grantOf({ upload }: FastifyRequest): UploadGrant {
  if (upload === null) throw new Error('nobody looked at the token');
  return upload;
}

/** Before any byte is stored. @throws RequestError `document_not_pending` */
function requirePending(found: FoundDocument | undefined): asserts found is FoundDocument {
  if (found === undefined) throw notFound('document');
  const { status } = found.document;
  if (status === 'pending_upload') return;
  throw new RequestError('document_not_pending', `It is ${status}: no bytes are waited for.`);
}

function declared({ headers }: FastifyRequest): { readonly declaredBytes?: number } {
  const length = headers['content-length'];
  return length === undefined ? {} : { declaredBytes: Number(length) };
}
