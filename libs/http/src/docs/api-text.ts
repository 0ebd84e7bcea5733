export const API_TITLE = 'Shipment Tracking API';
export const DESCRIPTION = `Track freight shipments: create them, record what happens to them, and read where they are.

Every request carries \`Authorization: Bearer <API_KEY>\`, or the cookie of a session; a session’s writes need
\`X-Requested-With\`, and its requests may name the environment in \`Environment\`. Lists are paged with \`limit\` and \`cursor\`. Errors have one form,
or are \`application/problem+json\` where \`Accept\` asks for it; their codes are explained at /docs/errors.

Names of query parameters that an operation does not have are refused. Unknown fields of a body are ignored and named in
the answer's \`warnings\`, which every write has. Values of enumerations may be written in any case. A path that exists, but
not with the method asked for, is answered 405 with \`Allow\`.

Header of a request | Meaning
---|---
\`Idempotency-Key\` | Of a POST: sent again under the same key, it is carried out once and answered the same, for 24 hours.
\`Prefer: handling=strict\` | Refuse unknown fields of a body and wrong check digits, instead of warning.
\`Consistency-Token\` | Read nothing older than the write that answered with it.
\`If-Match\` | Of a write: carry it out only if the resource still has one of these ETags; else 412.
\`If-None-Match\` | Of a read: 304 if the resource still has one of these ETags.
\`traceparent\` | W3C trace context, kept with what the request writes; a trace is begun where there is none.

Header of an answer | Meaning
---|---
\`Request-Id\` | The request's id, as in the error body.
\`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` | Requests per minute, those left, and the epoch second when all are free again.
\`Consistency-Token\` | Of a write: its place, for reads by others, or through others, that must see it.
\`ETag\` | Of one resource: its version. It changes with every change.
\`Idempotency-Replayed\` | \`true\` on the answer to a request that was answered before.
\`Retry-After\` | Seconds, with 429 and 503, and where the first request under a key is under way.
\`Deprecation\`, \`Sunset\`, \`Link\` | Of an operation that goes: since when, when it ends, and where to read what to use instead.`;

/** What operations are about, in the order in which they are shown. */
export const TAGS: Readonly<Record<string, string>> = {
  Shipments: 'Freight shipments with their containers and legs, and why they are what they are.',
  Milestones: 'What happened to a shipment, or is expected to.',
  Exceptions: 'What is wrong with a shipment, found by rules or told by people.',
  Documents: 'The papers of a shipment, with their bytes.',
  Places: 'Ports and airports by their names.',
  Events: 'What clients are told, to read afterwards or to follow.',
  'Webhook endpoints': 'Where events are posted to.',
  'Webhook deliveries': 'Every event for every endpoint, with each attempt.',
  'Webhook dead letters': 'What failed for good: counted, delivered again or given up, many at once.',
  'Webhook replays': 'Sending again what failed or was missed.',
  Webhooks: 'What is posted to endpoints.',
  'API keys': 'Keys of people and of service accounts.',
  'Service accounts': 'Other systems, with a role of their own.',
  Users: 'People and what they may do.',
  'One-time links': 'Invitations, and links by which a password is set.',
  Session: 'Signing in, for pages of our own.',
  'Audit log': 'Who changed keys, users, endpoints and settings.',
  Settings: 'How exceptions open, and which documents a shipment needs.',
  Health: 'For orchestrators.',
};
