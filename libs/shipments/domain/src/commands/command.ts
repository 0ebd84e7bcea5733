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

/** What every command carries; made at the edge, once per request. */
export interface CommandContext {
  /** UUID. The same id is the same command, however often it is sent. */
  readonly id: string;
  /** The command's time. */
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly actor: Actor;
  readonly request_id: string;
  readonly traceparent: string | null;
  /** `Prefer: handling=strict`: what would only warn about a wrong check digit is refused. */
  readonly strict: boolean;
  /** Which versions of the shipment it may change; any, and none, where absent. */
  readonly expected_versions?: ExpectedVersions;
}

/** What a decision needs beside the command and the state. */
export interface DecideContext {
  readonly places: Places;
  /** Of the shipment's workspace. */
  readonly settings: RuleSettings;
  /** A new id, the same for the same command: of a milestone, an exception or a document, the n-th (from 0) of its kind in the command. */
  readonly newId: (kind: 'mst' | 'exc' | 'doc', n: number) => string;
}

/** What came of a command: the outcome, and what else it takes to make the answer. */
export interface CommandResult {
  readonly outcome: string;
}

/** A result, and what it takes to append it. */
export type Decision<Result extends CommandResult = CommandResult> = Result & {
  /** To be appended at the revision of the state that was decided on; empty when there is nothing to remember. */
  readonly events: readonly ShipmentEventBody[];
  readonly warnings: readonly Warning[];
  /** When time alone next changes something about the shipment as it is after the events; null if never. */
  readonly nextCheckAt: Timestamp | null;
};

/**
 * All there is to know of one kind of command. Pure: the same arguments always give the same.
 * Both decisions throw DomainError when the command is refused; its `details` name every faulty field.
 */
export interface CommandHandler<Command extends CommandContext, Result extends CommandResult, Answer extends object> {
  /** Only of a command that makes the shipment where there is none. */
  create?(command: Command, context: DecideContext): Decision<Result>;
  /** What it makes of a shipment that is there. */
  decide(command: Command, state: ShipmentState, context: DecideContext): Decision<Result>;
  /** What came of it, by the events that it stored; undefined when they are none of this kind of command. */
  resultOf(events: readonly ShipmentEvent[], command: Command): Result | undefined;
  /** The answer without its warnings, on the shipment right after. */
  answer(result: Result, after: ShipmentState): Answer;
}

/**
 * Refuses a command if anything is wrong, with every faulty field at once. Under the code that they have in common where
 * that is one of whole requests, else as `validation_failed`.
 * @throws DomainError
 */
export function refuseIfAny(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const isCommon = isErrorCode(first.code) && errors.every(({ code }) => code === first.code);
  const code: ErrorCode = isCommon && isErrorCode(first.code) ? first.code : 'validation_failed';
  throw new DomainError(code, errors.length === 1 ? first.message : `${errors.length} fields are not valid.`, errors);
}

/** The same whether it does not exist or is another's: ids tell nobody anything. */
export function noSuchShipment(): DomainError {
  return new DomainError('not_found', 'There is no such shipment.');
}

/** Writes to a cancelled shipment are stored, and warn unless they take the cancellation back. */
export function whileCancelled(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  if (before.status !== 'cancelled' || after.status !== 'cancelled') return [];
  return [{ code: 'shipment_cancelled', param: null, message: 'The shipment is cancelled.' }];
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
