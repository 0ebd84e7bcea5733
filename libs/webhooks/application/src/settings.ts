import type { PublicAddresses } from '@tracking/contracts';
import type { TopicSpec } from '@tracking/ports';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '@tracking/webhooks-domain';

/** Time for which the log is kept after a delivery has ended, in milliseconds. */
export interface DeliveryLogRetentionPeriods {
  /** Retention of succeeded and discarded deliveries. */
  readonly deliveriesMs: number;
  readonly deadLettersMs: number;
}

/** Settings of webhooks. Durations in milliseconds. */
export interface WebhookSettings {
  readonly policy: RetryPolicy;
  /** Timeout of one attempt, test or challenge, from name resolution to the last byte. */
  readonly timeoutMs: number;
  /** Base addresses of links in sandbox events. */
  readonly addresses: PublicAddresses;
  /** Maximum concurrent attempts in this process. */
  readonly maxInFlight: number;
  /**
   * Maximum number of pending deliveries in memory; others stay on disk. Endpoints that work may exceed the limit
   * slightly.
   */
  readonly maxWaiting: number;
  /** Maximum bytes of bodies in memory. */
  readonly payloadCacheBytes: number;
  /** Maximum number of messages consumed at once. */
  readonly maxBatch: number;
  /** Maximum age of the endpoint and delivery that an attempt is based on. */
  readonly freshnessMs: number;
  /** Interval at which this process checks for stored wake-ups of its endpoints and jobs. */
  readonly pollMs: number;
  /** Interval at which the number of events waiting to be recorded is measured. */
  readonly lagPollMs: number;
  /**
   * Duration of failure after which a success starts a recovery: the endpoint receives all pending deliveries
   * immediately.
   */
  readonly recoveryAfterMs: number;
  /** Duration without a success after which a failing endpoint is reported to the workspace's other endpoints. */
  readonly failingAfterMs: number;
  readonly retention: DeliveryLogRetentionPeriods;
  /**
   * Interval at which records at the end of their retention are deleted. The first time is this long after the start.
   */
  readonly sweepMs: number;
  /** Interval at which statistics are written while attempts are counted. */
  readonly statsWriteMs: number;
  /** Time without a count after which an hour of statistics is closed. An hour is also closed when it is over. */
  readonly statsIdleMs: number;
  /** Delay before hourly statistics that may be wrong are recounted. */
  readonly statsSettleMs: number;
  /** Pauses between retries while a storage engine is unreachable: the first and the longest pause. */
  readonly enginePauses: { readonly firstPauseMs: number; readonly maxPauseMs: number };
  /** Longest wait for attempts in progress when stopping. */
  readonly drainMs: number;
}

const DAY_MS = 86_400_000;

export const DEFAULT_WEBHOOK_SETTINGS: Omit<WebhookSettings, 'addresses'> = {
  policy: DEFAULT_RETRY_POLICY,
  timeoutMs: 10_000,
  maxInFlight: 1_000,
  maxWaiting: 20_000,
  payloadCacheBytes: 64 * 1024 * 1024,
  maxBatch: 500,
  freshnessMs: 1_000,
  pollMs: 1_000,
  lagPollMs: 5_000,
  recoveryAfterMs: 600_000,
  failingAfterMs: 3_600_000,
  retention: { deliveriesMs: 30 * DAY_MS, deadLettersMs: 90 * DAY_MS },
  sweepMs: 600_000,
  statsWriteMs: 1_000,
  statsIdleMs: 60_000,
  statsSettleMs: 5_000,
  enginePauses: { firstPauseMs: 100, maxPauseMs: 4_000 },
  drainMs: 15_000,
};

/**
 * Topic of parked messages: messages of the topic of public events that are not valid events, unchanged, with the
 * reason in a header.
 */
export const PARKED_TOPIC = 'shipment-events-parked';
/** Topic of dead letters: one message for each, keyed by endpoint. */
export const DEAD_LETTERS_TOPIC = 'webhook-dead-letters';
/** Consumer group that records deliveries from the topic of public events. */
export const CONSUMER_GROUP = 'webhooks';

/** Topics that this feature writes to. They must exist before it starts. */
export const WEBHOOK_BROKER_TOPICS: readonly TopicSpec[] = [
  { name: PARKED_TOPIC, partitions: 1, retentionMs: 30 * DAY_MS },
  { name: DEAD_LETTERS_TOPIC, partitions: 4, retentionMs: 30 * DAY_MS },
];
