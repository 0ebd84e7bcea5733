import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import {
  DOCUMENT_CONTENT_TYPES,
  DOCUMENT_LIMITS,
  DOCUMENT_STATUSES,
  DOCUMENT_TYPES,
  type FieldError,
} from '@tracking/contracts';
import {
  ActorResource,
  fault,
  field,
  type FieldCheck,
  Id,
  inLowerCase,
  InputType,
  OneOf,
  oneOf,
  PageType,
  QueryText,
  Resource,
  Text,
  TIME,
  WithWarnings,
} from '@tracking/http';
import { ReceivedFile } from './document-storage.ts';

/** Drops the parameters of a media type. */
const mediaType = (value: unknown): unknown =>
  inLowerCase(DOCUMENT_CONTENT_TYPES)(typeof value === 'string' ? value.split(';', 1)[0]?.trim() : value);

const HEX = /^[0-9a-f]{64}$/;
const checksum: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return fault(param, 'invalid_type', 'Must be a string.');
  return HEX.test(value) ? [] : fault(param, 'invalid_value', 'Must be a SHA-256 of 64 hexadecimal digits.');
};

/** A size above the limit is refused later, with 413. */
const size: FieldCheck = (value, param) => {
  if (typeof value !== 'number') return fault(param, 'invalid_type', 'Must be a number.');
  return Number.isSafeInteger(value) && value >= 1
    ? []
    : fault(param, 'invalid_value', 'Must be a whole number from 1.');
};

const MAX_FILE_NAME = 255;

/** Control characters, line ends and marks that reverse the direction of text, which show `gpj.exe` as `exe.jpg`. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** Normalises a file name: without the path that some clients send, and composed (NFC). */
export function normaliseFileName(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [name = ''] = value.split(/[/\\]/).slice(-1);
  return name.normalize('NFC').trim();
}

/** Checks a normalised name: any script, but safe in a folder and in a header. */
export const fileName: FieldCheck = (value, param): readonly FieldError[] => {
  if (typeof value !== 'string') return fault(param, 'invalid_type', 'Must be a string.');
  if (value === '' || value === '.' || value === '..') return fault(param, 'invalid_value', 'Must name a file.');
  if ([...value].length > MAX_FILE_NAME) {
    return fault(param, 'too_long', `Must have at most ${MAX_FILE_NAME} characters.`);
  }
  const isSound = value.isWellFormed() && !UNPRINTABLE.test(value);
  return isSound ? [] : fault(param, 'invalid_value', 'Must hold no control characters nor half a surrogate pair.');
};

