import { entry, type FeatureDocs } from '../http-feature.ts';

/** Error codes of all features. */
const ERRORS = {
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
  missing_api_key: entry(
    'The request carries neither an API key nor a session.',
    'GET /v1/shipments',
    'Send an API key: Authorization: Bearer sk_….',
    'Send the header Authorization: Bearer, and the whole key after it.',
  ),
  invalid_api_key: entry(
    'The API key is not valid: unknown, revoked or expired, or its owner is deactivated.',
    'GET /v1/shipments with a revoked key',
    'The API key is not valid.',
    'Stop, and tell who looks after the key. Repeating does not help; another key does.',
  ),
  invalid_session: entry(
    'The session has ended, or is none.',
    'GET /v1/shipments with the cookie of an ended session',
    'The session has ended.',
    'Have the person sign in again.',
  ),
  permission_denied: entry(
    'The key or user lacks the permission that the message names.',
    'POST /v1/webhook_endpoints with a key of the role viewer',
    'The service account lacks the permission webhooks:manage.',
    'Give its owner a role that has the permission, or use another key. What each role may is in the description.',
  ),
  csrf: entry(
    'A write with a session came from another site, or without the header X-Requested-With.',
    'POST /v1/shipments with a cookie',
    'Send the header X-Requested-With, with any value.',
    'Send that header with every write of a browser. Systems use keys, which need none.',
  ),
  not_found: entry(
    'There is no such path, or no such resource in this workspace and environment.',
    'GET /v1/shipments/shp_…',
    'No such shipment.',
    'Look at the id. A key of test sees nothing of live, and nobody sees another workspace.',
  ),
  rate_limited: entry(
    'More requests within a minute than the key or session has, more tries to sign in, or more uploads to one URL.',
    'GET /v1/shipments, the 1,001st within a minute',
    'More than 1000 requests within a minute.',
    'Wait for Retry-After seconds, then the same again. X-RateLimit-Remaining tells before; bulk operations are one request.',
  ),
  busy: entry(
    'The service is at its limit, or too many requests change one resource at the same time. Nothing was done.',
    'POST /v1/shipments while very many others do',
    'The service is at its limit; try again.',
    'Wait for Retry-After seconds, then the same again.',
  ),
  unavailable: entry(
    'An engine does not answer. The message tells whether anything may have been done.',
    'POST /v1/shipments while the storage is away',
    'The event store does not answer. Whether the write took effect is not known; repeat it.',
    'Wait for Retry-After seconds, then the same again, under the same Idempotency-Key.',
  ),
  read_model_behind: entry(
    'Your last write is stored but not listed yet, after 5 seconds.',
    'GET /v1/shipments with a Consistency-Token',
    'Your last write is stored but not listed yet; try again.',
    'Wait for Retry-After seconds, then ask again. Resources by id are never behind.',
  ),
  internal_error: entry(
    'Something went wrong on our side.',
    'Any request',
    'Something went wrong on our side.',
    'Send it again, a few times, with growing pauses. Then tell who runs the service the request_id.',
  ),
  idempotency_key_reused: entry(
    'The Idempotency-Key was sent before with another method, path or body.',
    'POST /v1/shipments {"house_bill": "HBL-901"} under the key of another request',
    'The Idempotency-Key was sent before with another path or body.',
    'Make a new key for each thing that you want done, and keep it for the repetitions of that one alone.',
  ),
  idempotency_in_progress: entry(
    'The first request with this Idempotency-Key is under way.',
    'POST /v1/shipments, again while the first one is carried out',
    'The first request with this Idempotency-Key is under way; try again.',
    'Wait for Retry-After seconds, then send the same again: it is answered as the first one.',
  ),
  precondition_failed: entry(
    'The resource is not the one that If-Match names: somebody wrote in between.',
    'PATCH /v1/shipments/shp_… with If-Match: "1"',
    'The resource is at version 2; get it, and decide again.',
    'Read the resource, decide again with what it is now, and send its present ETag.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes of single faulty fields, in `details`. */
const FIELDS = {
  required: entry('The field is missing.', '{"occurred_at": "…"} as a milestone', 'Is required.', 'Send it.'),
  invalid_type: entry(
    'It is of another JSON type than is expected.',
    '{"mode": 5}',
    'Must be a string.',
    'Send the type that the message names: numbers without quotation marks, text with them.',
  ),
  invalid_value: entry(
    'It is none of the values that are possible; the message tells which are.',
    '{"mode": "ship"}',
    'Must be one of ocean, air, road, rail, barge, courier, multimodal.',
    'Send one of them.',
  ),
  too_long: entry(
    'The text is longer than is possible; the message tells how long it may be.',
    '{"seal_number": "…"} of 200 characters',
    'Must have at most 100 characters.',
    'Shorten it. Longer texts belong into a document.',
  ),
  too_many: entry(
    'The list has more elements than are possible; the message tells how many it may have.',
    '{"container_numbers": […]} with 600 of them',
    'At most 500 are possible; there are 600.',
    'Send fewer; make several shipments of it.',
  ),
  unknown_field: entry(
    'The operation has no field of that name. Refused only under Prefer: handling=strict, else a warning.',
    '{"externalid": "PO-1"}',
    'Is not known here.',
    'Correct the name, or leave it out.',
  ),
  read_only_field: entry(
    'Only answers have the field; the service sets it. Refused only under Prefer: handling=strict, else a warning.',
    '{"status": "delivered"}',
    'Is set by the service.',
    'Leave it out. A status comes of milestones.',
  ),
  unknown_parameter: entry(
    'The operation has no query parameter of that name.',
    '?stauts=open',
    'Is not a parameter of this operation: as_of, carrier_scac, …',
    'Correct the name: the message tells which there are.',
  ),
  invalid_timestamp: entry(
    'It is no time of RFC 3339 with an offset, in the years 1900 to 2999.',
    '{"etd": "2026-11-02T10:30:00"}',
    'Has no offset: end it with Z for UTC, or with one as +08:00.',
    'Send the offset of the place, or UTC with Z.',
  ),
  invalid_date: entry(
    'It is no day as 2026-12-24.',
    '{"last_free_day": "24.12.2026"}',
    'Must be a date alone, as 2026-11-21.',
    'Send year, month and day, without a time.',
  ),
  limit_exceeded: entry(
    'There are as many of these as are possible.',
    'The 51st webhook endpoint',
    'At most 50 are possible; there are 50.',
    'Remove what is not needed any more.',
  ),
  invalid_cursor: entry(
    'The cursor is not one of this list with these filters.',
    '?cursor=abc',
    'Must be a next_cursor of this list, sent with the same filters and sort.',
    'Send next_cursor back as it came, or begin at the first page.',
  ),
} as const satisfies FeatureDocs['fields'];

/** Codes of warnings: the write was carried out. */
const WARNINGS = {
  unknown_field: entry(
    'The body has a field that the operation does not have. It was ignored.',
    '{"externalid": "PO-1"}',
    'Is not known here. It was ignored.',
    'Correct the name. With Prefer: handling=strict it is refused: have your tests send that.',
  ),
  read_only_field: entry(
    'The body has a field that only answers have. It was ignored.',
    '{"status": "delivered"}',
    'Is set by the service. It was ignored.',
    'Leave it out. Who sends back what it read may ignore the warning.',
  ),
} as const satisfies FeatureDocs['warnings'];

/** Request id of the examples. */
export const REQUEST_ID = 'req_5f6a2b8637ac4b5c9d535a0c4f1d2b11';
/** Faulty field of the examples. */
export const FAULTY_FIELD = {
  param: 'legs[0].etd',
  code: 'invalid_timestamp',
  message: 'Has no offset: end it with Z for UTC.',
} as const;

/** Documentation that belongs to no feature. */
export const SERVER_DOCS: FeatureDocs = {
  errors: ERRORS,
  fields: FIELDS,
  warnings: WARNINGS,
  samples: { FieldError: FAULTY_FIELD },
  values: {
    detail: ERRORS.not_found.message,
    id: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
    message: 'The receiver answered 500.',
    name: 'Acme Electronics Ltd',
    next_cursor: null,
    param: null,
    request_id: REQUEST_ID,
    warnings: [],
    workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd',
  },
};
