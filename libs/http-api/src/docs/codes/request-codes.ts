import { entry } from './code-entry.ts';

/** Codes of the type `invalid_request`. */
export const OF_REQUESTS = {
  validation_failed: entry(
    'The request is not valid; details names every faulty field at once, each with a code of its own.',
    'POST /v1/shipments {"external_id": "PO-1", "mode": "ship", "etd": "2026-12-01"}',
    '2 fields are not valid: mode, etd.',
    'Show each of details beside its field, or mend the program. Sent as it is, it is refused again.',
  ),
  unknown_parameter: entry(
    'The operation has no query parameter of that name. With a misspelt filter a list would answer everything.',
    'GET /v1/shipments?stauts=in_transit',
    'stauts: Is not a parameter of this operation: as_of, carrier_scac, …',
    'Look at the message, which tells the parameters that there are, and correct the name.',
  ),
  malformed_json: entry(
    'The body is not a JSON document in UTF-8.',
    "POST /v1/shipments {'external_id': 'PO-1'}",
    'The body is not JSON: line 1, column 2.',
    'Have a library write the JSON. The message has line and column of what cannot be read.',
  ),
  body_too_large: entry(
    'The body, or what it would store, is larger than the operation accepts; the message tells how large it may be.',
    'POST /v1/shipments with 3 MiB',
    'The body is larger than 1 MiB.',
    'Send less at once: several requests in bulk, or a large document by a URL of its own.',
  ),
  unsupported_media_type: entry(
    'The body is not application/json, or is compressed.',
    'POST /v1/shipments with Content-Type: text/plain',
    'Send the body as application/json.',
    'Set Content-Type, and leave Content-Encoding out. Documents are multipart/form-data.',
  ),
  invalid_cursor: entry(
    'The cursor is not one of this list, was altered, or was sent with other filters than it came with.',
    'GET /v1/shipments?status=arrived&cursor=… of a list of other statuses',
    'cursor: Must be a next_cursor of this list, sent with the same filters and sort.',
    'Send next_cursor back as it came, with the same filters; limit may change. Else begin at the first page.',
  ),
  external_id_immutable: entry(
    'The external_id of a shipment never changes and cannot be set later.',
    'PATCH /v1/shipments/shp_… {"external_id": "PO-2"}',
    'external_id: The external_id of a shipment is set when it is created, and never changes.',
    'Leave it out. For another reference make another shipment, or put it into references.',
  ),
  reference_required: entry(
    'A shipment needs an external_id, a house_bill or container_numbers: by these it is found again.',
    'POST /v1/shipments {"mode": "ocean"}',
    'A shipment needs at least one of external_id, house_bill and container_numbers.',
    'Send one of them; best an external_id, which makes the request safe to repeat.',
  ),
  limit_exceeded: entry(
    'There are as many of these as are possible; the message tells how many that is.',
    'POST /v1/webhook_endpoints, the 51st',
    'At most 50 are possible; there are 50.',
    'Remove what is not needed any more, or spread it over several.',
  ),
  invalid_consistency_token: entry(
    'The Consistency-Token is not one that a write was answered with.',
    'GET /v1/shipments with Consistency-Token: 12',
    'The Consistency-Token is not one of ours.',
    'Send the header of a write’s answer on as it came, or leave it out.',
  ),
  method_not_allowed: entry(
    'The path exists, but not with this method; Allow names those that it has.',
    'PUT /v1/shipments/shp_…',
    'PUT is not possible here, but GET, HEAD, PATCH.',
    'Use a method of Allow. Shipments are changed with PATCH.',
  ),
  request_timeout: entry(
    'The request did not arrive within a minute.',
    'POST /v1/shipments whose body stops half way',
    'The request did not arrive in time.',
    'Send it again. Where it happens often, look at the connection.',
  ),
  expectation_failed: entry(
    'The request expects what is not done here; only 100-continue is known.',
    'POST /v1/shipments with Expect: 200-ok',
    'Only 100-continue is known.',
    'Leave the header Expect out.',
  ),
  headers_too_large: entry(
    'The headers of the request are too large together; the message tells how large they may be.',
    'GET /v1/shipments with 20 KiB of cookies',
    'The headers are larger than 16 KiB.',
    'Send fewer cookies and headers. Long filters belong into several requests.',
  ),
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
} as const;
