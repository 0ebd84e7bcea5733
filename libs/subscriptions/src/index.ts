export { CatchUpSubscription } from './catch-up-subscription.ts';
export {
  CHECKPOINTS,
  type CheckpointDocument,
  placeOf,
  forgetEarlier,
  type Place,
  endOf,
  positionOf,
} from './checkpoint.ts';
export { PARKED, type ParkedStream, describe, ParkedStreams, type RetryOutcome } from './parked-streams.ts';
export * from './subscriber.ts';
