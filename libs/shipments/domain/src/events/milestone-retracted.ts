import type { Milestone } from '@tracking/contracts';
import { applyLastMilestones } from '../changes.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { LastMilestones } from './event-data.ts';

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
  tell: ({ milestone }) => {
    const from = { ...milestone, retracted_at: null, revision: milestone.revision - 1 };
    return { type: 'milestone.retracted', changes: { milestone: { from, to: null } } };
  },
  // Of estimates and plans nobody was told either.
  announce: ({ milestone }) =>
    milestone.classifier === 'actual' ? { type: 'milestone.retracted', data: () => ({ milestone }) } : undefined,
};
