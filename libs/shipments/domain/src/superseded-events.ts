import type { DerivedShipment } from './derive.ts';
import { findStoredEventDescriptor, type ShipmentEventBody } from './events/stored-events.ts';
import type { TimelineEntry } from './state.ts';

/** A timeline, and the events of the command that changed it. */
interface TimelineWithEvents {
  readonly timeline: readonly TimelineEntry[];
  readonly events: readonly ShipmentEventBody[];
}

/**
 * Returns the event that marks the actual milestones that a later report of the same visit replaces, and those that
 * count again; no event if nothing changes.
 */
export function createMilestoneSupersededEvents(
  { analysis }: DerivedShipment,
  { timeline, events }: TimelineWithEvents,
): readonly ShipmentEventBody[] {
  const { replacedIds } = analysis.journey;
  const changed = events.flatMap(
    ({ type, data }) => findStoredEventDescriptor(type).milestoneChanges?.(data).milestone ?? [],
  );
  const supersedes: string[] = [];
  const restores: string[] = [];
  for (const entry of timeline) {
    const { id, classifier, retracted_at } = entry.milestone;
    const { superseded_at } = changed.find((milestone) => milestone.id === id) ?? entry.milestone;
    if (classifier !== 'actual' || retracted_at !== null || (superseded_at !== null) === replacedIds.has(id)) continue;
    (superseded_at === null ? supersedes : restores).push(id);
  }
  if (supersedes.length + restores.length === 0) return [];
  return [{ type: 'milestone.superseded.v1', data: { supersedes, restores } }];
}
