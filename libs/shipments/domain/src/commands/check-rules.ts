import type { Timestamp } from '@tracking/contracts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { addEventsOfDerivedChanges } from '../exceptions/reconcile.ts';
import type { CommandContext, CommandHandler } from './command.ts';

/**
 * Updates a shipment's exceptions to the present time and the workspace's settings, and its derived fields to the rules
 * of this release. If nothing changes, the command stores nothing, so it may be repeated at any time.
 */
export interface CheckRulesCommand extends CommandContext {
  readonly type: 'CheckRules';
  readonly shipment_id: string;
}

interface CheckRulesCommandOutcome {
  /** `unchanged`: nothing was stored. */
  readonly outcome: 'checked' | 'unchanged';
}
export interface CheckRulesAnswer extends CheckRulesCommandOutcome {
  readonly shipment_id: string;
  /** Version of the shipment directly after the command. */
  readonly version: number;
  /** Next time at which the shipment changes without a command; null if there is none. */
  readonly next_check_at: Timestamp | null;
}

export const checkRulesHandler: CommandHandler<CheckRulesCommand, CheckRulesCommandOutcome, CheckRulesAnswer> = {
  decideCommandOnExistingShipment({ at }, state, context) {
    const { events, nextCheckAt } = addEventsOfDerivedChanges(at, state, [], context);
    // An event is stored even without other changes, because otherwise the clock would check again at the previously
    // stored time.
    const isOnlyLater = events.length === 0 && nextCheckAt !== state.nextCheckAt;
    const checked: readonly ShipmentEventBody[] = isOnlyLater ? [{ type: 'shipment.checked.v1', data: {} }] : events;
    return { outcome: checked.length > 0 ? 'checked' : 'unchanged', events: checked, warnings: [], nextCheckAt };
  },
  rebuildResultFromEvents: () => ({ outcome: 'checked' }),
  buildAnswerFromResult: ({ outcome }, { record, nextCheckAt }) => ({
    outcome,
    shipment_id: record.id,
    version: record.version,
    next_check_at: nextCheckAt,
  }),
};
