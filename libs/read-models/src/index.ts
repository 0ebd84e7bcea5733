export type { RetryOutcome } from '@tracking/subscriptions';
export type { DeadlineQueries, DueShipment, UnsettledShipment } from './deadlines/deadline-queries.ts';
export type { Digest } from './digest.ts';
export type {
  DeletedDocument,
  DocumentListQuery,
  DocumentQueries,
  FoundDocument,
} from './documents/document-queries.ts';
export type { ExceptionListQuery, ExceptionQueries } from './exceptions/exception-queries.ts';
export { EXCEPTION_SORTS } from './exceptions/exception-ranges.ts';
export type { ExceptionListFilter, ExceptionSort } from './exceptions/exception-ranges.ts';
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
export { SHIPMENT_SORT_FIELDS } from './shipments/list-query.ts';
export type { ShipmentListFilter, ShipmentListQuery, ShipmentOrder } from './shipments/list-query.ts';
export { wordsOf } from './shipments/search-words.ts';
export type { PossibleDuplicate } from './shipments/possible-duplicates.ts';
export type { ShipmentQueries, ShipmentReferences } from './shipments/shipment-queries.ts';
