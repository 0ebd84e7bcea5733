export { type AnswerWithPosition, createCachedRuleSettingsReader } from './decide-batch.ts';
export { ShipmentRecheckJob, type RecheckJobDependencies } from './clock/recheck-job.ts';
export {
  RULES_VERSION,
  UpgradeRecheckRequester,
  type UnsettledShipmentReader,
  type RequestedShipmentRecheck,
  type RecheckStore,
} from './clock/rechecks.ts';
export {
  DueShipmentChecker,
  type RuleClockDependencies,
  type DueShipment,
  type DueShipmentSource,
} from './clock/rule-clock.ts';
export {
  type EventTransferOperations,
  createEventImportAndExport,
  type EventOperations,
  type ShipmentOperations,
  createEventOperations,
  createEventMakerCallingEventStoreProcess,
  createNextEventRecordingTimeFinder,
  findShipmentIdOfOperationRequest,
} from './operations.ts';
export { DEFAULT_PARTITIONS, ALLOWED_PARTITION_COUNTS, PartitionCountManager } from '@tracking/subscriptions';
export { createCommandIdOfBulkItem } from './ids.ts';
export { type PublishedEventMakerOptions, createPublicEventRecreator } from './publisher/event-maker.ts';
export { ShipmentEventPublisher, PUBLISHER_SUBSCRIBER_NAME, type PublisherOptions } from './publisher/publisher.ts';
export type { ReadModelsContain, ReadModelsReached } from './publisher/publishing.ts';
export type { ShipmentCacheLimits } from './shipment-cache.ts';
export {
  EventSourcedShipmentService,
  type ShipmentServiceLimits,
  type ShipmentsOptions,
  type ShipmentsService,
} from './shipments.ts';
export type {
  FoundDocument,
  ExceptionWithShipmentVersion,
  MilestoneWithShipmentVersion,
  ShipmentWithEventPosition,
  GetDocumentRequest,
  GetExceptionRequest,
  GetMilestoneRequest,
  GetShipmentRequest,
  GetShipmentAtTimeRequest,
  ListMilestonesAtTimeRequest,
  MilestoneBelongsToShipmentRequest,
  PageEnd,
  ReadShipmentHistoryRequest,
  ReadPage,
  ShipmentStreamReads,
  UnnamedHistoryEntry,
} from './reads/shipment-reads.ts';

// Exports of the domain that HTTP and gRPC layers need, because they import only this library.
export {
  type AcknowledgeException,
  type AcknowledgeExceptionAnswer,
  type AddDocumentCommand,
  type ApproveDocumentCommand,
  type CancelShipmentCommand,
  type CancellationAnswer,
  type CheckedMilestone,
  type CheckRulesCommand,
  type CheckRulesAnswer,
  type ShipmentFieldsCheckResult,
  type CommandContext,
  type CompleteUploadCommand,
  type ContainerMatchCandidate,
  type ContainerPatchAnswer,
  type CorrectMilestoneCommand,
  type CorrectMilestoneAnswer,
  type DeleteDocumentCommand,
  type DocumentAnswer,
  type DocumentInput,
  type ExceptionInput,
  type AnnouncedFileProperties,
  type KnownMode,
  type MilestoneInput,
  type MilestonePatch,
  type OpenExceptionCommand,
  type OpenExceptionAnswer,
  type PatchContainerCommand,
  type PatchShipmentCommand,
  type ReceiveUploadCommand,
  type ReceivedDocumentFile,
  type RecordMilestoneCommand,
  type RecordMilestoneAnswer,
  type RejectDocumentCommand,
  type ReopenCancelledShipmentCommand,
  type RequestUploadCommand,
  type ResolveExceptionCommand,
  type ResolveExceptionAnswer,
  type RetractMilestoneCommand,
  type RetractMilestoneAnswer,
  type ShipmentInput,
  type ShipmentPatch,
  type ShipmentPatchAnswer,
  type UpsertShipment,
  type UpsertShipmentAnswer,
  SHIPMENT_LIMITS,
  TIMEZONE_VALUE_FOR_LOCATION_ZONE,
  checkMilestone,
  checkShipmentFields,
  normaliseCode,
  parseShipmentId,
  parseShipmentIdOfPart,
  selectShipmentsForContainerMilestone,
  toShipmentResource,
} from '@tracking/shipments-domain';
