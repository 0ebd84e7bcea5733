import {
  type Actor,
  DomainError,
  type Environment,
  ERROR_CODES,
  type ErrorCode,
  type ExpectedVersions,
  type FieldError,
  type Places,
  type RuleSettings,
  type ShipmentRecord,
  type Timestamp,
  type Warning,
} from '@tracking/contracts';
import type { ShipmentEvent, ShipmentEventBody } from '../events/stored-events.ts';
import type { ShipmentState } from '../state.ts';

/** Fields of every command. Created once for each request. */
export interface CommandContext {
  /** UUID of the command. Commands with the same id are repetitions of one command. */
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
  /** Versions of the shipment that the command may change; if absent, any version or none. */
  readonly expected_versions?: ExpectedVersions;
}

/** Inputs of a decision other than the command and the state. */
export interface DecideContext {
  readonly places: Places;
  /** Settings of the shipment's workspace. */
  readonly settings: RuleSettings;
  /**
   * Returns the id of the n-th (from 0) new milestone, exception or document of the command. A repeated command gets
   * the same ids.
   */
  readonly newId: (kind: 'mst' | 'exc' | 'doc', n: number) => string;
}

/** The result of a command, from which its answer is built. */
export interface CommandResult {
  readonly outcome: string;
}

/** A command's result, with the events to append. */
export type Decision<Result extends CommandResult = CommandResult> = Result & {
  /** Events to append at the revision of the state that was decided on. Empty if nothing changes. */
  readonly events: readonly ShipmentEventBody[];
  readonly warnings: readonly Warning[];
  /** Time when time alone next changes the shipment as it is after the events; null if never. */
  readonly nextCheckAt: Timestamp | null;
};

/**
 * Handles one type of commands. Pure: equal arguments give equal results.
 * `create` and `decide` throw DomainError to refuse the command; its `details` name every faulty field.
 */
export interface CommandHandler<Command extends CommandContext, Result extends CommandResult, Answer extends object> {
  /** Creates the shipment if it does not exist. Absent for other commands. */
  create?(command: Command, context: DecideContext): Decision<Result>;
  /** Decides on a command for an existing shipment. */
  decide(command: Command, state: ShipmentState, context: DecideContext): Decision<Result>;
  /**
   * Rebuilds the result from the events that the command stored; undefined if a command of another type stored them.
   */
  resultOf(events: readonly ShipmentEvent[], command: Command): Result | undefined;
  /** Builds the answer, without its warnings, from the shipment right after the command. */
  answer(result: Result, after: ShipmentState): Answer;
}

/**
 * Refuses a command with all its invalid fields at once. The error code is the code that all fields share, if it is
 * also a code of whole requests, otherwise `validation_failed`.
 * @throws DomainError
 */
export function throwIfErrors(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const isCommon = isErrorCode(first.code) && errors.every(({ code }) => code === first.code);
  const code: ErrorCode = isCommon && isErrorCode(first.code) ? first.code : 'validation_failed';
  throw new DomainError(code, errors.length === 1 ? first.message : `${errors.length} fields are not valid.`, errors);
}

/**
 * Returns the error for a shipment that does not exist or belongs to another scope. It is the same error, so that ids
 * reveal nothing.
 */
export function createShipmentNotFoundError(): DomainError {
  return new DomainError('not_found', 'The shipment does not exist.');
}

/**
 * Returns warnings for a write to a cancelled shipment. The write is stored; there is no warning if it revokes the
 * cancellation.
 */
export function warnOfCancelledShipment(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  if (before.status !== 'cancelled' || after.status !== 'cancelled') return [];
  return [{ code: 'shipment_cancelled', param: null, message: 'The shipment is cancelled.' }];
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
