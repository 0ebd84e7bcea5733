import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import {
  DOCUMENT_CONTENT_TYPES,
  DOCUMENT_LIMITS,
  DOCUMENT_STATUSES,
  DOCUMENT_TYPES,
  type FieldError,
} from '@tracking/contracts';
import type { StorageUsage } from '@tracking/documents';
import {
  ActorResource,
  createFieldError,
  CheckedProperty,
  type FieldCheck,
  IdProperty,
  createCaseInsensitiveEnumParser,
  DeriveRequestClassFromResource,
  EnumProperty,
  checkEnumValue,
  createPageResourceClass,
  TextQueryProperty,
  ResponseSchemaBase,
  TextProperty,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';
import { ReceivedFile } from './document-storage.ts';

const toCanonicalMediaType = createCaseInsensitiveEnumParser(DOCUMENT_CONTENT_TYPES);

/** Drops the parameters of a media type. */
const normaliseMediaType = (value: unknown): unknown =>
  toCanonicalMediaType(typeof value === 'string' ? value.split(';', 1)[0]?.trim() : value);

const SHA256_HEX_PATTERN = /^[0-9a-f]{64}$/;
const checkChecksumFormat: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a string.');
  return SHA256_HEX_PATTERN.test(value)
    ? []
    : createFieldError(param, 'invalid_value', 'Must be a SHA-256 digest of 64 hexadecimal digits.');
};

/** Checks the size of a file. A size above the limit is refused later, with status 413. */
const checkFileSizeField: FieldCheck = (value, param) => {
  if (typeof value !== 'number') return createFieldError(param, 'invalid_type', 'Must be a number.');
  return Number.isSafeInteger(value) && value >= 1
    ? []
    : createFieldError(param, 'invalid_value', 'Must be a whole number of at least 1.');
};

const MAX_FILE_NAME_CHARS = 255;

/**
 * Matches control characters, line ends and marks that reverse the direction of text, which could show `gpj.exe` as
 * `exe.jpg`.
 */
const UNPRINTABLE_PATTERN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** Normalises a file name: without the path that some clients send, and composed (NFC). */
export function stripPathAndNormaliseFileName(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [name = ''] = value.split(/[/\\]/).slice(-1);
  return name.normalize('NFC').trim();
}

/** Checks a normalised name: any script, but safe in a folder and in a header. */
export const checkFileName: FieldCheck = (value, param): readonly FieldError[] => {
  if (typeof value !== 'string') return createFieldError(param, 'invalid_type', 'Must be a string.');
  if (value === '' || value === '.' || value === '..')
    return createFieldError(param, 'invalid_value', 'Must be a file name.');
  if ([...value].length > MAX_FILE_NAME_CHARS) {
    return createFieldError(param, 'too_long', `Must have at most ${MAX_FILE_NAME_CHARS} characters.`);
  }
  const isSound = value.isWellFormed() && !UNPRINTABLE_PATTERN.test(value);
  return isSound
    ? []
    : createFieldError(param, 'invalid_value', 'Must not contain control characters or unpaired surrogates.');
};

