export {
  type RecreatedEvents,
  type MakeEvents,
  type EventReference,
  type ShipmentSnapshot,
  findPublicEventOfStoredEvent,
  toPublicEvent,
  toPublicEventId,
  toShipmentResource,
  findHistoryNote,
} from './announcements.ts';
export { type CheckedMilestone, type MilestoneInput, ZONE_OF_LOCATION, checkMilestone } from './check-milestone.ts';
export { type CheckedShipment, SHIPMENT_LIMITS, type ShipmentInput, checkShipmentFields } from './check-shipment.ts';
export type {
  AcknowledgeException,
  AcknowledgeExceptionAnswer,
  ExceptionInput,
  OpenException,
  OpenExceptionAnswer,
  ResolveException,
  ResolveExceptionAnswer,
} from './commands/exceptions-by-hand.ts';
export type { AddDocument, CompleteUpload, ReceiveUpload, RequestUpload } from './commands/upload-document.ts';
export type {
  CancelShipment,
  CancellationAnswer,
  CancellationDecision,
  ReopenShipment,
} from './commands/cancellation.ts';
export type { CheckRules, CheckRulesAnswer } from './commands/check-rules.ts';
export type {
  ContainerPatchAnswer,
  ContainerPatchDecision,
  PatchContainer,
  PatchDecision,
  PatchShipment,
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
  CorrectMilestone,
  CorrectMilestoneAnswer,
  MilestonePatch,
  RetractMilestone,
  RetractMilestoneAnswer,
} from './commands/correct-milestone.ts';
export type { DeleteDocument, ApproveDocument, RejectDocument } from './commands/review-document.ts';
export type { DocumentAnswer, DocumentInput, DocumentResult, AnnouncedBytes } from './commands/document-decision.ts';
export type { MilestoneDecision, RecordMilestone, RecordMilestoneAnswer } from './commands/record-milestone.ts';
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
export { type ContainerMatch, computeContainerMatch, selectMatchingShipments } from './container-match.ts';
export type { Announcement } from './events/descriptor.ts';
export {
  applyChangeToException,
  containsWholeException,
  readChangedDocuments,
  applyEventToState,
  readExceptionChange,
  fold,
  readMilestoneChanges,
  evolveRecord,
  computeRecordWeight,
} from './evolve.ts';
export { readNextCheckTime } from './events/event-data.ts';
export type * from './events/event-data.ts';
export type { ShipmentEvent, ShipmentEventBody, StoredEventType } from './events/stored-events.ts';
export type { ClientContainerFields, RemovedContainers } from './changes.ts';
export { explainShipment } from './explanation.ts';
export { convertMsToRoundedHours } from './local-time.ts';
export { computeUploadExpiryTime } from './documents.ts';
export { type KnownMode, normaliseCode } from './references.ts';
export {
  type DocumentState,
  type ClientSchedule,
  type AppendedCommand,
  type ShipmentState,
  type TimelineEntry,
  compareMilestones,
  findMilestone,
  getRevisionOfCommand,
} from './state.ts';
export {
  SHIPMENT_STREAM_PREFIX,
  isShipmentStream,
  parseShipmentId,
  toShipmentId,
  parseStreamName,
  parseShipmentIdOfPart,
  toStreamName,
  toShipmentToken,
  toShipmentEvent,
  UnknownEventTypeError,
  storedEventTypes,
  upcastEventBody,
} from './stored-event.ts';
export { type MilestoneChanges, addReportTimeToMilestone } from './timeline.ts';
