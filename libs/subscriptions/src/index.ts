export { CatchUpSubscription } from './catch-up-subscription.ts';
export {
  CHECKPOINTS_COLLECTION,
  type CheckpointDocument,
  toHandledPosition,
  deleteEarlierGenerations,
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
export {
  DEFAULT_PARTITIONS,
  type PartitionCount,
  PartitionCounts,
  PARTITION_LAYOUTS_COLLECTION,
  PARTITION_NUMBERS,
} from './partition-layout.ts';
export { PartitionedSubscription } from './partitioned-subscription.ts';
export * from './subscriber.ts';
