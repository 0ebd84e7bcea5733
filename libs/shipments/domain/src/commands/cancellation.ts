import { DomainError, type ShipmentRecord, type Timestamp, type Warning } from '@tracking/contracts';
import { isShipmentCancelledByMilestone } from '../derive.ts';
import type { ShipmentCancelledEvent, ShipmentReopenedEvent } from '../events/shipment-events.ts';
import { STATUS_RANKS } from '../milestone-summary.ts';
import type { ShipmentState } from '../state.ts';
import { type CommandContext, type CommandHandler, type DecideContext, type Decision } from './command.ts';
import { addEventsOfDerivedChanges } from '../exceptions/reconcile.ts';

/** Cancels a shipment, regardless of its milestones. A delivered shipment cannot be cancelled. */
export interface CancelShipmentCommand extends CommandContext {
  readonly type: 'CancelShipment';
  readonly shipment_id: string;
}

/** Also cancels a shipment that a milestone has cancelled, so that it stays cancelled if the milestone is retracted. */
export const cancelShipmentHandler: CancellationHandler<CancelShipmentCommand> = {
  decideCommandOnExistingShipment({ at }, state, context) {
    const { status, version } = state.record;
    if (status !== 'cancelled' && STATUS_RANKS[status] >= STATUS_RANKS.delivered) {
      throw new DomainError('already_delivered', `The shipment is ${status}; it can no longer be cancelled.`);
    }
    if (state.cancelled !== null) return createDecisionWithoutEvents();
    return decideCancelOrReopen(
      at,
      { ...state, cancelled: version },
      { type: 'shipment.cancelled.v1', data: {} },
      context,
    );
  },
  rebuildResultFromEvents: () => ({ outcome: 'cancelled' }),
  buildAnswerFromResult: buildShipmentCancellationAnswer,
};

/** Revokes the client's cancellation. The shipment gets the status of its milestones again. */
export interface ReopenCancelledShipmentCommand extends CommandContext {
  readonly type: 'ReopenShipment';
  readonly shipment_id: string;
}

export const reopenShipmentHandler: CancellationHandler<ReopenCancelledShipmentCommand> = {
  decideCommandOnExistingShipment({ at }, state, context) {
    if (isShipmentCancelledByMilestone(state.record)) {
      const message = `Milestone ${state.record.status_milestone_id} cancels the shipment. Correct or retract it, or post a later booking_confirmed.`;
      throw new DomainError('cancelled_by_milestone', message);
    }
    if (state.cancelled === null) return createDecisionWithoutEvents();
    return decideCancelOrReopen(at, { ...state, cancelled: null }, { type: 'shipment.reopened.v1', data: {} }, context);
  },
  rebuildResultFromEvents: () => ({ outcome: 'reopened' }),
  buildAnswerFromResult: buildShipmentCancellationAnswer,
};

interface CancellationResult {
  /** `unchanged`: the shipment already had the requested state. */
  readonly outcome: 'cancelled' | 'reopened' | 'unchanged';
}
export interface CancellationAnswer extends CancellationResult {
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export type CancellationDecision = Decision<CancellationResult>;
type CancellationHandler<Command extends CommandContext> = CommandHandler<
  Command,
  CancellationResult,
  Omit<CancellationAnswer, 'warnings'>
>;

function buildShipmentCancellationAnswer({ outcome }: CancellationResult, { record }: ShipmentState) {
  return { outcome, shipment: record };
}

/**
 * Decides a change of the cancellation.
 * @param after the state with the changed cancellation
 */
function decideCancelOrReopen(
  at: Timestamp,
  after: ShipmentState,
  event: ShipmentCancelledEvent | ShipmentReopenedEvent,
  context: DecideContext,
): CancellationDecision {
  const outcome = event.type === 'shipment.cancelled.v1' ? 'cancelled' : 'reopened';
  return { outcome, warnings: [], ...addEventsOfDerivedChanges(at, after, [event], context) };
}

function createDecisionWithoutEvents(): CancellationDecision {
  return { outcome: 'unchanged', events: [], warnings: [], nextCheckAt: null };
}
