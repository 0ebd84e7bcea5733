export type { AnswerWithPosition } from './decide-batch.ts';
export { ShipmentRecheckJob, type RecheckJobDependencies } from './clock/recheck-job.ts';
export {
  RULES_VERSION,
  UpgradeRecheckRequester,
  type UnsettledShipmentReader,
  type SettingsRecheck,
  type RecheckStore,
} from './clock/rechecks.ts';
export {
  DueShipmentChecker,
  type RuleClockDependencies,
  type DueShipment,
  type DueShipmentList,
} from './clock/rule-clock.ts';
export {
  type EventTransfer,
  createEventTransfer,
  type EventOperations,
  type ShipmentOperations,
  createEventOperations,
  createRemoteEventRecreator,
  createEventTimeFinder,
  findRequestedShipmentId,
} from './operations.ts';
export { DEFAULT_PARTITIONS, ALLOWED_PARTITION_COUNTS, PartitionCountManager } from '@tracking/subscriptions';
export { createCommandIdOfBulkItem } from './ids.ts';
export { type PublishedEventMakerOptions, createEventMaker } from './publisher/event-maker.ts';
export { Publisher, PUBLISHER_SUBSCRIBER, type PublisherOptions } from './publisher/publisher.ts';
export type { ReadModelsContain, ReadModelsReached } from './publisher/publishing.ts';
export type { ShipmentCacheLimits } from './shipment-cache.ts';
export {
  EventSourcedShipmentService,
  type ShipmentsLimits,
  type ShipmentsOptions,
  type ShipmentsService,
} from './shipments.ts';
export type {
  FoundDocument,
  FoundException,
  FoundMilestone,
  FoundShipment,
  GetDocument,
  GetException,
  GetMilestoneRequest,
  GetShipment,
  GetShipmentAtTimeRequest,
  ListMilestonesAtTimeRequest,
  MatchMilestoneRequest,
  PageEnd,
  ReadShipmentHistoryRequest,
  ReadPage,
  ShipmentReads,
  UnnamedHistoryEntry,
} from './reads/shipment-reads.ts';

// Exports of the domain that HTTP and gRPC layers need, because they import only this library.
export {
  type AcknowledgeException,
  type AcknowledgeExceptionAnswer,
  type AddDocumentCommand,
  type ApproveDocument,
  type CancelShipmentCommand,
  type CancellationAnswer,
  type CheckedMilestone,
  type CheckRulesCommand,
  type CheckRulesAnswer,
  type ShipmentCheckResult,
  type CommandContext,
  type CompleteUpload,
  type ContainerMatchCandidate,
  type ContainerPatchAnswer,
  type CorrectMilestone,
  type CorrectMilestoneAnswer,
  type DeleteDocument,
  type DocumentAnswer,
  type DocumentInput,
  type ExceptionInput,
  type AnnouncedFileProperties,
  type KnownMode,
  type MilestoneInput,
  type MilestonePatch,
  type OpenExceptionCommand,
  type OpenExceptionAnswer,
  type PatchContainer,
  type PatchShipmentCommand,
  type ReceiveUpload,
  type ReceivedDocumentFile,
  type RecordMilestone,
  type RecordMilestoneAnswer,
  type RejectDocumentCommand,
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
  LOCATION_TIME_ZONE_KEYWORD,
  checkMilestone,
  checkShipmentFields,
  normaliseCode,
  parseShipmentId,
  parseShipmentIdOfPart,
  selectShipmentsMatchingContainer,
  toShipmentResource,
} from '@tracking/shipments-domain';
