/**
 * `pending`: no attempt of its present schedule yet. `retrying`: failed, with more attempts to come. The others are done:
 * `discarded` by a person, by the endpoint's deletion, or a sandbox event whose only attempt failed.
 */
export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'dead_lettered', 'discarded'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
