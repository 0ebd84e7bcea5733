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

/** Fields of every command. Made once for each request. */
export interface CommandContext {
  /** UUID. Commands with the same id are repetitions of one command. */
  readonly id: string;
  /** The command's time. */
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly actor: Actor;
  readonly request_id: string;
  readonly traceparent: string | null;
  /** `Prefer: handling=strict`: refuses a wrong check digit instead of warning about it. */
  readonly strict: boolean;
  /** The versions of the shipment that it may change; without it, any version, or none. */
  readonly expected_versions?: ExpectedVersions;
}

/** Further inputs of a decision. */
export interface DecideContext {
  readonly places: Places;
  /** Settings of the shipment's workspace. */
  readonly settings: RuleSettings;
  /** Makes the id of the n-th (from 0) new milestone, exception or document of the command. A repeated command gets the same ids. */
  readonly newId: (kind: 'mst' | 'exc' | 'doc', n: number) => string;
}

/** The result of a command, from which its answer is made. */
export interface CommandResult {
  readonly outcome: string;
}

/** A result, with the events to append. */
export type Decision<Result extends CommandResult = CommandResult> = Result & {
  /** To be appended at the revision of the state that was decided on. Empty if nothing changes. */
  readonly events: readonly ShipmentEventBody[];
  readonly warnings: readonly Warning[];
  /** When time alone next changes the shipment as it is after the events; null if never. */
  readonly nextCheckAt: Timestamp | null;
};

/**
 * Handles one type of commands. Pure: equal arguments give equal results.
 * `create` and `decide` throw DomainError to refuse the command; its `details` name every faulty field.
 */
export interface CommandHandler<Command extends CommandContext, Result extends CommandResult, Answer extends object> {
  /** Creates the shipment if it does not exist. Absent for other commands. */
  create?(command: Command, context: DecideContext): Decision<Result>;
  /** Decides on an existing shipment. */
  decide(command: Command, state: ShipmentState, context: DecideContext): Decision<Result>;
  /** The result, rebuilt from the events that it stored; undefined if another type of command stored them. */
  resultOf(events: readonly ShipmentEvent[], command: Command): Result | undefined;
  /** The answer, without its warnings, from the shipment right after the command. */
  answer(result: Result, after: ShipmentState): Answer;
}

/**
 * Refuses a command with all its faulty fields at once. The code is the one that all fields share if it is also a code of
 * whole requests, otherwise `validation_failed`.
 * @throws DomainError
 */
export function throwIfErrors(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const isCommon = isErrorCode(first.code) && errors.every(({ code }) => code === first.code);
  const code: ErrorCode = isCommon && isErrorCode(first.code) ? first.code : 'validation_failed';
  throw new DomainError(code, errors.length === 1 ? first.message : `${errors.length} fields are not valid.`, errors);
}

/** The same error for a shipment that does not exist and for one of another scope, so that ids reveal nothing. */
export function shipmentNotFound(): DomainError {
  return new DomainError('not_found', 'There is no such shipment.');
}

/** Writes to a cancelled shipment are stored, with a warning unless they revoke the cancellation. */
export function cancelledWarnings(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  if (before.status !== 'cancelled' || after.status !== 'cancelled') return [];
  return [{ code: 'shipment_cancelled', param: null, message: 'The shipment is cancelled.' }];
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
