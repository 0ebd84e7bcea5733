import type { QueryOf, WebhookDelivery } from '@tracking/client';

export type DeliveryStatus = WebhookDelivery['status'];
export type FailureReason = Extract<NonNullable<QueryOf<'listWebhookDeliveries'>['reason']>, string>;

/** What addresses may name: each page reads them, so what they are called in words stands elsewhere. */
export const DELIVERY_STATUS_NAMES: readonly DeliveryStatus[] = [
  'pending',
  'retrying',
  'succeeded',
  'dead_lettered',
  'discarded',
];
export const FAILURE_REASON_NAMES: readonly FailureReason[] = [
  'unexpected_status',
  'redirect_not_followed',
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_failed',
  'connection_reset',
  'tls_failed',
  'address_not_allowed',
  'url_not_allowed',
  'invalid_response',
];
