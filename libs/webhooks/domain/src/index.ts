export * from './delivery.ts';
export {
  DEFAULT_ENDPOINT_FIELDS,
  DEFAULT_MAX_CONCURRENCY,
  HEADER_VALUE_MASK,
  type CheckedEndpointFields,
  type EditableEndpointFields,
  checkEndpointFields,
} from './endpoint-fields.ts';
export {
  LOG_START_POSITION,
  type DisabledReason,
  ENDPOINT_STATUSES,
  type EndpointState,
  type EndpointStatus,
  type LogPosition,
  type RequestTimeWithLogHead,
  INITIAL_ENDPOINT_STATE,
  type TimePeriod,
  ENDPOINT_SHARD_COUNT,
  type EndpointVerificationResult,
  markEndpointDeleted,
  disableEndpoint,
  enableEndpoint,
  isEndpointEnabled,
  isKnownEventType,
  isSubscribedToEventType,
  computeShardOfEndpoint,
  resetEndpointForNewUrl,
  getEndpointUrlRevision,
  recordVerificationResult,
  doesEndpointReceiveEvent,
} from './endpoint.ts';
export {
  type CountedAttempt,
  HourlyAttemptCounter,
  type HourlyAttemptCounts,
  type LastDeliveryFailureRecord,
  startOfNextHour,
  startOfHour,
  computePercentile,
} from './hour-counts.ts';
export * from './outcome.ts';
export * from './replay.ts';
export * from './request.ts';
export {
  DEFAULT_RETRY_POLICY,
  type FinishedAttempt,
  type Random,
  type RetryPolicy,
  applyFinishedAttempt,
  computeMaxBackoffMs,
} from './retry-schedule.ts';
