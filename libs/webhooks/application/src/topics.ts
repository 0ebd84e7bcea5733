import type { TopicSpec } from '@tracking/ports';

/** Messages of the topic of public events that could not be taken for events, as they came, with the reason in a header. */
export const PARKED_TOPIC = 'shipment-events-parked';
/** One message for each delivery that failed for good, keyed by endpoint. */
export const DEAD_LETTERS_TOPIC = 'webhook-dead-letters';
/** The consumer group of the topic of public events that records deliveries. */
export const CONSUMER_GROUP = 'webhooks';

const DAY_MS = 86_400_000;

/** The topics that this feature writes to; they are to be there before it starts. */
export const WEBHOOK_TOPICS: readonly TopicSpec[] = [
  { name: PARKED_TOPIC, partitions: 1, retentionMs: 30 * DAY_MS },
  { name: DEAD_LETTERS_TOPIC, partitions: 4, retentionMs: 30 * DAY_MS },
];
