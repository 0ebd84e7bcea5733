import { ApiSchema } from '@nestjs/swagger';
import { DOCUMENT_CONTENT_TYPES, DOCUMENT_LIMITS, DOCUMENT_TYPES } from '@tracking/contracts';
import type { DocumentContentType, DocumentType } from '@tracking/contracts';
import { fault, field, Id, inLowerCase, oneOf, OneOf, QueryText, Text } from '@tracking/http';
import type { FieldCheck } from '@tracking/http';
import { MAX_FILE_NAME, fileName, normaliseFileName } from './file-name.ts';
import { ReceivedFile } from './received-file.ts';

const TYPE = { description: 'What it is.', example: 'commercial_invoice', required: true } as const;
const REPLACES = {
  description: 'A document of the shipment that this one takes the place of, once it is whole.',
} as const;

const file: FieldCheck = (value, param) =>
  value instanceof ReceivedFile ? [] : fault(param, 'invalid_type', 'Must be a file: a part with a filename.');

@ApiSchema({ name: 'DocumentForm' })
export class AddDocumentDto {
  @OneOf(DOCUMENT_TYPES, TYPE)
  type!: DocumentType;

  @field(
    file,
    { description: 'The file itself, with its name. Parts may come in any order.', required: true },
    { type: String, format: 'binary' },
  )
  file!: ReceivedFile;

  @Id('doc', REPLACES)
  replaces_document_id?: string | null;
}

/** Parameters of a media type say nothing here. */
const mediaType = (value: unknown): unknown =>
  inLowerCase(DOCUMENT_CONTENT_TYPES)(typeof value === 'string' ? value.split(';', 1)[0]?.trim() : value);

const HEX = /^[0-9a-f]{64}$/;
const checksum: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return fault(param, 'invalid_type', 'Must be a string.');
  return HEX.test(value) ? [] : fault(param, 'invalid_value', 'Must be a SHA-256 of 64 hexadecimal digits.');
};

/** How large it may be, is answered apart: 413. */
const size: FieldCheck = (value, param) => {
  if (typeof value !== 'number') return fault(param, 'invalid_type', 'Must be a number.');
  return Number.isSafeInteger(value) && value >= 1
    ? []
    : fault(param, 'invalid_value', 'Must be a whole number from 1.');
};

@ApiSchema({ name: 'DocumentUploadFields' })
export class RequestUploadDto {
  @OneOf(DOCUMENT_TYPES, TYPE)
  type!: DocumentType;

  @field(
    fileName,
    {
      description: 'What it is called, in any script; a path before it is dropped.',
      example: 'invoice-4711.pdf',
      required: true,
    },
    { type: String, minLength: 1, maxLength: MAX_FILE_NAME },
    { normalise: normaliseFileName },
  )
  file_name!: string;

  @field(
    oneOf(DOCUMENT_CONTENT_TYPES),
    { description: 'What the bytes are; they are judged when they come.', example: 'application/pdf', required: true },
    { type: String, enum: [...DOCUMENT_CONTENT_TYPES] },
    { normalise: mediaType },
  )
  content_type!: DocumentContentType;

  @field(
    size,
    { description: 'How many bytes there are.', example: 48_213, required: true },
    { type: 'integer', minimum: 1, maximum: DOCUMENT_LIMITS.presignedBytes },
  )
  size_bytes!: number;

  @field(
    checksum,
    {
      description: 'SHA-256 of the bytes, in hexadecimal digits.',
      example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      required: true,
    },
    { type: String, pattern: '^[0-9A-Fa-f]{64}$' },
    { normalise: (value) => (typeof value === 'string' ? value.toLowerCase() : value) },
  )
  checksum_sha256!: string;

  @Id('doc', REPLACES)
  replaces_document_id?: string | null;
}

@ApiSchema({ name: 'DocumentRejection' })
export class RejectDocumentDto {
  @Text({
    description: 'What is wrong with it, for whoever is to send a better one.',
    example: 'Page 2 is missing.',
    required: true,
  })
  reason!: string;
}

/** The query of an upload's URL. */
export class UploadTokenDto {
  @QueryText({ description: 'As it stands in the URL that was answered.' })
  token?: string;
}
