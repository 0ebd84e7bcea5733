import { ERROR_CODES } from '@tracking/contracts';
import type { ErrorCode } from '@tracking/contracts';
import { statusOf } from '../errors/error-status.ts';

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Shipment Tracking API</title>
    <link rel="icon" href="docs/assets/favicon-32x32.png">
    <link rel="stylesheet" href="docs/assets/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="docs/assets/swagger-ui-bundle.js"></script>
    <script src="docs/init.js"></script>
  </body>
</html>
`;

/** The server of the page is the one to try things on, whatever name the description gives it. */
export const DOCS_SCRIPT = `const show = async () => {
  const here = new URL('.', location.href).href;
  const response = await fetch(here + 'openapi.json');
  const spec = await response.json();
  spec.servers = [{ url: here.replace(/\\/$/, '') }];
  SwaggerUIBundle({ spec, dom_id: '#api', deepLinking: true, validatorUrl: null });
};
show();
`;

/** What each code means; one missing does not compile. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  validation_failed: 'The request is not valid; details names every faulty field.',
  unknown_parameter: 'The operation has no query parameter of that name; the message tells which it has.',
  malformed_json: 'The body is not a JSON document in UTF-8.',
  body_too_large: 'The body is larger than the path accepts; the message tells how large it may be.',
  unsupported_media_type: 'The body is not application/json, or is compressed.',
  invalid_cursor: 'The cursor is not one of this list, or was sent with other filters.',
  external_id_immutable: 'The external_id of a shipment never changes and cannot be set later.',
  reference_required: 'A shipment needs an external_id, a house_bill or container_numbers.',
  limit_exceeded: 'More elements than are possible.',
  invalid_consistency_token: 'The Consistency-Token is not one that a write was answered with.',
  method_not_allowed: 'The path exists, but not with this method; Allow names those that it has.',
  request_timeout: 'The request did not arrive within a minute.',
  expectation_failed: 'The request expects what is not done here; only 100-continue is known.',
  headers_too_large: 'The headers of the request are too large together; the message tells how large they may be.',
  missing_api_key: 'The request carries neither an API key nor a session.',
  invalid_api_key: 'The API key is not valid: unknown, revoked or expired, or its owner is deactivated.',
  invalid_credentials: 'There is no active user with this e-mail and password.',
  invalid_session: 'The session has ended, or is none; sign in again.',
  permission_denied: 'The key or user lacks the permission that the message names.',
  csrf: 'A write with a session came from another site, or without the header X-Requested-With.',
  not_found: 'There is no such path, or no such resource in this workspace and environment.',
  workspace_exists: 'There is a workspace of that name already.',
  user_exists: 'There is a user with this e-mail in the workspace already.',
  user_not_active: 'The user or service account is deactivated, or has not accepted the invitation yet.',
  last_admin: 'It is the only active admin of the workspace: make another one first.',
  key_not_active: 'The key is revoked, expired or rotated already.',
  idempotency_key_reused: 'The Idempotency-Key was sent before with another method, path or body.',
  idempotency_in_progress: 'The first request with this Idempotency-Key is under way; see Retry-After.',
  ambiguous_shipment: 'Several shipments have the reference: name one by its id.',
  already_delivered: 'It is delivered already.',
  cancelled_by_milestone: 'A milestone cancels the shipment; only what takes that one back reopens it.',
  milestone_retracted: 'The milestone was taken back; what is retracted is not corrected.',
  milestone_exists: 'Another milestone of the shipment has this external_id.',
  document_not_pending: 'No bytes are waited for: the document is complete, expired or deleted.',
  document_not_uploaded: 'The document has no bytes: it is pending, expired or deleted.',
  document_reviewed: 'The document was approved or rejected already; replace it by another one.',
  document_replaced: 'Another document replaced it already.',
  upload_missing: 'No bytes have come for the document yet: send them to the URL of the upload first.',
  size_mismatch: 'Other bytes came than were told: their number differs. Send them again.',
  checksum_mismatch: 'Other bytes came than were told: their SHA-256 differs. Send them again.',
  unsupported_document_type: 'Judged by its content it is none of the types that are taken.',
  empty_file: 'The file has no bytes.',
  malformed_multipart: 'The body is not a form of the fields that are expected.',
  range_not_satisfiable: 'The document has no bytes in the range that was asked for.',
  invalid_upload_url: 'The URL is none that was made for an upload, or it has expired; ask for another one.',
  exception_resolved: 'The exception is resolved; what is resolved is not acknowledged.',
  endpoint_not_verified: 'The URL of the webhook endpoint has not answered a challenge yet: verify it first.',
  secret_unreadable: 'A secret was stored or made under a SECRETS_KEY that is lost: make another.',
  endpoint_not_enabled: 'Deliveries are sent to enabled webhook endpoints only: enable it first.',
  delivery_succeeded: 'The delivery succeeded already.',
  precondition_failed: 'The resource is not the one that If-Match names.',
  rate_limited: 'More requests within a minute than the key or session has, or more tries to sign in; see Retry-After.',
  too_many_streams: 'The key or session has as many event streams open as it may.',
  busy: 'The service is at its limit and nothing was done; see Retry-After.',
  unavailable: 'An engine does not answer. The message tells whether anything may have been done; see Retry-After.',
  read_model_behind: 'Your last write is stored but not listed yet; see Retry-After.',
  internal_error: 'Something went wrong on our side; the request id finds it in our logs.',
};

const ROWS = (Object.keys(ERROR_CODES) as ErrorCode[]).map(
  (code) =>
    `<tr id="${code}"><td><code>${code}</code></td><td>${statusOf(code)}</td><td>${ERROR_CODES[code]}</td><td>${MEANINGS[code]}</td></tr>`,
);

export const ERRORS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Error codes — Shipment Tracking API</title>
  </head>
  <body>
    <h1>Error codes</h1>
    <table>
      <thead><tr><th>code</th><th>status</th><th>type</th><th>meaning</th></tr></thead>
      <tbody>
        ${ROWS.join('\n        ')}
      </tbody>
    </table>
  </body>
</html>
`;
