import { createEventSamples } from '@tracking/contracts';
import { createErrorCodeDocs, type FeatureDocs } from '@tracking/http';

/** Error codes of documents. */
const DOCUMENT_ERROR_CODE_DOCS = {
  size_mismatch: createErrorCodeDocs(
    'The size of the uploaded file differs from the announced size.',
    'POST /v1/documents/doc_…/complete',
    'The file has 182043 bytes instead of 182044. Upload the file again.',
    'Upload the file again to the same URL, then complete the upload. The document still waits for the file.',
  ),
  checksum_mismatch: createErrorCodeDocs(
    'The SHA-256 of the uploaded file differs from the announced one.',
    'POST /v1/documents/doc_…/complete',
    'The SHA-256 of the file is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, which differs from checksum_sha256. Upload the file again.',
    'Compute the SHA-256 of the file exactly as it is sent, in hexadecimal digits, and upload the file again.',
  ),
  unsupported_document_type: createErrorCodeDocs(
    'The type of the file, determined from its content, is not accepted. The file name does not matter.',
    'POST /v1/shipments/shp_…/documents with an HTML page',
    'The file is not accepted: the file begins with HTML markup.',
    'Send PDF, PNG, JPEG, TIFF, HEIC, WebP, CSV, TXT, XML, DOCX, XLSX, EML or MSG. Convert the file, for example to PDF. Web pages, archives and files of two types at once are not accepted.',
  ),
  storage_quota_exceeded: createErrorCodeDocs(
    'The documents of the workspace, in both environments, would take more bytes than its storage quota. Pending uploads count with their announced size.',
    'POST /v1/shipments/shp_…/documents',
    'The workspace uses 10737400000 of 10737418240 bytes for documents, so it has no room for 182044 bytes. Delete documents first.',
    'Delete documents that you no longer need, or ask the operator for a larger quota. GET /v1/storage returns the used bytes.',
  ),
  storage_full: createErrorCodeDocs(
    'The disk of the service has no room for files. The rest is reserved for other data, so all other requests work.',
    'POST /v1/shipments/shp_…/documents',
    'The service has no disk space left for documents.',
    'Repeat the upload after the time in Retry-After. Operators: enlarge the disk, or delete documents.',
  ),
  empty_file: createErrorCodeDocs(
    'The file is empty.',
    'POST /v1/shipments/shp_…/documents with an empty file',
    'The file is empty.',
    'Check that the file is written completely before it is sent.',
  ),
  malformed_multipart: createErrorCodeDocs(
    'The body is not valid multipart/form-data.',
    'POST /v1/shipments/shp_…/documents without a boundary',
    'The body is not valid multipart/form-data: the form is incomplete, or does not match the boundary.',
    'Use a library to write the form with the fields type and file, and let it set Content-Type.',
  ),
  range_not_satisfiable: createErrorCodeDocs(
    'The file has no bytes in the requested range.',
    'GET /v1/documents/doc_…/download with Range: bytes=500000-',
    'The file has 182044 bytes, but none in this range.',
    'Request a range that begins before size_bytes, or omit Range. A complete download needs no further request.',
  ),
  invalid_upload_url: createErrorCodeDocs(
    'The upload URL is unknown, was changed, or has expired.',
    'PUT /v1/documents/doc_…/content?token=…, an hour later',
    'The URL expired at 2026-11-23T09:45:00.000Z. Request a new one.',
    'Request a new upload URL. A URL is valid for 15 minutes. Use it unchanged.',
  ),
  document_not_pending: createErrorCodeDocs(
    'The document is complete, expired or deleted, and accepts no upload.',
    'PUT to the upload URL of a complete document',
    'The document is uploaded and does not accept uploads.',
    'If the document is complete, no action is needed. Otherwise request a new upload.',
  ),
  document_not_uploaded: createErrorCodeDocs(
    'The document has no file, because it is pending, expired or deleted.',
    'GET /v1/documents/doc_…/download',
    'The document is pending_upload, so it has no file to download.',
    'Check the status. If it is pending, upload the file and complete the upload first.',
  ),
  document_damaged: createErrorCodeDocs(
    'The stored file differs from the size or the SHA-256 of the document, so it is not sent.',
    'GET /v1/documents/doc_…/download',
    'The stored file of the document is damaged.',
    'Upload the document again, or ask the operator to restore the file from a backup. A restored file is sent again.',
  ),
  document_reviewed: createErrorCodeDocs(
    'The document was already approved or rejected. The first decision is final.',
    'POST /v1/documents/doc_…/reject {"reason": "Page 2 is missing."}',
    'The document is approved. To replace it, upload another one.',
    'Upload another document with replaces_document_id.',
  ),
  document_replaced: createErrorCodeDocs(
    'Another document has already replaced this one.',
    'POST /v1/shipments/shp_…/documents with replaces_document_id',
    'The document was already replaced by doc_….',
    'Replace the newest document: follow replaced_by_document_id.',
  ),
  upload_missing: createErrorCodeDocs(
    'The file of the document was not uploaded yet, or is lost.',
    'POST /v1/documents/doc_…/complete',
    'No file was uploaded for the document.',
    'Upload the file to the upload URL first, then complete the upload.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes of single invalid fields, in `details` of an error. */
const DOCUMENT_FIELD_ERROR_DOCS = {
  unknown_document: {
    ...createErrorCodeDocs(
      'The shipment has no such document, or the document has no file and cannot be replaced.',
      '{"replaces_document_id": "doc_…"}',
      'The shipment has no document doc_… that can be replaced.',
      'Send the id of a document that is uploaded, approved or rejected, or omit the field.',
    ),
    param: 'replaces_document_id',
  },
} as const satisfies FeatureDocs['fields'];

/** Error codes of rules that the declaration of an operation does not show. */
const ERROR_CODES_BY_OPERATION = {
  addDocument: [
    'limit_exceeded',
    'malformed_multipart',
    'storage_quota_exceeded',
    'storage_full',
    'empty_file',
    'unsupported_document_type',
    'request_timeout',
    'document_replaced',
  ],
  requestUpload: ['limit_exceeded', 'document_replaced', 'storage_quota_exceeded'],
  getStorage: ['read_model_behind'],
  listDocuments: ['read_model_behind'],
  downloadDocument: ['document_not_uploaded', 'document_damaged', 'range_not_satisfiable'],
  putDocumentContent: [
    'storage_quota_exceeded',
    'storage_full',
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

const EXAMPLE_TIME = '2026-11-23T09:30:00.000Z';
const EXAMPLE_EVENTS = createEventSamples(EXAMPLE_TIME, {
  appUrl: 'https://app.example.com',
  baseUrl: 'https://api.example.com',
});

/** Examples of schemas, by name. */
const EXAMPLE_RESOURCES = {
  Document: EXAMPLE_EVENTS.document('uploaded'),
  DocumentUpload: {
    ...EXAMPLE_EVENTS.document('uploaded'),
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
const EXAMPLE_VALUES_BY_FIELD = {
  file: 'The bytes of bill-of-lading.pdf',
  replaces_document_id: 'doc_sandbox2sandbox2sandbox2aa0',
};

/** Noun and example id of a single resource, by the collection in its path. */
const RESOURCE_NOUNS_AND_EXAMPLE_IDS = {
  documents: ['document', 'doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6'],
} as const satisfies FeatureDocs['resources'];

/** Documentation of documents. */
export const DOCUMENTS_DOCS: FeatureDocs = {
  errors: DOCUMENT_ERROR_CODE_DOCS,
  fields: DOCUMENT_FIELD_ERROR_DOCS,
  refusals: ERROR_CODES_BY_OPERATION,
  resources: RESOURCE_NOUNS_AND_EXAMPLE_IDS,
  samples: EXAMPLE_RESOURCES,
  values: EXAMPLE_VALUES_BY_FIELD,
};
