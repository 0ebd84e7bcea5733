export * from './delivery.ts';
export {
  DEFAULT_ENDPOINT_FIELDS,
  DEFAULT_MAX_CONCURRENCY,
  MASK,
  type CheckedFields,
  type EndpointFields,
  checkEndpointFields,
} from './endpoint-fields.ts';
export {
  BEGINNING_OF_LOG,
  type DisabledReason,
  ENDPOINT_STATUSES,
  type EndpointState,
  type EndpointStatus,
  type LogPlace,
  type Moment,
  NEW_ENDPOINT,
  type Period,
  SHARD_COUNT,
  type Verification,
  deleted,
  disabled,
  enabled,
  isAttempted,
  isKnownEventType,
  isSubscribed,
  shardOf,
  urlChanged,
  urlRevision,
  verificationEnded,
  wants,
} from './endpoint.ts';
export {
  type CountedAttempt,
  HourCounter,
  type HourCounts,
  type LastError,
  hourAfter,
  hourOf,
  percentile,
} from './hour-counts.ts';
export * from './outcome.ts';
export * from './replay.ts';
export * from './request.ts';
export { DEFAULT_RETRY_POLICY, type FinishedAttempt, type Random, type RetryPolicy, settle } from './settle.ts';
