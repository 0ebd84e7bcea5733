export type { WrittenAnswer } from './decide-batch.ts';
export { RecheckJob, type RecheckJobDependencies } from './clock/recheck-job.ts';
export {
  RULES_VERSION,
  UpgradeRecheck,
  type UnsettledShipments,
  type SettingsRecheck,
  type RecheckStore,
} from './clock/rechecks.ts';
export { RuleClock, type RuleClockDependencies, type DueShipment, type DueShipmentList } from './clock/rule-clock.ts';
export {
  type EventTransfer,
  createEventTransfer,
  type EventOperations,
  type ShipmentOperations,
  createEventOperations,
  createRemoteEventMaker,
  createEventTimeFinder,
  findRequestedShipmentId,
} from './operations.ts';
export { DEFAULT_PARTITIONS, PARTITION_NUMBERS, PartitionCounts } from '@tracking/subscriptions';
export { createCommandIdOfBulkItem } from './ids.ts';
export { type EventMakerOptions, createEventMaker } from './publisher/event-maker.ts';
export { Publisher, PUBLISHER_SUBSCRIBER, type PublisherOptions } from './publisher/publisher.ts';
export type { ReadModelsContain, ReadModelsReached } from './publisher/publishing.ts';
export type { CacheLimits } from './shipment-cache.ts';
export { Shipments, type ShipmentsLimits, type ShipmentsOptions, type ShipmentsService } from './shipments.ts';
export type {
  FoundDocument,
  FoundException,
  FoundMilestone,
  FoundShipment,
  GetDocument,
  GetException,
  GetMilestone,
  GetShipment,
  GetShipmentAt,
  ListMilestonesAt,
  MatchMilestone,
  PageEnd,
  ReadHistory,
  ReadPage,
  ShipmentReads,
  UnnamedHistoryEntry,
} from './reads/shipment-reads.ts';

// Exports of the domain that HTTP and gRPC layers need, because they import only this library.
export {
  type AcknowledgeException,
  type AcknowledgeExceptionAnswer,
  type AddDocument,
  type ApproveDocument,
  type CancelShipment,
  type CancellationAnswer,
  type CheckedMilestone,
  type CheckRules,
  type CheckRulesAnswer,
  type CheckedShipment,
  type CommandContext,
  type CompleteUpload,
  type ContainerMatch,
  type ContainerPatchAnswer,
  type CorrectMilestone,
  type CorrectMilestoneAnswer,
  type DeleteDocument,
  type DocumentAnswer,
  type DocumentInput,
  type ExceptionInput,
  type AnnouncedBytes,
  type KnownMode,
  type MilestoneInput,
  type MilestonePatch,
  type OpenException,
  type OpenExceptionAnswer,
  type PatchContainer,
  type PatchShipment,
  type ReceiveUpload,
  type ReceivedObject,
  type RecordMilestone,
  type RecordMilestoneAnswer,
  type RejectDocument,
  type ReopenShipment,
  type RequestUpload,
  type ResolveException,
  type ResolveExceptionAnswer,
  type RetractMilestone,
  type RetractMilestoneAnswer,
  type ShipmentInput,
  type ShipmentPatch,
  type ShipmentPatchAnswer,
  type UpsertShipment,
  type UpsertShipmentAnswer,
  SHIPMENT_LIMITS,
  ZONE_OF_LOCATION,
  checkMilestone,
  checkShipmentFields,
  normaliseCode,
  parseShipmentId,
  parseShipmentIdOfPart,
  selectMatchingShipments,
  toShipmentResource,
} from '@tracking/shipments-domain';
