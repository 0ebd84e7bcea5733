import type { Milestone } from '@tracking/contracts';
import { applyLastMilestones, same } from '../changes.ts';
import type { Announcement, StoredEventDescriptor } from './descriptor.ts';
import type { LastMilestones, Overridden } from './event-data.ts';

/** A new milestone on the timeline. */
export interface MilestoneRecorded {
  readonly type: 'milestone.recorded.v1';
  readonly data: {
    readonly milestone: Milestone;
    /** Ids of estimates that this one replaces. */
    readonly supersedes: readonly string[];
    readonly last: LastMilestones;
  };
}

export const milestoneRecorded: StoredEventDescriptor<MilestoneRecorded> = {
  type: 'milestone.recorded.v1',
  applyToRecord: (record, { last }) => applyLastMilestones(record, last),
  milestoneChanges: ({ milestone, supersedes }) => ({ milestone, isNew: true, superseded: supersedes, restored: [] }),
  isNews: () => true,
  historyNote: ({ milestone }) => ({
    type: 'milestone.recorded',
    changes: { milestone: { from: null, to: milestone } },
  }),
  announce: ({ milestone }) => announceActual(milestone),
};

/** Estimates and plans are not announced. */
function announceActual(milestone: Milestone): Announcement | undefined {
  if (milestone.classifier !== 'actual') return undefined;
  return { type: 'milestone.recorded', data: () => ({ milestone }) };
}

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
    /** Fields that the milestone's feed last sent and a person's value replaced. */
    readonly overridden: Overridden;
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
    overridden,
  }),
  // What came again as it was is none.
  isNews: ({ milestone, previous }) => milestone.revision !== previous.revision,
  historyNote: ({ milestone, previous }) =>
    same(milestone, previous)
      ? undefined
      : { type: 'milestone.corrected', changes: { milestone: { from: previous, to: milestone } } },
  // The correction of an actual one stands in the changes of the `shipment.changed.v1` that follows.
  announce: ({ milestone, previous }) => (previous.classifier === 'actual' ? undefined : announceActual(milestone)),
};

/** A milestone taken back: it stays on the timeline and counts for nothing. */
export interface MilestoneRetracted {
  readonly type: 'milestone.retracted.v1';
  readonly data: {
    /** With `retracted_at`, and its revision grown. */
    readonly milestone: Milestone;
    /** Ids of estimates that are current again. */
    readonly restores: readonly string[];
    readonly last: LastMilestones;
  };
}

export const milestoneRetracted: StoredEventDescriptor<MilestoneRetracted> = {
  type: 'milestone.retracted.v1',
  applyToRecord: (record, { last }) => applyLastMilestones(record, last),
  milestoneChanges: ({ milestone, restores }) => ({ milestone, isNew: false, superseded: [], restored: restores }),
  historyNote: ({ milestone }) => {
    const from = { ...milestone, retracted_at: null, revision: milestone.revision - 1 };
    return { type: 'milestone.retracted', changes: { milestone: { from, to: null } } };
  },
  // Of estimates and plans nobody was told either.
  announce: ({ milestone }) =>
    milestone.classifier === 'actual' ? { type: 'milestone.retracted', data: () => ({ milestone }) } : undefined,
};
