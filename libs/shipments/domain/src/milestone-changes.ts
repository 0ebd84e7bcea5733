import type { Milestone, Timestamp } from '@tracking/contracts';
import type { MilestoneCorrected, MilestoneRecorded, ShipmentEvent } from './events.ts';

/** What an event changes on the timeline. */
export interface MilestoneChanges {
  /** As it is now, new or changed. */
  readonly milestone: Milestone;
  readonly isNew: boolean;
  /** Ids of estimates whose `superseded_at` becomes `at`. */
  readonly superseded: readonly string[];
  /** Ids of estimates whose `superseded_at` becomes null. */
  readonly restored: readonly string[];
  readonly at: Timestamp;
}

type OfType<T> = Extract<ShipmentEvent, T>;

/** What a list of milestones must write for an event; undefined for one that touches none. */
export function milestoneChanges(event: OfType<MilestoneRecorded | MilestoneCorrected>): MilestoneChanges;
export function milestoneChanges(event: ShipmentEvent): MilestoneChanges | undefined;
export function milestoneChanges(event: ShipmentEvent): MilestoneChanges | undefined {
  const at = event.metadata.recorded_at;
  switch (event.type) {
    case 'milestone.recorded.v1': {
      const { milestone, supersedes } = event.data;
      return { milestone, isNew: true, superseded: supersedes, restored: [], at };
    }
    case 'milestone.corrected.v1': {
      const { milestone, supersedes, restores } = event.data;
      return { milestone, isNew: false, superseded: supersedes, restored: restores, at };
    }
    case 'shipment.created.v1':
    case 'shipment.updated.v1':
    case 'shipment.ports_given.v1':
    case 'shipment.cancelled.v1':
    case 'shipment.reopened.v1':
    case 'shipment.changed.v1':
    case 'exception.opened.v1':
    case 'exception.resolved.v1':
      return undefined;
  }
}
