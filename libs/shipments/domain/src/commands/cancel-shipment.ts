import { DomainError } from '@tracking/contracts';
import { RANK } from '../milestone-summary.ts';
import { type CancellationHandler, answerCancellation, decideCancellation, unchanged } from './cancellation.ts';
import type { CommandContext } from './command.ts';

/** Cancels a shipment, whatever its milestones say; possible before it is delivered. */
export interface CancelShipment extends CommandContext {
  readonly type: 'CancelShipment';
  readonly shipment_id: string;
}

/** A shipment that a milestone cancels already is cancelled by the client too: it stays so when that one is taken back. */
export const cancelShipment: CancellationHandler<CancelShipment> = {
  decide({ at }, state, context) {
    const { status, version } = state.record;
    if (status !== 'cancelled' && RANK[status] >= RANK.delivered) {
      throw new DomainError('already_delivered', `The shipment is ${status}; it can no longer be cancelled.`);
    }
    if (state.cancelled !== null) return unchanged();
    return decideCancellation(
      at,
      { ...state, cancelled: version },
      { type: 'shipment.cancelled.v1', data: {} },
      context,
    );
  },
  resultOf: () => ({ outcome: 'cancelled' }),
  answer: answerCancellation,
};
