import {
  type Actor,
  DomainError,
  type Environment,
  ERROR_CODES,
  type ErrorCode,
  type ExpectedVersions,
  type FieldError,
  type PlaceLookup,
  type RuleSettings,
  type ShipmentRecord,
  type Timestamp,
  type Warning,
} from '@tracking/contracts';
import type { ShipmentEvent, ShipmentEventBody } from '../events/stored-events.ts';
import type { ShipmentState } from '../state.ts';

/** Fields of every command. They are created once for each request. */
export interface CommandContext {
  /** UUID of the command. Commands with equal ids are repetitions of one command. */
  readonly id: string;
  /** Time of the command. */
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly actor: Actor;
  readonly request_id: string;
  readonly traceparent: string | null;
  /** True for `Prefer: handling=strict`: a wrong check digit is an error instead of a warning. */
  readonly strict: boolean;
  /**
   * Versions of the shipment that the command may change; if absent, the command accepts any version and a missing
   * shipment.
   */
  readonly expected_versions?: ExpectedVersions;
}

/** Inputs of a decision in addition to the command and the state. */
export interface DecideContext {
  readonly places: PlaceLookup;
  /** Settings of the shipment's workspace. */
  readonly settings: RuleSettings;
  /**
   * Returns the id for the n-th (from 0) new milestone, exception or document of the command. A repeated command gets
   * the same ids.
   */
  readonly newId: (kind: 'mst' | 'exc' | 'doc', n: number) => string;
}

/** The result of a command, from which its answer is built. */
export interface CommandResult {
  readonly outcome: string;
}

/** The decision on a command: its result and the events to append. */
export type Decision<Result extends CommandResult = CommandResult> = Result & {
  /** Events to append at the revision of the state used for the decision. Empty if nothing changes. */
  readonly events: readonly ShipmentEventBody[];
  readonly warnings: readonly Warning[];
  /** Next time at which the shipment changes without a command, after these events; null if there is none. */
  readonly nextCheckAt: Timestamp | null;
};

/**
 * Handles commands of one type. Pure: equal arguments give equal results. `create` and `decideCommandOnExistingShipment`
 * refuse a command with a DomainError, whose `details` name every invalid field.
 */
export interface CommandHandler<Command extends CommandContext, Result extends CommandResult, Answer extends object> {
  /** Creates the shipment if it does not exist. Absent for commands that require an existing shipment. */
  create?(command: Command, context: DecideContext): Decision<Result>;
  /** Decides on a command for an existing shipment. */
  decideCommandOnExistingShipment(command: Command, state: ShipmentState, context: DecideContext): Decision<Result>;
  /**
   * Rebuilds the result from the events that the command stored. Undefined if a command of another type stored the
   * events.
   */
  rebuildResultFromEvents(events: readonly ShipmentEvent[], command: Command): Result | undefined;
  /** Builds the answer without warnings, from the shipment directly after the command. */
  buildAnswerFromResult(result: Result, after: ShipmentState): Answer;
}

/**
 * Refuses a command with all its invalid fields. If all fields have the same error code and the code is valid for whole
 * requests, the error has that code; otherwise it has `validation_failed`.
 * @throws DomainError
 */
export function throwIfInvalidFields(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const isCommon = isKnownErrorCode(first.code) && errors.every(({ code }) => code === first.code);
  const code: ErrorCode = isCommon && isKnownErrorCode(first.code) ? first.code : 'validation_failed';
  throw new DomainError(code, errors.length === 1 ? first.message : `${errors.length} fields are not valid.`, errors);
}

/**
 * Returns the error for a shipment that does not exist or belongs to another scope. Both cases have the same error, so
 * that ids reveal nothing.
 */
export function createShipmentNotFoundError(): DomainError {
  return new DomainError('not_found', 'The shipment does not exist.');
}

/**
 * Returns warnings for a write to a cancelled shipment. The write is stored. A write that revokes the cancellation has
 * no warning.
 */
export function warnOfCancelledShipment(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  if (before.status !== 'cancelled' || after.status !== 'cancelled') return [];
  return [{ code: 'shipment_cancelled', param: null, message: 'The shipment is cancelled.' }];
}

function isKnownErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
