export { CatchUpSubscription, type CatchUpSubscriptionParts } from './catch-up-subscription.ts';
export { CHECKPOINTS, type CheckpointDocument, placeOf } from './checkpoint.ts';
export { forgetEarlier } from './earlier-generations.ts';
export { PARKED, type ParkedStream, describe } from './parked-stream.ts';
export { ParkedStreams, type RetryOutcome } from './parked-streams.ts';
export { type Place, endOf, positionOf } from './places.ts';
export * from './subscriber.ts';
