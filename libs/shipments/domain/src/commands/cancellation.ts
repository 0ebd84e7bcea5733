import type { ShipmentRecord, Timestamp, Warning } from '@tracking/contracts';
import type { ShipmentCancelled } from '../events/shipment-cancelled.ts';
import type { ShipmentReopened } from '../events/shipment-reopened.ts';
import type { ShipmentState } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';
import { withConsequences } from './consequences.ts';

interface CancellationResult {
  /** `unchanged`: it was so already. */
  readonly outcome: 'cancelled' | 'reopened' | 'unchanged';
}
export interface CancellationAnswer extends CancellationResult {
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export type CancellationDecision = Decision<CancellationResult>;
export type CancellationHandler<Command extends CommandContext> = CommandHandler<
  Command,
  CancellationResult,
  Omit<CancellationAnswer, 'warnings'>
>;

export function answerCancellation({ outcome }: CancellationResult, { record }: ShipmentState) {
  return { outcome, shipment: record };
}

/** @param after as before, but for whether the client cancelled it */
export function decideCancellation(
  at: Timestamp,
  after: ShipmentState,
  event: ShipmentCancelled | ShipmentReopened,
  context: DecideContext,
): CancellationDecision {
  const outcome = event.type === 'shipment.cancelled.v1' ? 'cancelled' : 'reopened';
  return { outcome, warnings: [], ...withConsequences(at, after, [event], context) };
}

export function unchanged(): CancellationDecision {
  return { outcome: 'unchanged', events: [], warnings: [], nextCheckAt: null };
}
