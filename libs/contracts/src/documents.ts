import type { Actor, Timestamp } from './shipment.ts';
import type { PublicAddresses } from './common.ts';

/** Types of documents. */
export const DOCUMENT_TYPES = [
  'bill_of_lading',
  'house_bill',
  'sea_waybill',
  'air_waybill',
  'commercial_invoice',
  'packing_list',
  'certificate_of_origin',
  'booking_confirmation',
  'shipping_instructions',
  'arrival_notice',
  'delivery_order',
  'proof_of_delivery',
  'customs_entry',
  'verified_gross_mass',
  'dangerous_goods_declaration',
  'inspection_certificate',
  'phytosanitary_certificate',
  'insurance_certificate',
  'freight_invoice',
  'photo',
  'other',
] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/**
 * Statuses of a document. `pending_upload`: its bytes are incomplete. `expired`: its bytes never arrived. `deleted`:
 * its bytes were destroyed.
 */
export const DOCUMENT_STATUSES = ['pending_upload', 'uploaded', 'approved', 'rejected', 'expired', 'deleted'] as const;
export type DocumentStatus = (typeof DOCUMENT_STATUSES)[number];

/** Allowed formats of a document, detected from its content: docs/reference/documents.md#content. */
export const DOCUMENT_CONTENT_TYPES = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'image/tiff',
  'image/heic',
  'image/webp',
  'text/csv',
  'text/plain',
  'application/xml',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'message/rfc822',
  'application/vnd.ms-outlook',
] as const;
export type DocumentContentType = (typeof DOCUMENT_CONTENT_TYPES)[number];

const BYTES_PER_MIB = 1_048_576;
const HOUR_MS = 3_600_000;

export const DOCUMENT_LIMITS = {
  /** Maximum size in bytes of a document that is sent with its fields. */
  multipartBytes: 25 * BYTES_PER_MIB,
  /** Maximum size in bytes of a document that is sent to an upload URL. */
  presignedBytes: 250 * BYTES_PER_MIB,
  /** Milliseconds for which an upload URL is valid. */
  uploadUrlMs: HOUR_MS / 4,
  /** Age in milliseconds at which a pending document expires. */
  pendingMs: 24 * HOUR_MS,
} as const;

/** A document as stored and as internal services return it. Only the HTTP layer adds `download_url`. */
export interface DocumentRecord {
  readonly id: string;
  readonly shipment_id: string;
  readonly type: DocumentType;
  readonly status: DocumentStatus;
  /** File name from the sender, without a path. It can contain any Unicode characters. */
  readonly file_name: string;
  /** Content type that the sender announced; after the content check, the detected type. */
  readonly content_type: DocumentContentType;
  readonly size_bytes: number;
  /** SHA-256 of the bytes, in lower-case hex. */
  readonly checksum_sha256: string;
  /** The sender of the document, or the client that requested its upload URL. */
  readonly uploaded_by: Actor;
  readonly created_at: Timestamp;
  /** Time when the last byte of the document arrived. */
  readonly uploaded_at: Timestamp | null;
  readonly reviewed_by: Actor | null;
  readonly reviewed_at: Timestamp | null;
  readonly rejection_reason: string | null;
  readonly replaces_document_id: string | null;
  /**
   * Id of the document that replaces this one, set once the replacement is complete. A replaced document does not
   * satisfy a requirement.
   */
  readonly replaced_by_document_id: string | null;
}

/** A document, as the public API and events contain it. */
export interface ShipmentDocument extends DocumentRecord {
  /** `{base_url}/v1/documents/<id>/download`; null if the service does not have the document's bytes. */
  readonly download_url: string | null;
}

/** Statuses of documents whose bytes exist. */
const PRESENT_DOCUMENT_STATUSES = ['uploaded', 'approved', 'rejected'] as const satisfies readonly DocumentStatus[];

export function isDocumentPresent({ status }: Pick<DocumentRecord, 'status'>): boolean {
  return (PRESENT_DOCUMENT_STATUSES as readonly DocumentStatus[]).includes(status);
}

export function toDocumentResource(
  record: DocumentRecord,
  { baseUrl }: Pick<PublicAddresses, 'baseUrl'>,
): ShipmentDocument {
  const download_url = isDocumentPresent(record) ? `${baseUrl}/v1/documents/${record.id}/download` : null;
  return { ...record, download_url };
}

/** Extensions that files of each type may have. The first is added to names with another one. */
const FILE_EXTENSIONS: Readonly<Record<DocumentContentType, readonly [string, ...string[]]>> = {
  'application/pdf': ['.pdf'],
  'image/png': ['.png'],
  'image/jpeg': ['.jpg', '.jpeg'],
  'image/tiff': ['.tif', '.tiff'],
  'image/heic': ['.heic', '.heif'],
  'image/webp': ['.webp'],
  'text/csv': ['.csv'],
  'text/plain': ['.txt'],
  'application/xml': ['.xml'],
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': ['.docx'],
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': ['.xlsx'],
  'message/rfc822': ['.eml'],
  'application/vnd.ms-outlook': ['.msg'],
};

/**
 * Returns the name under which a document is saved: its file name with an extension of its detected type, because a
 * system opens a file by its extension. `page.html` of type `text/plain` is saved as `page.html.txt`.
 */
export function createDownloadName({
  file_name,
  content_type,
}: Pick<DocumentRecord, 'file_name' | 'content_type'>): string {
  const extensions = FILE_EXTENSIONS[content_type];
  // Windows removes dots and spaces at the end of a name.
  const name = file_name.replace(/[. ]+$/, '');
  const lower = name.toLowerCase();
  if (extensions.some((extension) => lower.endsWith(extension) && name.length > extension.length)) return name;
  const characters = Array.from(name).slice(0, MAX_FILE_NAME_CHARS - extensions[0].length);
  return `${characters.join('') || 'document'}${extensions[0]}`;
}

const MAX_FILE_NAME_CHARS = 255;
