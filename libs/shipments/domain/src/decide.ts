import { DomainError } from '@tracking/contracts';
import { cancelShipment, reopenShipment } from './cancel-shipment.ts';
import type { CancelShipment, RecordMilestone, ReopenShipment, ShipmentCommand, UpsertShipment } from './commands.ts';
import type { CancellationDecision, DecideContext, Decision, MilestoneDecision, UpsertDecision } from './decision.ts';
import { recordMilestone } from './record-milestone.ts';
import type { ShipmentState } from './state.ts';
import { createShipment, updateShipment } from './upsert-shipment.ts';

/**
 * What a command makes of a shipment: events to append at the revision of `state`, derived outcomes among them, so that
 * folding them is mere copying. Pure: the same arguments always give the same decision.
 * @param state undefined when there is no such shipment
 * @throws DomainError when the command is refused; `details` name every faulty field
 */
export function decide(
  command: UpsertShipment,
  state: ShipmentState | undefined,
  context: DecideContext,
): UpsertDecision;
export function decide(
  command: RecordMilestone,
  state: ShipmentState | undefined,
  context: DecideContext,
): MilestoneDecision;
export function decide(
  command: CancelShipment | ReopenShipment,
  state: ShipmentState | undefined,
  context: DecideContext,
): CancellationDecision;
export function decide(command: ShipmentCommand, state: ShipmentState | undefined, context: DecideContext): Decision;
export function decide(command: ShipmentCommand, state: ShipmentState | undefined, context: DecideContext): Decision {
  if (command.type === 'UpsertShipment') {
    return state === undefined ? createShipment(command, context) : updateShipment(command, state, context);
  }
  if (state === undefined) throw new DomainError('not_found', 'There is no such shipment.');
  switch (command.type) {
    case 'RecordMilestone':
      return recordMilestone(command, state, context);
    case 'CancelShipment':
      return cancelShipment(command, state, context);
    case 'ReopenShipment':
      return reopenShipment(command, state, context);
  }
}
