/**
 * `pending`: no attempt of its present schedule yet. `retrying`: failed, with more attempts to come. The others are done:
 * `discarded` by a person, by the endpoint's deletion, or a sandbox event whose only attempt failed.
 */
export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'dead_lettered', 'discarded'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why an attempt failed: codes of a delivery's `last_error`, and so the reasons of dead letters. */
export const DELIVERY_ERROR_CODES = [
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
] as const;
