export * from './challenge.ts';
export { MASK } from './custom-headers.ts';
export * from './delivery.ts';
export {
  DEFAULT_ENDPOINT_FIELDS,
  DEFAULT_MAX_CONCURRENCY,
  type CheckedFields,
  type EndpointFields,
  checkEndpointFields,
} from './endpoint-fields.ts';
export { BEGINNING_OF_LOG, type LogPlace, type Moment } from './enabled-periods.ts';
export * from './endpoint.ts';
export * from './envelope.ts';
export * from './failing.ts';
export * from './hour-counts.ts';
export { percentile } from './latency.ts';
export { isKnownEventType, isSubscribed, wants } from './matching.ts';
export * from './outcome.ts';
export { type Period } from './periods.ts';
export * from './replay.ts';
export * from './sandbox.ts';
export * from './schedule.ts';
export * from './secrets.ts';
export * from './settle.ts';
export * from './shard.ts';
export * from './signature.ts';
