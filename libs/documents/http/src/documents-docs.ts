import { eventSamples } from '@tracking/contracts';
import { entry, type FeatureDocs } from '@tracking/http';

/** Error codes of documents. */
const ERRORS = {
  size_mismatch: entry(
    'Other bytes came than were told: their number differs.',
    'POST /v1/documents/doc_…/complete',
    '182043 bytes came instead of 182044.',
    'Send all bytes to the URL of the upload again, then complete it. The document still waits for them.',
  ),
  checksum_mismatch: entry(
    'Other bytes came than were told: their SHA-256 differs.',
    'POST /v1/documents/doc_…/complete',
    'The SHA-256 of what came is another one than was told.',
    'Take the SHA-256 of the file as it is sent, in lower-case hex, and send the bytes again.',
  ),
  unsupported_document_type: entry(
    'Judged by its content it is none of the types that are taken, whatever its name says.',
    'POST /v1/shipments/shp_…/documents with a web page',
    'Documents are PDF, PNG, JPEG, TIFF, CSV, TXT, XML, DOCX or XLSX.',
    'Convert it, to PDF mostly. Files that are two things at once, archives and pages are not taken.',
  ),
  empty_file: entry(
    'The file has no bytes.',
    'POST /v1/shipments/shp_…/documents with an empty file',
    'The file has no bytes.',
    'Look whether the file was written before it was sent.',
  ),
  malformed_multipart: entry(
    'The body is not a form of the fields that are expected.',
    'POST /v1/shipments/shp_…/documents without a boundary',
    'The form ends in the middle.',
    'Have a library write the form, with type and file, and let it set Content-Type.',
  ),
  range_not_satisfiable: entry(
    'The document has no bytes in the range that was asked for.',
    'GET /v1/documents/doc_…/download with Range: bytes=500000-',
    'The document has 182044 bytes.',
    'Ask for a range that begins within size_bytes, or without Range. A download that is whole needs no more.',
  ),
  invalid_upload_url: entry(
    'The URL is none that was made for an upload, was altered, or has expired.',
    'PUT /v1/documents/doc_…/content?token=…, an hour later',
    'The URL has expired.',
    'Ask for another upload: a URL lives for fifteen minutes. Use it as it came.',
  ),
  document_not_pending: entry(
    'No bytes are waited for: the document is complete, expired or deleted.',
    'PUT to the URL of an upload that was completed',
    'It is uploaded: no bytes are waited for.',
    'If it is complete, nothing. Else ask for another upload.',
  ),
  document_not_uploaded: entry(
    'The document has no bytes: it is pending, expired or deleted.',
    'GET /v1/documents/doc_…/download',
    'It has no bytes: it is pending_upload.',
    'Look at its status. Where it is pending, send the bytes and complete it first.',
  ),
  document_reviewed: entry(
    'The document was approved or rejected already; the first verdict stands.',
    'POST /v1/documents/doc_…/reject {"reason": "Page 2 is missing."}',
    'It is approved. Replace it by another one.',
    'Upload another document with replaces_document_id.',
  ),
  document_replaced: entry(
    'Another document replaced it already.',
    'POST /v1/shipments/shp_…/documents with replaces_document_id',
    'It was replaced by doc_… already.',
    'Replace the newest one: follow replaced_by_document_id.',
  ),
  upload_missing: entry(
    'No bytes have come for the document yet, or they are lost.',
    'POST /v1/documents/doc_…/complete',
    'No bytes have come for it yet.',
    'PUT them to the URL of the upload first, then complete it.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes of single faulty fields, in `details`. */
const FIELDS = {
  unknown_document: entry(
    'The shipment has no such document, or it cannot be replaced: it has no bytes.',
    '{"replaces_document_id": "doc_…"}',
    'doc_… is no document of this shipment that could be replaced.',
    'Name one that is uploaded, approved or rejected, or leave it out.',
  ),
} as const satisfies FeatureDocs['fields'];

/** Codes with which operations refuse by rules of their own. */
const REFUSALS = {
  addDocument: [
    'limit_exceeded',
    'malformed_multipart',
    'empty_file',
    'unsupported_document_type',
    'request_timeout',
    'document_replaced',
  ],
  requestUpload: ['limit_exceeded', 'document_replaced'],
  listDocuments: ['read_model_behind'],
  downloadDocument: ['document_not_uploaded', 'range_not_satisfiable'],
  putDocumentContent: [
    'empty_file',
    'unsupported_document_type',
    'invalid_upload_url',
    'request_timeout',
    'document_not_pending',
    'rate_limited',
  ],
  completeUpload: ['size_mismatch', 'checksum_mismatch', 'document_not_pending', 'upload_missing'],
  approveDocument: ['document_not_uploaded', 'document_reviewed'],
  rejectDocument: ['document_not_uploaded', 'document_reviewed'],
} as const satisfies FeatureDocs['refusals'];

const AT = '2026-11-23T09:30:00.000Z';
const samples = eventSamples(AT, { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' });

/** Examples of schemas, by name. */
const SAMPLES = {
  Document: samples.document('uploaded'),
  DocumentUpload: {
    ...samples.document('uploaded'),
    status: 'pending_upload',
    uploaded_at: null,
    download_url: null,
    upload: {
      method: 'PUT',
      url: 'https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/content?token=0aB1cD2eF3gH4iJ5kL6mN7oP',
      headers: { 'content-type': 'application/pdf' },
      expires_at: '2026-11-23T09:45:00.000Z',
    },
  },
};

/** Example values of fields, by name. */
const VALUES = {
  file: 'The bytes of bill-of-lading.pdf',
  replaces_document_id: 'doc_sandbox2sandbox2sandbox2aa0',
};

/** Noun and example id of a single resource, by the collection in its path. */
const RESOURCES = {
  documents: ['document', 'doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6'],
} as const satisfies FeatureDocs['resources'];

/** The feature's part of the documentation. */
export const DOCS: FeatureDocs = {
  errors: ERRORS,
  fields: FIELDS,
  refusals: REFUSALS,
  resources: RESOURCES,
  samples: SAMPLES,
  values: VALUES,
};
