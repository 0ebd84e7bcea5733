import { entry } from './code-entry.ts';

/** Codes of all other types. */
export const OF_OTHERS = {
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
  invalid_credentials: entry(
    'There is no active user with this e-mail and password.',
    'POST /v1/session {"email": "ann@example.com", "password": "…"}',
    'There is no active user with this e-mail and password.',
    'Have the person type them again, or reset the password. After many tries it is answered 429.',
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
  invalid_upload_url: entry(
    'The URL is none that was made for an upload, was altered, or has expired.',
    'PUT /v1/documents/doc_…/content?token=…, an hour later',
    'The URL has expired.',
    'Ask for another upload: a URL lives for fifteen minutes. Use it as it came.',
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
  too_many_streams: entry(
    'The key or session has as many event streams open as it may.',
    'GET /v1/events/stream, the 21st',
    'There are 20 streams of this key or session already: end one of them first.',
    'Close those that are not read. One stream with several types does for many.',
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
} as const;
