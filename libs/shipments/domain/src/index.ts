export {
  type MadeEvents,
  type MakeEvents,
  type EventReference,
  type Snapshot,
  announcementOf,
  publicEvent,
  publicEventId,
  shipmentResource,
  tellOf,
} from './announcements.ts';
export { type CheckedMilestone, type MilestoneInput, checkMilestone } from './check-milestone.ts';
export { type CheckedShipment, SHIPMENT_LIMITS, type ShipmentInput, checkShipmentFields } from './check-shipment.ts';
export type { AcknowledgeException, AcknowledgeExceptionAnswer } from './commands/acknowledge-exception.ts';
export type { AddDocument } from './commands/add-document.ts';
export type { CancelShipment } from './commands/cancel-shipment.ts';
export type { CheckRules, CheckRulesAnswer } from './commands/check-rules.ts';
export type { CancellationAnswer, CancellationDecision } from './commands/cancellation.ts';
export type { ContainerPatchAnswer, ContainerPatchDecision, PatchContainer } from './commands/patch-container.ts';
export type { PatchDecision, PatchShipment, ShipmentPatch, ShipmentPatchAnswer } from './commands/patch-shipment.ts';
export type { CommandContext, CommandResult, DecideContext, Decision } from './commands/command.ts';
export type { CompleteUpload } from './commands/complete-upload.ts';
export type { CorrectMilestone, CorrectMilestoneAnswer, MilestonePatch } from './commands/correct-milestone.ts';
export type { DeleteDocument } from './commands/delete-document.ts';
export type { DocumentAnswer, DocumentInput, DocumentResult, ExpectedBytes } from './commands/document-decision.ts';
export type { ExceptionInput, OpenException, OpenExceptionAnswer } from './commands/open-exception.ts';
export type { MilestoneDecision, RecordMilestone, RecordMilestoneAnswer } from './commands/record-milestone.ts';
export type { ReceiveUpload } from './commands/receive-upload.ts';
export type { ReopenShipment } from './commands/reopen-shipment.ts';
export type { RequestUpload } from './commands/request-upload.ts';
export type { ResolveException, ResolveExceptionAnswer } from './commands/resolve-exception.ts';
export type { ApproveDocument, RejectDocument } from './commands/review-document.ts';
export type { RetractMilestone, RetractMilestoneAnswer } from './commands/retract-milestone.ts';
export {
  type AnswerOf,
  type CommandOf,
  type CommandType,
  type DecisionOf,
  type ShipmentCommand,
  commandTypes,
  decide,
  handlerOf,
} from './commands/shipment-commands.ts';
export type { UpsertDecision, UpsertShipment, UpsertShipmentAnswer } from './commands/upsert-shipment.ts';
export { noSuchShipment } from './decision.ts';
export type { Announcement } from './events/descriptor.ts';
export { type ExceptionChange, exceptionAfter, isWholeException } from './events/exception-change.ts';
export type * from './events/event-data.ts';
export { nextCheckOf } from './events/event-data.ts';
export type { ReceivedObject, StoredDocument } from './events/stored-document.ts';
export type { ShipmentEvent, ShipmentEventBody, StoredEventType } from './events/stored-events.ts';
export type { GivenOfContainer, TakenOff } from './given-of-container.ts';
export { documentsOf, evolve, exceptionChange, fold, milestoneChanges } from './evolve.ts';
export { explain } from './explanation/explain.ts';
export { evolveRecord, weightOfRecord } from './evolve-record.ts';
export { expiresAt } from './pending-uploads.ts';
export { type KnownMode, normaliseCode } from './references.ts';
export {
  type DocumentInHand,
  type Schedule,
  type SeenCommand,
  type ShipmentState,
  type TimelineEntry,
  compareMilestones,
  findMilestone,
  revisionOf,
} from './state.ts';
export {
  SHIPMENT_STREAM_PREFIX,
  isShipmentStream,
  parseShipmentId,
  shipmentIdFrom,
  shipmentIdOf,
  shipmentIdOfPart,
  streamOf,
  tokenOf,
} from './shipment-id.ts';
export { toShipmentEvent } from './stored-event.ts';
export { type MilestoneChanges } from './timeline.ts';
export { UnknownEventType, storedEventTypes, upcast } from './upcast.ts';
