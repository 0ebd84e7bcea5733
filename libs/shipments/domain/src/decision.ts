import {
  DomainError,
  ERROR_CODES,
  type ErrorCode,
  type FieldError,
  type Places,
  type ShipmentRecord,
  type Timestamp,
  type Warning,
} from '@tracking/contracts';
import type { ShipmentEventBody } from './events/stored-events.ts';

/** What a decision needs beside the command and the state. */
export interface DecideContext {
  readonly places: Places;
  /** A new id, the same for the same command: of a milestone or an exception, the n-th (from 0) of its kind in the command. */
  readonly newId: (kind: 'mst' | 'exc', n: number) => string;
}

interface Decided {
  /** To be appended at the revision of the state that was decided on; empty when there is nothing to remember. */
  readonly events: readonly ShipmentEventBody[];
  readonly warnings: readonly Warning[];
  /** When time alone next changes something about the shipment as it is after the events; null if never. */
  readonly nextCheckAt: Timestamp | null;
}
export interface UpsertDecision extends Decided {
  readonly outcome: 'created' | 'updated' | 'unchanged';
}
export interface MilestoneDecision extends Decided {
  /** `existing`: a duplicate, nothing recorded; it may have taken the `external_id`. */
  readonly outcome: 'recorded' | 'corrected' | 'existing';
  readonly milestoneId: string;
}
export interface CancellationDecision extends Decided {
  /** `unchanged`: it was so already. */
  readonly outcome: 'cancelled' | 'reopened' | 'unchanged';
}
export type Decision = UpsertDecision | MilestoneDecision | CancellationDecision;

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

/** Writes to a cancelled shipment are stored, and warn unless they take the cancellation back. */
export function whileCancelled(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  if (before.status !== 'cancelled' || after.status !== 'cancelled') return [];
  return [{ code: 'shipment_cancelled', param: null, message: 'The shipment is cancelled.' }];
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
