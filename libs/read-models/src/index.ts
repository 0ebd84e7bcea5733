export { DEFAULT_PARTITIONS, type RetryOutcome } from '@tracking/subscriptions';
export {
  type DueRuleCheckQueries,
  type DueShipment,
  FINAL_SHIPMENT_STATUSES,
  type ShipmentAffectedBySettings,
} from './deadlines.ts';
export {
  READ_MODEL_LEASE_GROUP,
  ReadModels,
  UnknownReadModelError,
  type ReadModelProgress,
  type ReadModelsOptions,
  type NamedReadModelStatus,
} from './read-models.ts';
export type { DeletedDocument, DocumentListQuery, DocumentQueries, DocumentWithShipmentVersion } from './documents.ts';
export {
  type ExceptionListQuery,
  type ExceptionQueries,
  EXCEPTION_SORTS,
  type ExceptionListFilter,
  type ExceptionSort,
} from './exceptions.ts';
export type { MilestoneListQuery, MilestoneQueries } from './milestones.ts';
export { PublishedEventFeed, type EventFeedOptions, type FollowedEventFilter } from './published-events/event-feed.ts';
export type { PublishedEventFollower, EncodedPublicEvent } from './published-events/followed-events.ts';
export type { EventListQuery, EventQueries } from './published-events/event-queries.ts';
export { PublishedEventReader } from './published-events/published-events.ts';
export type { QueryPage, SortValues } from './read-model.ts';
export type { RowDigest } from './row-digest.ts';
export { listReadModelCollections, READ_MODEL_NAMES, type ReadModelName, type ReadModelQueries } from './registry.ts';
export {
  SHIPMENT_SORT_FIELDS,
  type ShipmentListFilter,
  type ShipmentListQuery,
  type ShipmentSortOrder,
} from './shipments/list-conditions.ts';
export { foldReference, INACTIVE_STATUSES, splitIntoSearchParts, splitIntoWords } from './shipments/shipment-terms.ts';
export type { ProjectionOperations } from './projected-partitions.ts';
export type { PossibleDuplicate } from './shipments/possible-duplicates.ts';
export type { ShipmentOfContainer, ShipmentQueries, ReferenceSearchValues } from './shipments/shipment-queries.ts';
