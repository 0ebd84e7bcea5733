export {
  type RecreatedEvents,
  type MakeEvents,
  type EventReference,
  type ShipmentStateAfterEvent,
  findPublicEventOfStoredEvent,
  toPublicEvent,
  toPublicEventId,
  toShipmentResource,
  findHistoryNoteOfEvent,
} from './announcements.ts';
export {
  type CheckedMilestone,
  type MilestoneInput,
  TIMEZONE_VALUE_FOR_LOCATION_ZONE,
  checkMilestone,
} from './check-milestone.ts';
export {
  type ShipmentFieldsCheckResult,
  SHIPMENT_LIMITS,
  type ShipmentInput,
  checkShipmentFields,
} from './check-shipment.ts';
export type {
  AcknowledgeException,
  AcknowledgeExceptionAnswer,
  ExceptionInput,
  OpenExceptionCommand,
  OpenExceptionAnswer,
  ResolveExceptionCommand,
  ResolveExceptionAnswer,
} from './commands/exceptions-by-hand.ts';
export type {
  AddDocumentCommand,
  CompleteUploadCommand,
  ReceiveUploadCommand,
  RequestUploadCommand,
} from './commands/upload-document.ts';
export type {
  CancelShipmentCommand,
  CancellationAnswer,
  CancellationDecision,
  ReopenCancelledShipmentCommand,
} from './commands/cancellation.ts';
export type { CheckRulesCommand, CheckRulesAnswer } from './commands/check-rules.ts';
export type {
  ContainerPatchAnswer,
  ContainerPatchDecision,
  PatchContainerCommand,
  PatchDecision,
  PatchShipmentCommand,
  ShipmentPatch,
  ShipmentPatchAnswer,
} from './commands/patches.ts';
export {
  type CommandContext,
  type CommandResult,
  type DecideContext,
  type Decision,
  createShipmentNotFoundError,
} from './commands/command.ts';
export type {
  CorrectMilestoneCommand,
  CorrectMilestoneAnswer,
  MilestonePatch,
  RetractMilestoneCommand,
  RetractMilestoneAnswer,
} from './commands/correct-milestone.ts';
export type {
  DeleteDocumentCommand,
  ApproveDocumentCommand,
  RejectDocumentCommand,
} from './commands/review-document.ts';
export type {
  DocumentAnswer,
  DocumentInput,
  DocumentResult,
  AnnouncedFileProperties,
} from './commands/document-decision.ts';
export type { MilestoneDecision, RecordMilestoneCommand, RecordMilestoneAnswer } from './commands/record-milestone.ts';
export {
  type AnswerOf,
  type CommandOf,
  type CommandType,
  type DecisionOf,
  type ShipmentCommand,
  decide,
  getCommandHandler,
} from './commands/shipment-commands.ts';
export type { UpsertDecision, UpsertShipment, UpsertShipmentAnswer } from './commands/upsert-shipment.ts';
export {
  type ContainerMatchCandidate,
  collectContainerMatchFacts,
  selectShipmentsForContainerMilestone,
} from './container-match.ts';
export type { PublicEventMapping } from './events/descriptor.ts';
export {
  applyChangeToException,
  isWholeExceptionInChange,
  listDocumentsChangedByEvent,
  applyEventToState,
  readExceptionChange,
  fold,
  readTimelineChangesOfEvent,
  evolveShipmentRecord,
  computeRecordMemoryWeight,
} from './evolve.ts';
export { readNextCheckTime } from './events/event-data.ts';
export type * from './events/event-data.ts';
export type { ShipmentEvent, ShipmentEventBody, StoredEventType } from './events/stored-events.ts';
export type { ClientContainerFields, RemovedContainers } from './changes.ts';
export { explainShipment } from './explanation.ts';
export { convertMsToRoundedHours } from './local-time.ts';
export { computePendingDocumentExpiryTime } from './documents.ts';
export { type KnownMode, normaliseCode } from './references.ts';
export {
  type DocumentState,
  type ClientScheduleValues,
  type CommandIdWithFirstEventRevision,
  type ShipmentState,
  type TimelineEntry,
  compareMilestones,
  findMilestone,
  findRevisionAppendedByCommand,
} from './state.ts';
export {
  SHIPMENT_STREAM_PREFIX,
  isShipmentStream,
  parseShipmentId,
  createShipmentIdFromToken,
  convertStreamNameToShipmentId,
  parseShipmentIdOfPart,
  toShipmentStreamName,
  removeShipmentIdPrefix,
  upcastStoredShipmentEvent,
  UnknownEventTypeError,
  storedEventTypes,
  upcastEventBody,
} from './stored-event.ts';
export { type TimelineChangesOfEvent, addReportTimeToMilestone } from './timeline.ts';
