export { CHECKPOINTS, type CheckpointDocument } from './checkpoint.ts';
export { forgetEarlier } from './earlier-generations.ts';
export { PARKED, type ParkedStream, describe } from './parked-streams.ts';
export { Parked, type RetryOutcome } from './parked.ts';
export { persistently } from './persistently.ts';
export { RecentlyUsed } from './recently-used.ts';
export * from './subscriber.ts';
export { Subscription, type SubscriptionParts } from './subscription.ts';
