export { CatchUpSubscription } from './catch-up-subscription.ts';
export {
  CHECKPOINTS,
  type CheckpointDocument,
  toHandledPosition,
  deleteEarlierGenerations,
  type HandledPosition,
  toLastHandledPosition,
  toLogPosition,
} from './checkpoint.ts';
export {
  PARKED_STREAMS,
  type ParkedStream,
  describeError,
  ParkedStreams,
  type RetryOutcome,
} from './parked-streams.ts';
export * from './subscriber.ts';
