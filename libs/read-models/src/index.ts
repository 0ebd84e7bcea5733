export type { RetryOutcome } from '@tracking/subscriptions';
export type { Digest } from './digest.ts';
export type { MilestoneListQuery, MilestoneQueries } from './milestones/milestone-queries.ts';
export type { EventListQuery, EventQueries } from './published-events/event-queries.ts';
export { type EventBodies, PublishedEvents } from './published-events/published-events.ts';
export type { Listed, Scope, SortValues } from './read-model.ts';
export { ReadModels, UnknownReadModel } from './read-models.ts';
export type {
  ParkedStream,
  ReadModelName,
  ReadModelProgress,
  ReadModelsOptions,
  ReadModelState,
} from './read-models.ts';
export type { PossibleDuplicate, ShipmentListQuery, ShipmentQueries } from './shipments/shipment-queries.ts';
