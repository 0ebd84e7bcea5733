import type { Timestamp } from '@tracking/contracts';
import { changesBetween } from '../changes.ts';
import { changedBy, derive } from '../derive.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcile } from '../exceptions/reconcile.ts';
import type { ShipmentState } from '../state.ts';
import type { DecideContext, Decision } from './command.ts';

/**
 * The events of a command that tells nothing of the journey, what is derived anew with them, and exceptions.
 * @param after as the events leave it, but for what is derived
 */
export function withConsequences(
  at: Timestamp,
  after: ShipmentState,
  events: readonly ShipmentEventBody[],
  context: DecideContext,
): Pick<Decision, 'events' | 'nextCheckAt'> {
  const { record, timeline } = after;
  const derived = derive({ ...after, revision: record.version }, context.places);
  const changes = changesBetween(record, derived.record);
  const all = changes === undefined ? events : [...events, changedBy(changes, derived)];
  return reconcile(after, { derived, timeline, events: all }, { ...context, at });
}
