import { DomainError } from '@tracking/contracts';
import { changesBetween } from './changes.ts';
import type { CancelShipment, ReopenShipment } from './commands.ts';
import type { CancellationDecision, DecideContext } from './decision.ts';
import { derive, isCancelledByMilestone } from './derive.ts';
import type { ShipmentCancelled } from './events/shipment-cancelled.ts';
import type { ShipmentReopened } from './events/shipment-reopened.ts';
import type { ShipmentEventBody } from './events/stored-events.ts';
import { reconcile } from './exceptions/reconcile.ts';
import type { ShipmentState } from './state.ts';
import { RANK } from './summary.ts';

/** A shipment that a milestone cancels already is cancelled by the client too: it stays so when that one is taken back. */
export function cancelShipment(
  command: CancelShipment,
  state: ShipmentState,
  context: DecideContext,
): CancellationDecision {
  const { status, version } = state.record;
  if (status !== 'cancelled' && RANK[status] >= RANK.delivered) {
    throw new DomainError('already_delivered', `The shipment is ${status}; it can no longer be cancelled.`);
  }
  if (state.cancelled !== null) return unchanged();
  return decided(command, { ...state, cancelled: version }, { type: 'shipment.cancelled.v1', data: {} }, context);
}

/** The shipment is again what its milestones make of it. */
export function reopenShipment(
  command: ReopenShipment,
  state: ShipmentState,
  context: DecideContext,
): CancellationDecision {
  if (isCancelledByMilestone(state.record)) {
    const message = `Milestone ${state.record.status_milestone_id} cancels the shipment; its correction or a later booking_confirmed takes that back.`;
    throw new DomainError('cancelled_by_milestone', message);
  }
  if (state.cancelled === null) return unchanged();
  return decided(command, { ...state, cancelled: null }, { type: 'shipment.reopened.v1', data: {} }, context);
}

/** @param after as before, but for whether the client cancelled it */
function decided(
  { at }: CancelShipment | ReopenShipment,
  after: ShipmentState,
  event: ShipmentCancelled | ShipmentReopened,
  context: DecideContext,
): CancellationDecision {
  const { record, timeline } = after;
  const derived = derive({ ...after, revision: record.version }, context.places);
  const changes = changesBetween(record, derived.record);
  const events: ShipmentEventBody[] = [event];
  if (changes !== undefined) events.push({ type: 'shipment.changed.v1', data: { changes } });
  events.push(...reconcile(after, derived, timeline, at, context.newId));
  const outcome = event.type === 'shipment.cancelled.v1' ? 'cancelled' : 'reopened';
  return { outcome, events, warnings: [], nextCheckAt: null };
}

function unchanged(): CancellationDecision {
  return { outcome: 'unchanged', events: [], warnings: [], nextCheckAt: null };
}
