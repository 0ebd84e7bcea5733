import { DomainError } from '@tracking/contracts';
import { isCancelledByMilestone } from '../derive.ts';
import { type CancellationHandler, answerCancellation, decideCancellation, unchanged } from './cancellation.ts';
import type { CommandContext } from './command.ts';

/** Takes the client's cancellation back: the shipment is again what its milestones make of it. */
export interface ReopenShipment extends CommandContext {
  readonly type: 'ReopenShipment';
  readonly shipment_id: string;
}

export const reopenShipment: CancellationHandler<ReopenShipment> = {
  decide({ at }, state, context) {
    if (isCancelledByMilestone(state.record)) {
      const message = `Milestone ${state.record.status_milestone_id} cancels the shipment; its correction or a later booking_confirmed takes that back.`;
      throw new DomainError('cancelled_by_milestone', message);
    }
    if (state.cancelled === null) return unchanged();
    return decideCancellation(at, { ...state, cancelled: null }, { type: 'shipment.reopened.v1', data: {} }, context);
  },
  resultOf: () => ({ outcome: 'reopened' }),
  answer: answerCancellation,
};
