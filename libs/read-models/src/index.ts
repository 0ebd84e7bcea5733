export type { Digest } from './digest.ts';
export type { MilestoneListQuery, MilestoneQueries } from './milestones/milestone-queries.ts';
export type { RetryOutcome } from './parked.ts';
export type { ParkedStream } from './projection/parked-streams.ts';
export type { Listed, Scope, SortValues } from './read-model.ts';
export { ReadModels, UnknownReadModel } from './read-models.ts';
export type { ReadModelName, ReadModelProgress, ReadModelsOptions, ReadModelState } from './read-models.ts';
export type { PossibleDuplicate, ShipmentListQuery, ShipmentQueries } from './shipments/shipment-queries.ts';
