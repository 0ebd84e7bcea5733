import { DomainError } from '@tracking/contracts';
import type { RecordMilestone, ShipmentCommand, UpsertShipment } from './commands.ts';
import type { DecideContext, Decision, MilestoneDecision, UpsertDecision } from './decision.ts';
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
export function decide(command: ShipmentCommand, state: ShipmentState | undefined, context: DecideContext): Decision;
export function decide(command: ShipmentCommand, state: ShipmentState | undefined, context: DecideContext): Decision {
  switch (command.type) {
    case 'UpsertShipment':
      return state === undefined ? createShipment(command, context) : updateShipment(command, state, context);
    case 'RecordMilestone':
      if (state === undefined) throw new DomainError('not_found', 'There is no such shipment.');
      return recordMilestone(command, state, context);
  }
}
