import { entry } from './code-entry.ts';

/** Codes of the type `conflict`: what was there first forbids it. */
export const OF_CONFLICTS = {
  ambiguous_shipment: entry(
    'Several shipments have the reference.',
    'POST /v1/milestones/bulk {"milestones": [{"container_number": "MSKU1234565", …}]}',
    'Several shipments have this container_number, shp_…, shp_…',
    'Name the shipment by its shipment_id or external_id. Cancelled and old ones count too.',
  ),
  already_delivered: entry(
    'It is delivered already, and what is delivered is not cancelled.',
    'POST /v1/shipments/shp_…/cancel',
    'The shipment is delivered; it can no longer be cancelled.',
    'Nothing. If the delivery is wrong, retract its milestone first.',
  ),
  cancelled_by_milestone: entry(
    'A milestone cancels the shipment; only what takes that one back reopens it.',
    'POST /v1/shipments/shp_…/reopen',
    'Milestone mst_… cancels the shipment; its correction or a later booking_confirmed takes that back.',
    'Retract or correct the booking_cancelled, or post a later-dated booking_confirmed.',
  ),
  milestone_retracted: entry(
    'The milestone was taken back; what is retracted is not corrected.',
    'PATCH /v1/shipments/shp_…/milestones/mst_… {"note": "late"}',
    'The milestone was retracted. Post it again if it happened after all.',
    'Post it anew, or leave it.',
  ),
  milestone_exists: entry(
    'Another milestone of the shipment has this external_id.',
    'PATCH /v1/shipments/shp_…/milestones/mst_… {"external_id": "EV-7"}',
    'Milestone mst_… of the shipment has this external_id.',
    'Correct that one instead, or give yours a reference of its own.',
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
    'No bytes have come for the document yet.',
    'POST /v1/documents/doc_…/complete',
    'No bytes have come for it yet.',
    'PUT them to the URL of the upload first, then complete it.',
  ),
  exception_resolved: entry(
    'The exception is resolved; what is resolved is not acknowledged.',
    'POST /v1/exceptions/exc_…/acknowledge',
    'The exception is resolved.',
    'Nothing: it is over. Read it again to see how.',
  ),
  workspace_exists: entry(
    'There is a workspace of that name already.',
    'workspaces create --name acme',
    'There is a workspace acme already.',
    'Use that one, or choose another name.',
  ),
  user_exists: entry(
    'There is a user with this e-mail in the workspace already.',
    'POST /v1/users {"email": "ann@example.com", "role": "viewer"}',
    'There is a user with this e-mail in the workspace already.',
    'Change that user, or reactivate them.',
  ),
  user_not_active: entry(
    'The user or service account is deactivated, or has not accepted the invitation yet.',
    'POST /v1/api_keys for a deactivated service account',
    'The service account is not active: it has no valid keys.',
    'Reactivate them, or have the invitation accepted first.',
  ),
  last_admin: entry(
    'It is the only active admin of the workspace.',
    'POST /v1/users/usr_…/deactivate',
    'It is the only active admin of the workspace: make another one first.',
    'Make another user an admin first.',
  ),
  key_not_active: entry(
    'The key is revoked, expired or rotated already.',
    'POST /v1/api_keys/key_…/rotate',
    'The key is revoked.',
    'Make another key.',
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
  endpoint_not_verified: entry(
    'The URL of the webhook endpoint has not answered a challenge yet.',
    'POST /v1/webhook_endpoints/whe_…/enable',
    'The endpoint’s URL has not answered a challenge yet: verify it first.',
    'POST …/verify, and have the receiver answer with the token. last_verification tells why that failed.',
  ),
  endpoint_not_enabled: entry(
    'Deliveries are sent to enabled webhook endpoints only.',
    'POST /v1/webhook_deliveries/dlv_…/retry',
    'Deliveries are sent to enabled endpoints only: enable it first.',
    'POST …/enable, then try again. What waited is sent by itself then.',
  ),
  secret_unreadable: entry(
    'A secret was stored or made under a SECRETS_KEY that is lost.',
    'POST /v1/webhook_endpoints/whe_…/test',
    'The endpoint’s signing secret was stored under a key that is lost: delete the endpoint and make it again.',
    'Make another endpoint or key. Who runs the service can bring the lost SECRETS_KEY back instead.',
  ),
  delivery_succeeded: entry(
    'The delivery succeeded already, and what was delivered is not given up.',
    'POST /v1/webhook_deliveries/dlv_…/discard',
    'The event was delivered already.',
    'Nothing.',
  ),
  precondition_failed: entry(
    'The resource is not the one that If-Match names: somebody wrote in between.',
    'PATCH /v1/shipments/shp_… with If-Match: "1"',
    'The resource is at version 2; get it, and decide again.',
    'Read the resource, decide again with what it is now, and send its present ETag.',
  ),
} as const;
