export { CatchUpSubscription } from './catch-up-subscription.ts';
export { CheckpointWriter } from './checkpoint-writer.ts';
export {
  CHECKPOINTS_COLLECTION_SPEC,
  type CheckpointDocument,
  toHandledPosition,
  deleteEarlierGenerations,
  RETIRED_CHECKPOINT_EPOCH,
  type HandledPosition,
  toHandledPositionAfterLateEvents,
  toLogPosition,
} from './checkpoint.ts';
export {
  PARKED_STREAMS_COLLECTION_SPEC,
  type ParkedStream,
  describeError,
  ParkedStreams,
  type RetryOutcome,
} from './parked-streams.ts';
export {
  type SubscriberPartitionCount,
  PartitionCountManager,
  PARTITION_LAYOUTS_COLLECTION_SPEC,
} from './partition-layout.ts';
export { PartitionedSubscription } from './partitioned-subscription.ts';
export {
  DEFAULT_PARTITIONS,
  computeSlotsOfStream,
  listSlotsOfPartition,
  ALLOWED_PARTITION_COUNTS,
  STREAM_SLOT_COUNT,
} from './stream-slots.ts';
export * from './subscriber.ts';
