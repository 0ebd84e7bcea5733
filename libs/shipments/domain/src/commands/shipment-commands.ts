import { type Warning, requireMatchingVersion } from '@tracking/contracts';
import {
  type CommandHandler,
  type CommandResult,
  type DecideContext,
  type Decision,
  createShipmentNotFoundError,
} from './command.ts';
import { type ShipmentState, findDocumentOrThrow, findTimelineEntryOrThrow, findExceptionOrThrow } from '../state.ts';
import {
  type AcknowledgeException,
  acknowledgeExceptionHandler,
  type OpenExceptionCommand,
  openExceptionHandler,
  type ResolveExceptionCommand,
  resolveExceptionHandler,
} from './exceptions-by-hand.ts';
import {
  type AddDocumentCommand,
  addDocumentCommandHandler,
  type CompleteUploadCommand,
  completeUploadCommandHandler,
  type ReceiveUploadCommand,
  receiveUploadCommandHandler,
  type RequestUploadCommand,
  requestUploadCommandHandler,
} from './upload-document.ts';
import {
  type ApproveDocumentCommand,
  approveDocumentCommandHandler,
  type DeleteDocumentCommand,
  deleteDocumentHandler,
  type RejectDocumentCommand,
  rejectDocumentHandler,
} from './review-document.ts';
import {
  type CancelShipmentCommand,
  cancelShipmentHandler,
  type ReopenCancelledShipmentCommand,
  reopenShipmentHandler,
} from './cancellation.ts';
import { type CheckRulesCommand, checkRulesHandler } from './check-rules.ts';
import {
  type CorrectMilestoneCommand,
  correctMilestoneHandler,
  type RetractMilestoneCommand,
  retractMilestoneHandler,
} from './correct-milestone.ts';
import {
  type PatchContainerCommand,
  patchContainerHandler,
  type PatchShipmentCommand,
  patchShipmentHandler,
  throwIfContainerUnknown,
} from './patches.ts';
import { type RecordMilestoneCommand, recordMilestoneHandler } from './record-milestone.ts';
import { type UpsertShipment, upsertShipmentHandler } from './upsert-shipment.ts';

/** Union of all commands. The compiler requires a handler in `COMMAND_HANDLERS` for each of them. */
export type ShipmentCommand =
  | UpsertShipment
  | PatchShipmentCommand
  | PatchContainerCommand
  | RecordMilestoneCommand
  | CorrectMilestoneCommand
  | RetractMilestoneCommand
  | CancelShipmentCommand
  | ReopenCancelledShipmentCommand
  | CheckRulesCommand
  | OpenExceptionCommand
  | AcknowledgeException
  | ResolveExceptionCommand
  | AddDocumentCommand
  | RequestUploadCommand
  | ReceiveUploadCommand
  | CompleteUploadCommand
  | ApproveDocumentCommand
  | RejectDocumentCommand
  | DeleteDocumentCommand;
export type CommandType = ShipmentCommand['type'];

const COMMAND_HANDLERS = {
  UpsertShipment: upsertShipmentHandler,
  PatchShipment: patchShipmentHandler,
  PatchContainer: patchContainerHandler,
  RecordMilestone: recordMilestoneHandler,
  CorrectMilestone: correctMilestoneHandler,
  RetractMilestone: retractMilestoneHandler,
  CancelShipment: cancelShipmentHandler,
  ReopenShipment: reopenShipmentHandler,
  CheckRules: checkRulesHandler,
  OpenException: openExceptionHandler,
  AcknowledgeException: acknowledgeExceptionHandler,
  ResolveException: resolveExceptionHandler,
  AddDocument: addDocumentCommandHandler,
  RequestUpload: requestUploadCommandHandler,
  ReceiveUpload: receiveUploadCommandHandler,
  CompleteUpload: completeUploadCommandHandler,
  ApproveDocument: approveDocumentCommandHandler,
  RejectDocument: rejectDocumentHandler,
  DeleteDocument: deleteDocumentHandler,
} satisfies { readonly [Type in CommandType]: CommandHandler<CommandOf<Type>, CommandResult, object> };
type Handlers = typeof COMMAND_HANDLERS;

/** The command with the given type. */
export type CommandOf<Type extends CommandType> = Extract<ShipmentCommand, { readonly type: Type }>;
/** The decision on a command of the given type. */
export type DecisionOf<Type extends CommandType> = ReturnType<Handlers[Type]['decideCommandOnExistingShipment']>;
/** The answer to a command of the given type. */
export type AnswerOf<Type extends CommandType> = ReturnType<Handlers[Type]['buildAnswerFromResult']> & {
  readonly warnings: readonly Warning[];
};

export function getCommandHandler(
  type: CommandType,
): CommandHandler<ShipmentCommand, CommandResult, AnswerOf<CommandType>> {
  return COMMAND_HANDLERS[type] as CommandHandler<ShipmentCommand, CommandResult, AnswerOf<CommandType>>;
}

/**
 * Decides on a command. Returns the events to append at the revision of `state`. The events contain all derived data,
 * so that folding only copies. Pure: equal arguments give equal decisions.
 * @param state undefined if the shipment does not exist
 * @throws DomainError to refuse the command; `details` contains every invalid field. Checks `not_found` first, then
 * PreconditionFailedError, so that clients learn nothing about a shipment that they have not seen
 */
export function decide<Type extends CommandType>(
  command: CommandOf<Type>,
  state: ShipmentState | undefined,
  context: DecideContext,
): DecisionOf<Type> {
  return decideAnyCommand(command, state, context) as DecisionOf<Type>;
}

function decideAnyCommand(
  command: ShipmentCommand,
  state: ShipmentState | undefined,
  context: DecideContext,
): Decision {
  const handler = getCommandHandler(command.type);
  if (state !== undefined) {
    requireCommandTarget(command, state);
    requireMatchingVersion(state.record.version, command.expected_versions);
    return handler.decideCommandOnExistingShipment(command, state, context);
  }
  if (handler.create === undefined) throw createShipmentNotFoundError();
  requireMatchingVersion(null, command.expected_versions);
  return handler.create(command, context);
}

/**
 * Checks that the shipment contains the resource that the command names.
 * @throws DomainError `not_found` if it does not
 */
function requireCommandTarget(command: ShipmentCommand, state: ShipmentState): void {
  if ('milestone_id' in command) findTimelineEntryOrThrow(state, command.milestone_id);
  if ('exception_id' in command) findExceptionOrThrow(state, command.exception_id);
  if ('document_id' in command) findDocumentOrThrow(state, command.document_id);
  if (command.type === 'PatchContainer') throwIfContainerUnknown(command, state);
}
