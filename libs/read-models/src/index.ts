export type { RetryOutcome } from '@tracking/subscriptions';
export type { Digest } from './digest.ts';
export type { MilestoneListQuery, MilestoneQueries } from './milestones/milestone-queries.ts';
export { EventFeed } from './published-events/event-feed.ts';
export type { EventFeedOptions, FollowFilter } from './published-events/event-feed.ts';
export type { FollowedEvents } from './published-events/followed-events.ts';
export type { EventListQuery, EventQueries } from './published-events/event-queries.ts';
export { PublishedEvents } from './published-events/published-events.ts';
export type { ToldEvent } from './published-events/recent-events.ts';
export type { QueryPage, SortValues } from './read-model.ts';
export { ReadModels, UnknownReadModel } from './read-models.ts';
export type { ReadModelProgress, ReadModelsOptions, ReadModelState } from './read-models.ts';
export type { ReadModelName, ReadModelQueries } from './registry.ts';
export type {
  PossibleDuplicate,
  ShipmentListQuery,
  ShipmentQueries,
  ShipmentReferences,
} from './shipments/shipment-queries.ts';
