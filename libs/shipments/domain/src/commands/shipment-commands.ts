import { type Warning, requireExpectedVersion } from '@tracking/contracts';
import {
  type CommandHandler,
  type CommandResult,
  type DecideContext,
  type Decision,
  createShipmentNotFoundError,
} from './command.ts';
import { type ShipmentState, findDocument, findEntry, findException } from '../state.ts';
import {
  type AcknowledgeException,
  acknowledgeException,
  type OpenException,
  openException,
  type ResolveException,
  resolveException,
} from './exceptions-by-hand.ts';
import {
  type AddDocument,
  addDocument,
  type CompleteUpload,
  completeUpload,
  type ReceiveUpload,
  receiveUpload,
  type RequestUpload,
  requestUpload,
} from './upload-document.ts';
import {
  type ApproveDocument,
  approveDocument,
  type DeleteDocument,
  deleteDocument,
  type RejectDocument,
  rejectDocument,
} from './review-document.ts';
import { type CancelShipment, cancelShipment, type ReopenShipment, reopenShipment } from './cancellation.ts';
import { type CheckRules, checkRules } from './check-rules.ts';
import {
  type CorrectMilestone,
  correctMilestone,
  type RetractMilestone,
  retractMilestone,
} from './correct-milestone.ts';
import { type PatchContainer, patchContainer, type PatchShipment, patchShipment, requireContainer } from './patches.ts';
import { type RecordMilestone, recordMilestone } from './record-milestone.ts';
import { type UpsertShipment, upsertShipment } from './upsert-shipment.ts';

/** Union of all commands. The compiler requires a handler in `COMMAND_HANDLERS` for each of them. */
export type ShipmentCommand =
  | UpsertShipment
  | PatchShipment
  | PatchContainer
  | RecordMilestone
  | CorrectMilestone
  | RetractMilestone
  | CancelShipment
  | ReopenShipment
  | CheckRules
  | OpenException
  | AcknowledgeException
  | ResolveException
  | AddDocument
  | RequestUpload
  | ReceiveUpload
  | CompleteUpload
  | ApproveDocument
  | RejectDocument
  | DeleteDocument;
export type CommandType = ShipmentCommand['type'];

const COMMAND_HANDLERS = {
  UpsertShipment: upsertShipment,
  PatchShipment: patchShipment,
  PatchContainer: patchContainer,
  RecordMilestone: recordMilestone,
  CorrectMilestone: correctMilestone,
  RetractMilestone: retractMilestone,
  CancelShipment: cancelShipment,
  ReopenShipment: reopenShipment,
  CheckRules: checkRules,
  OpenException: openException,
  AcknowledgeException: acknowledgeException,
  ResolveException: resolveException,
  AddDocument: addDocument,
  RequestUpload: requestUpload,
  ReceiveUpload: receiveUpload,
  CompleteUpload: completeUpload,
  ApproveDocument: approveDocument,
  RejectDocument: rejectDocument,
  DeleteDocument: deleteDocument,
} satisfies { readonly [Type in CommandType]: CommandHandler<CommandOf<Type>, CommandResult, object> };
type Handlers = typeof COMMAND_HANDLERS;

/** The command with the given type. */
export type CommandOf<Type extends CommandType> = Extract<ShipmentCommand, { readonly type: Type }>;
/** The decision on a command of the given type. */
export type DecisionOf<Type extends CommandType> = ReturnType<Handlers[Type]['decide']>;
/** The answer to a command of the given type. */
export type AnswerOf<Type extends CommandType> = ReturnType<Handlers[Type]['answer']> & {
  readonly warnings: readonly Warning[];
};

export function getHandler(type: CommandType): CommandHandler<ShipmentCommand, CommandResult, AnswerOf<CommandType>> {
  return COMMAND_HANDLERS[type] as CommandHandler<ShipmentCommand, CommandResult, AnswerOf<CommandType>>;
}

/**
 * Decides on a command. Returns the events to append at the revision of `state`. The events contain all derived data,
 * so that folding only copies. Pure: equal arguments give equal decisions.
 * @param state undefined if the shipment does not exist
 * @throws DomainError to refuse the command; `details` contains every invalid field. Checks `not_found` first, then
 * PreconditionFailed, so that clients learn nothing about a shipment that they have not seen
 */
export function decide<Type extends CommandType>(
  command: CommandOf<Type>,
  state: ShipmentState | undefined,
  context: DecideContext,
): DecisionOf<Type> {
  return decision(command, state, context) as DecisionOf<Type>;
}

function decision(command: ShipmentCommand, state: ShipmentState | undefined, context: DecideContext): Decision {
  const handler = getHandler(command.type);
  if (state !== undefined) {
    requireCommandTarget(command, state);
    requireExpectedVersion(state.record.version, command.expected_versions);
    return handler.decide(command, state, context);
  }
  if (handler.create === undefined) throw createShipmentNotFoundError();
  requireExpectedVersion(null, command.expected_versions);
  return handler.create(command, context);
}

/**
 * Checks that the shipment contains the resource that the command names.
 * @throws DomainError `not_found` if it does not
 */
function requireCommandTarget(command: ShipmentCommand, state: ShipmentState): void {
  if ('milestone_id' in command) findEntry(state, command.milestone_id);
  if ('exception_id' in command) findException(state, command.exception_id);
  if ('document_id' in command) findDocument(state, command.document_id);
  if (command.type === 'PatchContainer') requireContainer(command, state);
}