@ApiSchema({ name: 'Document' })
export class DocumentResource extends Resource implements wire.ShipmentDocument {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'The shipment it belongs to.' })
  readonly shipment_id!: string;
  @OneOf(DOCUMENT_TYPES, { description: 'What it is.', example: 'commercial_invoice' })
  readonly type!: wire.DocumentType;
  @ApiProperty({
    description: '`pending_upload` until its bytes are complete; `expired`: they never came; `deleted`: they are gone.',
    enum: DOCUMENT_STATUSES,
  })
  readonly status!: wire.DocumentStatus;
  @field(
    fileName,
    { description: 'What it is called, in any script; a path before it is dropped.', example: 'invoice-4711.pdf' },
    { type: String, minLength: 1, maxLength: MAX_FILE_NAME },
    { normalise: normaliseFileName },
  )
  readonly file_name!: string;
  @field(
    oneOf(DOCUMENT_CONTENT_TYPES),
    { description: 'What the bytes are; they are judged when they come.', example: 'application/pdf' },
    { type: String, enum: [...DOCUMENT_CONTENT_TYPES] },
    { normalise: mediaType },
  )
  readonly content_type!: wire.DocumentContentType;
  @field(
    size,
    { description: 'How many bytes there are.', example: 48_213 },
    { type: 'integer', minimum: 1, maximum: DOCUMENT_LIMITS.presignedBytes },
  )
  readonly size_bytes!: number;
  @field(
    checksum,
    {
      description: 'SHA-256 of the bytes, in hexadecimal digits; answers have them in lower case.',
      example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    { type: String, pattern: '^[0-9A-Fa-f]{64}$' },
    { normalise: (value) => (typeof value === 'string' ? value.toLowerCase() : value) },
  )
  readonly checksum_sha256!: string;
  @ApiProperty({ type: ActorResource, description: 'Who sent it, or asked for the URL to send it to.' })
  readonly uploaded_by!: ActorResource;
  @ApiProperty({ ...TIME, description: 'Time of creation. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ ...TIME, nullable: true, description: 'Since when it is whole. UTC with milliseconds.' })
  readonly uploaded_at!: string | null;
  @ApiProperty({ type: ActorResource, nullable: true, description: 'Who approved or rejected it.' })
  readonly reviewed_by!: ActorResource | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'When it was approved or rejected. UTC with milliseconds.' })
  readonly reviewed_at!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Why it was rejected.' })
  readonly rejection_reason!: string | null;
  @Id('doc', {
    description: 'A document of the shipment that this one takes the place of, once it is whole.',
    nullable: true,
  })
  readonly replaces_document_id!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The one that replaces it, once that is whole: it satisfies no requirement any more.',
  })
  readonly replaced_by_document_id!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Where its bytes are; null while there are none, and when they are gone.',
    format: 'uri',
  })
  readonly download_url!: string | null;
}

const file: FieldCheck = (value, param) =>
  value instanceof ReceivedFile ? [] : fault(param, 'invalid_type', 'Must be a file: a part with a filename.');

@ApiSchema({ name: 'DocumentForm' })
export class AddDocumentDto extends InputType(DocumentResource, {
  required: ['type'],
  optional: ['replaces_document_id'],
}) {
  @field(
    file,
    { description: 'The file itself, with its name. Parts may come in any order.' },
    { type: String, format: 'binary' },
  )
  readonly file!: ReceivedFile;
}

@ApiSchema({ name: 'DocumentUploadFields' })
export class RequestUploadDto extends InputType(DocumentResource, {
  required: ['type', 'file_name', 'content_type', 'size_bytes', 'checksum_sha256'],
  optional: ['replaces_document_id'],
}) {}

@ApiSchema({ name: 'DocumentRejection' })
export class RejectDocumentDto {
  @Text({
    description: 'What is wrong with it, for whoever is to send a better one.',
    example: 'Page 2 is missing.',
  })
  readonly reason!: string;
}

/** The query of an upload's URL. */
export class UploadTokenDto {
  @QueryText({ description: 'As it stands in the URL that was answered.' })
  readonly token?: string;
}

@ApiSchema({ name: 'DocumentWritten' })
export class DocumentWrittenResource extends IntersectionType(DocumentResource, WithWarnings) {}

@ApiSchema({ name: 'Upload' })
class UploadResource {
  @ApiProperty({ description: 'How to send the bytes.', enum: ['PUT'] })
  readonly method!: 'PUT';
  @ApiProperty({
    description: 'Where to; it needs no key. Whoever has it can send the bytes of this document, and nothing else.',
    format: 'uri',
  })
  readonly url!: string;
  @ApiProperty({ type: 'object', description: 'Headers to send along.', additionalProperties: { type: 'string' } })
  readonly headers!: Readonly<Record<string, string>>;
  @ApiProperty({ ...TIME, description: 'Until when it may be used. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'DocumentUpload' })
export class DocumentUploadResource extends DocumentWrittenResource {
  @ApiProperty({ type: UploadResource, description: 'How to send the bytes.' })
  readonly upload!: UploadResource;
}

@ApiSchema({ name: 'DocumentPage' })
export class DocumentPageResource extends PageType(
  DocumentResource,
  'The documents of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}
