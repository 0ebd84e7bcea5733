import type { Milestone } from '@tracking/contracts';
import { applyLastMilestones } from '../changes.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { LastMilestones } from './event-data.ts';
import { announceActual } from './milestone-recorded.ts';

/**
 * A milestone sent again under its `external_id` with other content: its revision grows. Where the revision stays it only
 * took the `external_id` under which it came again.
 */
export interface MilestoneCorrected {
  readonly type: 'milestone.corrected.v1';
  readonly data: {
    readonly milestone: Milestone;
    readonly previous: Milestone;
    readonly supersedes: readonly string[];
    /** Ids of estimates that the previous content had replaced and the new one no longer does. */
    readonly restores: readonly string[];
    readonly last: LastMilestones;
  };
}

export const milestoneCorrected: StoredEventDescriptor<MilestoneCorrected> = {
  type: 'milestone.corrected.v1',
  applyToRecord: (record, { last }) => applyLastMilestones(record, last),
  milestoneChanges: ({ milestone, supersedes, restores }) => ({
    milestone,
    isNew: false,
    superseded: supersedes,
    restored: restores,
  }),
  // The correction of an actual one stands in the changes of the `shipment.changed.v1` that follows.
  announce: ({ milestone, previous }) => (previous.classifier === 'actual' ? undefined : announceActual(milestone)),
};
