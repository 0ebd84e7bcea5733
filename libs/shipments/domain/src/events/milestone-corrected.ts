import type { Milestone } from '@tracking/contracts';
import { applyLastMilestones, same } from '../changes.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { LastMilestones, Overridden } from './event-data.ts';
import { announceActual } from './milestone-recorded.ts';

/**
 * A milestone that says something else now, by a person's correction or because it was sent again under its `external_id`:
 * its revision grows. Where the revision stays it only took the `external_id` under which it came again, or a feed came round
 * to what a person had corrected.
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
    /** Absent where it was stored before milestones could be corrected by hand: the timeline tells it from the sources then. */
    readonly overridden?: Overridden;
  };
}

export const milestoneCorrected: StoredEventDescriptor<MilestoneCorrected> = {
  type: 'milestone.corrected.v1',
  applyToRecord: (record, { last }) => applyLastMilestones(record, last),
  milestoneChanges: ({ milestone, supersedes, restores, overridden }) => ({
    milestone,
    isNew: false,
    superseded: supersedes,
    restored: restores,
    ...(overridden !== undefined && { overridden }),
  }),
  // What came again as it was is none.
  isNews: ({ milestone, previous }) => milestone.revision !== previous.revision,
  tell: ({ milestone, previous }) =>
    same(milestone, previous)
      ? undefined
      : { type: 'milestone.corrected', changes: { milestone: { from: previous, to: milestone } } },
  // The correction of an actual one stands in the changes of the `shipment.changed.v1` that follows.
  announce: ({ milestone, previous }) => (previous.classifier === 'actual' ? undefined : announceActual(milestone)),
};
