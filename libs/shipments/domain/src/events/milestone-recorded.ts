import type { Milestone } from '@tracking/contracts';
import { applyLastMilestones } from '../changes.ts';
import type { Announcement, StoredEventDescriptor } from './descriptor.ts';
import type { LastMilestones } from './event-data.ts';

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
  tell: ({ milestone }) => ({ type: 'milestone.recorded', changes: { milestone: { from: null, to: milestone } } }),
  announce: ({ milestone }) => announceActual(milestone),
};

/** Estimates and plans are not announced. */
export function announceActual(milestone: Milestone): Announcement | undefined {
  if (milestone.classifier !== 'actual') return undefined;
  return { type: 'milestone.recorded', data: () => ({ milestone }) };
}
