import { ApiSchema } from '@nestjs/swagger';
import { DOCUMENT_CONTENT_TYPES, DOCUMENT_STATUSES, DOCUMENT_TYPES } from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'Document' })
export class DocumentResource implements wire.ShipmentDocument {
  @Shown(String, 'Service-assigned identifier.')
  readonly id!: string;
  @Shown(String, 'The shipment it belongs to.')
  readonly shipment_id!: string;
  @Shown(String, 'What it is.', { enum: [...DOCUMENT_TYPES] })
  readonly type!: wire.DocumentType;
  @Shown(
    String,
    '`pending_upload` until its bytes are complete; `expired`: they never came; `deleted`: they are gone.',
    {
      enum: [...DOCUMENT_STATUSES],
    },
  )
  readonly status!: wire.DocumentStatus;
  @Shown(String, 'As its sender calls it, in any script; without a path.')
  readonly file_name!: string;
  @Shown(String, 'As told; once the bytes were judged, what they are.', { enum: [...DOCUMENT_CONTENT_TYPES] })
  readonly content_type!: wire.DocumentContentType;
  @Shown('integer', 'Size in bytes.')
  readonly size_bytes!: number;
  @Shown(String, 'SHA-256 of the bytes, in lower-case hex.')
  readonly checksum_sha256!: string;
  @Shown(ActorResource, 'Who sent it, or asked for the URL to send it to.')
  readonly uploaded_by!: ActorResource;
  @ShownTime('When it was made.')
  readonly created_at!: string;
  @ShownTime('Since when it is whole.', { nullable: true })
  readonly uploaded_at!: string | null;
  @Shown(ActorResource, 'Who approved or rejected it.', { nullable: true })
  readonly reviewed_by!: ActorResource | null;
  @ShownTime('When it was approved or rejected.', { nullable: true })
  readonly reviewed_at!: string | null;
  @Shown(String, 'Why it was rejected.', { nullable: true })
  readonly rejection_reason!: string | null;
  @Shown(String, 'The document that it replaces.', { nullable: true })
  readonly replaces_document_id!: string | null;
  @Shown(String, 'The one that replaces it, once that is whole: it satisfies no requirement any more.', {
    nullable: true,
  })
  readonly replaced_by_document_id!: string | null;
  @Shown(String, 'Where its bytes are; null while there are none, and when they are gone.', {
    nullable: true,
    format: 'uri',
  })
  readonly download_url!: string | null;
}

@ApiSchema({ name: 'DocumentWritten' })
export class DocumentWrittenResource extends DocumentResource {
  @ShownWarnings()
  readonly warnings!: wire.Warning[];
}

@ApiSchema({ name: 'Upload' })
class UploadResource {
  @Shown(String, 'How to send the bytes.', { enum: ['PUT'] })
  readonly method!: 'PUT';
  @Shown(String, 'Where to; it needs no key. Whoever has it can send the bytes of this document, and nothing else.', {
    format: 'uri',
  })
  readonly url!: string;
  @Shown('object', 'Headers to send along.', { additionalProperties: { type: 'string' } })
  readonly headers!: Readonly<Record<string, string>>;
  @ShownTime('Until when it may be used.')
  readonly expires_at!: string;
}

@ApiSchema({ name: 'DocumentUpload' })
export class DocumentUploadResource extends DocumentWrittenResource {
  @Shown(UploadResource, 'How to send the bytes.')
  readonly upload!: UploadResource;
}

@ApiSchema({ name: 'DocumentPage' })
export class DocumentPageResource implements wire.Page<wire.ShipmentDocument> {
  @Shown([DocumentResource], 'The documents of this page.')
  readonly data!: DocumentResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
