import { createErrorCodeDocs, type FeatureDocs } from '../http-feature.ts';
import { SHARED_FIELD_ERROR_DOCS, WARNING_DOCS } from './field-docs.ts';

/** Error codes that any feature may return. */
const SERVER_ERROR_CODE_DOCS = {
  validation_failed: {
    ...createErrorCodeDocs(
      'The request is not valid. `details` lists all invalid fields, each with its own code.',
      'POST /v1/shipments {"external_id": "PO-1", "mode": "ship", "etd": "2026-12-01T10:00:00"}',
      '2 fields are not valid: mode, etd.',
      'Show each entry of `details` next to its field, or fix the program. The same request is refused again.',
    ),
    details: [
      {
        param: 'mode',
        code: 'invalid_value',
        message: 'Must be one of ocean, air, road, rail, barge, courier, multimodal, sea, vessel, truck.',
      },
      {
        param: 'etd',
        code: 'invalid_timestamp',
        message: 'Must have a time zone offset: Z for UTC, or for example +08:00.',
      },
    ],
  },
  unknown_parameter: {
    ...createErrorCodeDocs(
      'The operation has no query parameter with this name. Ignoring a misspelled filter would return the whole list.',
      'GET /v1/webhook_replays?endpoint=whe_…',
      'endpoint: Is not a query parameter of this operation. Allowed: limit, cursor, endpoint_id.',
      'Correct the name. The message lists the parameters of the operation.',
    ),
    details: [
      {
        param: 'endpoint',
        code: 'unknown_parameter',
        message: 'Is not a query parameter of this operation. Allowed: limit, cursor, endpoint_id.',
      },
    ],
  },
  malformed_json: createErrorCodeDocs(
    'The body is not a JSON document in UTF-8.',
    "POST /v1/shipments {'external_id': 'PO-1'}",
    'The body is not a JSON document: line 1, column 2: invalid symbol.',
    'Use a library to write the JSON. The message has the line and column of the error.',
  ),
  body_too_large: createErrorCodeDocs(
    'The body, or the resource that it would create, is larger than the operation accepts. The message has the limit.',
    'POST /v1/shipments with 3 MiB',
    'The body is larger than 1 MiB.',
    'Split a bulk request into several, or upload a large document through an upload URL.',
  ),
  unsupported_media_type: createErrorCodeDocs(
    'The body is not application/json, or is compressed.',
    'POST /v1/shipments with Content-Type: text/plain',
    'Send the body as application/json.',
    'Set Content-Type, and omit Content-Encoding. Documents are multipart/form-data.',
  ),
  invalid_cursor: {
    ...createErrorCodeDocs(
      'The cursor does not belong to this list, was changed, or was sent with other filters.',
      'GET /v1/shipments?status=arrived&cursor=… with a cursor of another status',
      'cursor: Must be a next_cursor of this list, sent with the same filters and sort order.',
      'Send next_cursor unchanged and with the same filters; limit may change. Otherwise start at the first page.',
    ),
    details: [
      {
        param: 'cursor',
        code: 'invalid_cursor',
        message: 'Must be a next_cursor of this list, sent with the same filters and sort order.',
      },
    ],
  },
  limit_exceeded: createErrorCodeDocs(
    'The limit for resources or list elements of this kind is reached. The message has the limit.',
    'POST /v1/webhook_endpoints, the 51st',
    'A workspace can have at most 50 webhook endpoints in each environment.',
    'Delete unused resources, or split the request.',
  ),
  invalid_consistency_token: createErrorCodeDocs(
    'The Consistency-Token was not issued by this API.',
    'GET /v1/shipments with Consistency-Token: 12',
    'Consistency-Token must be a token from the response to a write.',
    "Send the token of a write's response unchanged, or omit the header.",
  ),
  method_not_allowed: createErrorCodeDocs(
    'The path exists, but does not support this method. The header Allow lists the supported methods.',
    'PUT /v1/shipments/shp_…',
    'PUT is not allowed on this path. Use GET, HEAD, PATCH.',
    'Use a method listed in Allow. To change a shipment, use PATCH.',
  ),
  method_not_implemented: createErrorCodeDocs(
    'No HTTP standard defines the method, so the server cannot read the request.',
    'FETCH /v1/shipments',
    'The method of the request is unknown.',
    'Use a method that the documentation of the operation names.',
  ),
  request_timeout: createErrorCodeDocs(
    'The request was not received completely within a minute.',
    'POST /v1/shipments with a body that stops halfway',
    'The request did not arrive in time.',
    'Send the request again. If it happens often, check the connection.',
  ),
  expectation_failed: createErrorCodeDocs(
    'The header Expect has a value other than 100-continue.',
    'POST /v1/shipments with Expect: 200-ok',
    'Expect must be 100-continue.',
    'Omit the header Expect.',
  ),
  headers_too_large: createErrorCodeDocs(
    'The headers of the request are too large in total. The message has the limit.',
    'GET /v1/shipments with 20 KiB of cookies',
    'The headers of the request are larger than 16384 bytes in total.',
    'Send fewer cookies and headers. Split long filters over several requests.',
  ),
  missing_api_key: createErrorCodeDocs(
    'The request has neither an API key nor a session.',
    'GET /v1/shipments',
    'The request has no API key: send the header Authorization: Bearer <API_KEY>, with a space between the word Bearer and the key.',
    'Send the header Authorization: Bearer, followed by the whole key.',
  ),
  invalid_api_key: createErrorCodeDocs(
    'The API key is unknown, revoked or expired, or its owner is deactivated.',
    'GET /v1/shipments with a revoked key',
    'The API key is not valid.',
    'Stop, and ask an administrator for a new key. Repeating the request does not help.',
  ),
  invalid_session: createErrorCodeDocs(
    'The session is unknown or has ended.',
    'GET /v1/shipments with the cookie of an ended session',
    'The session is unknown or has ended: sign in again.',
    'Ask the user to sign in again.',
  ),
  permission_denied: createErrorCodeDocs(
    'The key or user lacks the permission that the message names.',
    'POST /v1/webhook_endpoints with a key of the role viewer',
    'The API key lacks the permission webhooks:manage.',
    'Give the owner of the key a role with the permission, or use another key. The documentation lists the permissions of each role.',
  ),
  csrf: createErrorCodeDocs(
    'A write with a session came from another site, or without the header X-Requested-With.',
    'POST /v1/shipments with a cookie',
    'Send the header X-Requested-With, with any value.',
    'Send the header with every write from a browser. Requests with an API key do not need it.',
  ),
  not_found: createErrorCodeDocs(
    'The path does not exist, or this workspace and environment have no such resource.',
    'GET /v1/shipments/shp_…',
    'No such shipment.',
    'Check the id. A test key cannot access live data, and no key can access another workspace.',
  ),
  rate_limited: createErrorCodeDocs(
    'A limit per minute is exceeded: requests of one key or session, requests of one user or service account, sign-in attempts, or uploads to one URL.',
    'GET /v1/shipments, the 1,001st within a minute',
    'The limit of 1000 requests per minute is exceeded.',
    'Wait for Retry-After seconds, then send the same request again. X-RateLimit-Remaining shows how many requests are left. A bulk operation counts as one request.',
  ),
  busy: createErrorCodeDocs(
    'The service is at its limit, or too many requests change the same resource at once. Nothing was changed.',
    'POST /v1/shipments under very high load',
    'The service is at its limit; try again.',
    'Wait for Retry-After seconds, then send the same request again.',
  ),
  unavailable: createErrorCodeDocs(
    'The database or message broker does not respond. The message says whether the request may have changed something.',
    'POST /v1/shipments, sent while the database is down',
    'The event store does not respond. Whether the write took effect is unknown; send it again.',
    'Wait for Retry-After seconds, then send the same request again with the same Idempotency-Key.',
  ),
  read_model_behind: createErrorCodeDocs(
    'Your last write is stored, but the list did not include it within 5 seconds.',
    'GET /v1/shipments with a Consistency-Token',
    'Your last write is stored but not yet in the list; try again.',
    'Wait for Retry-After seconds, then send the request again. A resource read by its id always includes your last write.',
  ),
  internal_error: createErrorCodeDocs(
    'Internal server error. Send the request again; if the error persists, report the request id.',
    'Any request',
    'Internal server error. Send the request again; if the error persists, report the request id.',
    'Send the request again a few times, with increasing pauses. If the error persists, give the operator of the service the request_id.',
  ),
  idempotency_key_reused: createErrorCodeDocs(
    'The Idempotency-Key was used before with another method, path or body.',
    'POST /v1/shipments {"house_bill": "HBL-901"} with the key of another request',
    'The Idempotency-Key was used before with another path or body.',
    'Create a new key for each request, and reuse it only to repeat that request.',
  ),
  idempotency_in_progress: createErrorCodeDocs(
    'The first request with this Idempotency-Key is still in progress.',
    'POST /v1/shipments, repeated while the first request is in progress',
    'The first request with this Idempotency-Key is still in progress; try again.',
    'Wait for Retry-After seconds, then send the same request again. It gets the response to the first request.',
  ),
  precondition_failed: createErrorCodeDocs(
    'The resource has changed since the version that If-Match names.',
    'PATCH /v1/shipments/shp_… with If-Match: "1"',
    'The resource is now at version 2. Read it again before you change it.',
    'Read the resource, decide again based on its present state, and send its present ETag.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Request id of the examples. */
export const EXAMPLE_REQUEST_ID = 'req_5f6a2b8637ac4b5c9d535a0c4f1d2b11';
/** Invalid field of the examples. */
const EXAMPLE_FIELD_ERROR = {
  param: 'legs[0].etd',
  code: 'invalid_timestamp',
  message: 'Must have a time zone offset: Z for UTC, or for example +08:00.',
} as const;

/** Documentation that does not belong to a single feature. */
export const CROSS_FEATURE_API_DOCS: FeatureDocs = {
  errors: SERVER_ERROR_CODE_DOCS,
  fields: SHARED_FIELD_ERROR_DOCS,
  warnings: WARNING_DOCS,
  samples: { FieldError: EXAMPLE_FIELD_ERROR },
  values: {
    detail: SERVER_ERROR_CODE_DOCS.not_found.message,
    id: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
    message: 'The receiver responded with status 500.',
    name: 'Acme Electronics Ltd',
    next_cursor: null,
    param: null,
    request_id: EXAMPLE_REQUEST_ID,
    warnings: [],
    workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd',
  },
};
