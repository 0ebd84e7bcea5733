export { CatchUpSubscription } from './catch-up-subscription.ts';
export {
  CHECKPOINTS,
  type CheckpointDocument,
  handledPositionOf,
  deleteEarlierGenerations,
  type HandledPosition,
  lastHandledPositionOf,
  logPositionOf,
} from './checkpoint.ts';
export { PARKED, type ParkedStream, describeError, ParkedStreams, type RetryOutcome } from './parked-streams.ts';
export * from './subscriber.ts';