@ApiSchema({ name: 'Document' })
export class DocumentResource extends ResponseSchemaBase implements wire.ShipmentDocument {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @EnumProperty(DOCUMENT_TYPES, { description: 'Type of the document.', example: 'commercial_invoice' })
  readonly type!: wire.DocumentType;
  @ApiProperty({
    description:
      '`pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is destroyed.',
    enum: DOCUMENT_STATUSES,
  })
  readonly status!: wire.DocumentStatus;
  @CheckedProperty(
    checkFileName,
    { description: 'File name, in any script. A leading path is removed.', example: 'invoice-4711.pdf' },
    { type: String, minLength: 1, maxLength: MAX_FILE_NAME_CHARS },
    { normalise: stripPathAndNormaliseFileName },
  )
  readonly file_name!: string;
  @CheckedProperty(
    checkEnumValue(DOCUMENT_CONTENT_TYPES),
    { description: 'Media type of the file, determined from its content.', example: 'application/pdf' },
    { type: String, enum: [...DOCUMENT_CONTENT_TYPES] },
    { normalise: normaliseMediaType },
  )
  readonly content_type!: wire.DocumentContentType;
  @CheckedProperty(
    checkFileSizeField,
    { description: 'Size of the file in bytes.', example: 48_213 },
    { type: 'integer', minimum: 1, maximum: DOCUMENT_LIMITS.presignedBytes },
  )
  readonly size_bytes!: number;
  @CheckedProperty(
    checkChecksumFormat,
    {
      description: 'SHA-256 of the file, in hexadecimal digits; lower case in responses.',
      example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    { type: String, pattern: '^[0-9A-Fa-f]{64}$' },
    { normalise: (value) => (typeof value === 'string' ? value.toLowerCase() : value) },
  )
  readonly checksum_sha256!: string;
  @ApiProperty({ type: ActorResource, description: 'Actor that uploaded the file or requested the upload URL.' })
  readonly uploaded_by!: ActorResource;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of creation. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the file was complete. UTC with milliseconds.',
  })
  readonly uploaded_at!: string | null;
  @ApiProperty({ type: ActorResource, nullable: true, description: 'Actor that approved or rejected the document.' })
  readonly reviewed_by!: ActorResource | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the approval or rejection. UTC with milliseconds.',
  })
  readonly reviewed_at!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Reason for the rejection.' })
  readonly rejection_reason!: string | null;
  @IdProperty('doc', {
    description: 'Document of the shipment that this one replaces once its file is complete.',
    nullable: true,
  })
  readonly replaces_document_id!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Document that replaces this one. A replaced document satisfies no requirement.',
  })
  readonly replaced_by_document_id!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'URL of the file; null while there is no file, and after its deletion.',
    format: 'uri',
  })
  readonly download_url!: string | null;
}

const checkIsReceivedFile: FieldCheck = (value, param) =>
  value instanceof ReceivedFile
    ? []
    : createFieldError(param, 'invalid_type', 'Must be a file: a part with a filename.');

@ApiSchema({ name: 'DocumentForm' })
export class AddDocumentDto extends DeriveRequestClassFromResource(DocumentResource, {
  required: ['type'],
  optional: ['replaces_document_id'],
}) {
  @CheckedProperty(
    checkIsReceivedFile,
    { description: 'The file with its name. The parts of the form may have any order.' },
    { type: String, format: 'binary' },
  )
  readonly file!: ReceivedFile;
}

@ApiSchema({ name: 'DocumentUploadFields' })
export class RequestUploadDto extends DeriveRequestClassFromResource(DocumentResource, {
  required: ['type', 'file_name', 'content_type', 'size_bytes', 'checksum_sha256'],
  optional: ['replaces_document_id'],
}) {}

@ApiSchema({ name: 'DocumentRejection' })
export class RejectDocumentDto {
  @TextProperty({
    description: 'Reason for the rejection, for the person who uploads a better document.',
    example: 'Page 2 is missing.',
  })
  readonly reason!: string;
}

/** The query of an upload's URL. */
export class UploadTokenDto {
  @TextQueryProperty({ description: 'Token in the upload URL, unchanged.' })
  readonly token?: string;
}

@ApiSchema({ name: 'DocumentWritten' })
export class DocumentWrittenResource extends IntersectionType(DocumentResource, WithWarnings) {}

@ApiSchema({ name: 'Upload' })
class UploadResource {
  @ApiProperty({ description: 'Upload request for the file.', enum: ['PUT'] })
  readonly method!: 'PUT';
  @ApiProperty({
    description:
      'Upload URL, which needs no key. It allows its holder to upload the file of this document, and nothing else.',
    format: 'uri',
  })
  readonly url!: string;
  @ApiProperty({
    type: 'object',
    description: 'Headers that the upload must have.',
    additionalProperties: { type: 'string' },
  })
  readonly headers!: Readonly<Record<string, string>>;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time at which the URL expires. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'DocumentUpload' })
export class DocumentUploadResource extends DocumentWrittenResource {
  @ApiProperty({ type: UploadResource, description: 'Upload request for the file.' })
  readonly upload!: UploadResource;
}

@ApiSchema({ name: 'DocumentPage' })
export class DocumentPageResource extends createPageResourceClass(
  DocumentResource,
  'The documents of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

@ApiSchema({ name: 'Storage' })
export class StorageResource extends ResponseSchemaBase implements StorageUsage {
  @ApiProperty({
    type: 'integer',
    description:
      'Bytes of the documents of the workspace, in both environments. Pending uploads count with their announced size.',
    example: 1_834_920_113,
  })
  readonly used_bytes!: number;
  @ApiProperty({ type: 'integer', description: 'Maximum number of bytes.', example: 10_737_418_240 })
  readonly limit_bytes!: number;
}
