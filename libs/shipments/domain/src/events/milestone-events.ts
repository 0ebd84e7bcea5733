import type { Milestone } from '@tracking/contracts';
import { applyLastMilestoneChanges, isSameJson } from '../changes.ts';
import type { PublicEventMapping, StoredEventDescriptor } from './descriptor.ts';
import type { EstimateReport, ChangedLastMilestoneSummaries, Overridden } from './event-data.ts';

/** A milestone was added to the timeline. */
export interface MilestoneRecordedEvent {
  readonly type: 'milestone.recorded.v1';
  readonly data: {
    readonly milestone: Milestone;
    /** Ids of the estimates that this milestone replaces. A milestone that is replaced itself has `superseded_at`. */
    readonly supersedes: readonly string[];
    readonly last: ChangedLastMilestoneSummaries;
    /** Ids of superseded estimates that are no longer kept; absent if there are none. */
    readonly drops?: readonly string[];
  };
}

export const milestoneRecordedEventDescriptor: StoredEventDescriptor<MilestoneRecordedEvent> = {
  type: 'milestone.recorded.v1',
  applyToRecord: (record, { last }) => applyLastMilestoneChanges(record, last),
  milestoneChanges: ({ milestone, supersedes, drops }) => ({
    milestone,
    isNew: true,
    superseded: supersedes,
    restored: [],
    dropped: drops,
  }),
  isNews: () => true,
  createHistoryNote: ({ milestone }) => ({
    type: 'milestone.recorded',
    changes: { milestone: { from: null, to: milestone } },
  }),
  announce: ({ milestone }) => createActualMilestoneAnnouncement(milestone),
};

/** Estimates and plans are not announced as public events. */
function createActualMilestoneAnnouncement(milestone: Milestone): PublicEventMapping | undefined {
  if (milestone.classifier !== 'actual') return undefined;
  return { type: 'milestone.recorded', data: () => ({ milestone: addMissingReportTime(milestone) }) };
}

/**
 * Events of releases that did not store the time of the report are announced with the time of recording.
 * `addReportTimeToMilestone` restores a more exact time for the timeline, because it knows the milestone before the
 * event.
 */
function addMissingReportTime(milestone: Milestone): Milestone {
  const { reported_at }: Partial<Milestone> = milestone;
  return reported_at === undefined ? { ...milestone, reported_at: milestone.recorded_at } : milestone;
}

/**
 * The content of a milestone changed, because a person corrected it or a client sent it again under its `external_id`.
 * The milestone's revision grows. If the revision does not grow, the milestone only received an `external_id`, or a
 * feed sent the value that a person had already set.
 */
export interface MilestoneCorrectedEvent {
  readonly type: 'milestone.corrected.v1';
  readonly data: {
    readonly milestone: Milestone;
    readonly previous: Milestone;
    readonly supersedes: readonly string[];
    /** Ids of estimates that the previous content had replaced but the new content does not replace. */
    readonly restores: readonly string[];
    readonly last: ChangedLastMilestoneSummaries;
    /** Values that the milestone's feed last sent and that values of a person override. */
    readonly overridden: Overridden;
    /**
     * Report of the estimate that no longer counts, because its sender stated another value; null if the event replaces
     * no report. Absent in events of releases that did not compare reports.
     */
    readonly former_report?: EstimateReport | null;
    /** Ids of superseded estimates that are no longer kept; absent if there are none. */
    readonly drops?: readonly string[];
  };
}

export const milestoneCorrectedEventDescriptor: StoredEventDescriptor<MilestoneCorrectedEvent> = {
  type: 'milestone.corrected.v1',
  applyToRecord: (record, { last }) => applyLastMilestoneChanges(record, last),
  milestoneChanges: ({ milestone, supersedes, restores, overridden, former_report, drops }) => ({
    milestone,
    isNew: false,
    superseded: supersedes,
    restored: restores,
    dropped: drops,
    overridden,
    formerReport: former_report,
  }),
  // A correction that keeps the milestone's revision does not change the milestone.
  isNews: ({ milestone, previous }) => milestone.revision !== previous.revision,
  createHistoryNote: ({ milestone, previous }) =>
    isSameJson(milestone, previous)
      ? undefined
      : { type: 'milestone.corrected', changes: { milestone: { from: previous, to: milestone } } },
  // The correction of an actual milestone is announced by the `shipment.changed.v1` that follows.
  announce: ({ milestone, previous }) =>
    previous.classifier === 'actual' ? undefined : createActualMilestoneAnnouncement(milestone),
};

/** A milestone was retracted. It stays on the timeline but has no effect. */
export interface MilestoneRetractedEvent {
  readonly type: 'milestone.retracted.v1';
  readonly data: {
    /** The retracted milestone, with `retracted_at` and the next revision. */
    readonly milestone: Milestone;
    /** Ids of the estimates that become current again. */
    readonly restores: readonly string[];
    readonly last: ChangedLastMilestoneSummaries;
  };
}

export const milestoneRetractedEventDescriptor: StoredEventDescriptor<MilestoneRetractedEvent> = {
  type: 'milestone.retracted.v1',
  applyToRecord: (record, { last }) => applyLastMilestoneChanges(record, last),
  milestoneChanges: ({ milestone, restores }) => ({ milestone, isNew: false, superseded: [], restored: restores }),
  createHistoryNote: ({ milestone }) => {
    const from = { ...milestone, retracted_at: null, revision: milestone.revision - 1 };
    return { type: 'milestone.retracted', changes: { milestone: { from, to: null } } };
  },
  // Estimates and plans are never announced, so their retraction is not announced either.
  announce: ({ milestone }) =>
    milestone.classifier === 'actual'
      ? { type: 'milestone.retracted', data: () => ({ milestone: addMissingReportTime(milestone) }) }
      : undefined,
};

/**
 * Later reports of the same visit replaced actual milestones, or such reports no longer replace them. The event is not
 * announced.
 */
export interface MilestoneSupersededEvent {
  readonly type: 'milestone.superseded.v1';
  readonly data: {
    /** Ids of the milestones that are replaced. */
    readonly supersedes: readonly string[];
    /** Ids of the milestones that count again. */
    readonly restores: readonly string[];
  };
}

export const milestoneSupersededEventDescriptor: StoredEventDescriptor<MilestoneSupersededEvent> = {
  type: 'milestone.superseded.v1',
  milestoneChanges: ({ supersedes, restores }) => ({
    milestone: null,
    isNew: false,
    superseded: supersedes,
    restored: restores,
  }),
};
