export { CatchUpSubscription } from './catch-up-subscription.ts';
export { CheckpointWriter } from './checkpoint-writer.ts';
export {
  CHECKPOINTS_COLLECTION,
  type CheckpointDocument,
  toHandledPosition,
  deleteEarlierGenerations,
  RETIRED_EPOCH,
  type HandledPosition,
  toLastHandledPosition,
  toLogPosition,
} from './checkpoint.ts';
export {
  PARKED_STREAMS_COLLECTION,
  type ParkedStream,
  describeError,
  ParkedStreams,
  type RetryOutcome,
} from './parked-streams.ts';
export { type PartitionCount, PartitionCounts, PARTITION_LAYOUTS_COLLECTION } from './partition-layout.ts';
export { PartitionedSubscription } from './partitioned-subscription.ts';
export {
  DEFAULT_PARTITIONS,
  computeSlotsOfStream,
  listSlotsOfPartition,
  PARTITION_NUMBERS,
  SLOT_COUNT,
} from './stream-slots.ts';
export * from './subscriber.ts';
