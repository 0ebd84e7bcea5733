import type { PublicAddresses } from '@tracking/contracts';
import type { TopicSpec } from '@tracking/ports';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '@tracking/webhooks-domain';

/** How long the log is kept after a delivery has ended, in milliseconds. */
export interface Retention {
  /** Of succeeded and discarded deliveries. */
  readonly deliveriesMs: number;
  readonly deadLettersMs: number;
}

/** Durations in milliseconds. */
export interface WebhookSettings {
  readonly policy: RetryPolicy;
  /** One attempt, test or challenge, from name resolution to the last byte. */
  readonly timeoutMs: number;
  /** Links in sandbox events begin with these. */
  readonly addresses: PublicAddresses;
  /** Most attempts at once in this process. */
  readonly maxInFlight: number;
  /** Most deliveries in memory for their attempt; others wait on disk. Endpoints that work may exceed it slightly. */
  readonly maxWaiting: number;
  /** Most bytes of bodies in memory. */
  readonly payloadCacheBytes: number;
  /** Most messages consumed at once. */
  readonly maxBatch: number;
  /** Nothing is sent on knowledge of endpoint and delivery older than this. */
  readonly freshnessMs: number;
  /** How often this process looks for wake-ups of others. */
  readonly pollMs: number;
  /** How often the number of events that wait to be recorded is measured. */
  readonly lagPollMs: number;
  /** An endpoint that failed every attempt for this long receives all that waits as soon as it answers again. */
  readonly recoveryAfterMs: number;
  /** After failures for this long without a success an endpoint is reported to the workspace's others. */
  readonly failingAfterMs: number;
  readonly retention: Retention;
  /** How often records at the end of their retention are deleted; the first time this long after the start. */
  readonly sweepMs: number;
  /** How often statistics are written, while attempts are counted. */
  readonly statsWriteMs: number;
  /** An hour of statistics is written for the last time after this long without a count, or when it is over. */
  readonly statsIdleMs: number;
  /** An hour that may have been counted wrongly is counted again when that has been known for this long. */
  readonly statsSettleMs: number;
  /** Bounds of the pauses between tries while an engine does not answer: of the first pause, and of all. */
  readonly enginePauses: { readonly firstPauseMs: number; readonly maxPauseMs: number };
  /** Longest wait for attempts under way when stopping. */
  readonly drainMs: number;
}

const DAY_MS = 86_400_000;

export const DEFAULT_SETTINGS: Omit<WebhookSettings, 'addresses'> = {
  policy: DEFAULT_RETRY_POLICY,
  timeoutMs: 10_000,
  maxInFlight: 1_000,
  maxWaiting: 20_000,
  payloadCacheBytes: 64 * 1024 * 1024,
  maxBatch: 500,
  freshnessMs: 1_000,
  pollMs: 100,
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

/** Messages of the topic of public events that are no events, as they came, with the reason in a header. */
export const PARKED_TOPIC = 'shipment-events-parked';
/** One message for each delivery that failed for good, keyed by endpoint. */
export const DEAD_LETTERS_TOPIC = 'webhook-dead-letters';
/** The consumer group of the topic of public events that records deliveries. */
export const CONSUMER_GROUP = 'webhooks';

/** The topics that this feature writes to. They must exist before it starts. */
export const WEBHOOK_TOPICS: readonly TopicSpec[] = [
  { name: PARKED_TOPIC, partitions: 1, retentionMs: 30 * DAY_MS },
  { name: DEAD_LETTERS_TOPIC, partitions: 4, retentionMs: 30 * DAY_MS },
];
