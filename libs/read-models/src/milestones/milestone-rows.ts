import type { Classifier, Milestone, Scope } from '@tracking/contracts';
import { milestoneChanges } from '@tracking/shipments-domain';
import type { ReadModel, ReadModelRow } from '../read-model.ts';
import { scopeOf } from '../scope.ts';

/** One milestone; what lists filter and sort by stands beside it. */
export interface MilestoneRow extends ReadModelRow, Scope {
  readonly shipment_id: string;
  readonly milestone: Milestone;
  readonly classifier: Classifier;
  readonly container_number: string | null;
  readonly superseded: boolean;
  readonly retracted: boolean;
  readonly occurred_at: string;
  readonly sequence: number;
  readonly recorded_at: string;
}

/** In the order of the timeline: when it happened, the catalog, when it was recorded. */
export const TIMELINE = ['occurred_at', 'sequence', 'recorded_at', 'id'] as const;

/** Milestones as they are answered, one row each. */
export const milestonesModel: ReadModel<MilestoneRow, 'milestones'> = {
  name: 'milestones',
  version: 1,
  indexes: [{ name: 'by_timeline', fields: ['shipment_id', ...TIMELINE] }],
  scoped: true,

  reads({ event }) {
    const changes = milestoneChanges(event);
    return changes ? [...changes.superseded, ...changes.restored] : [];
  },

  apply({ event, scope }, row) {
    const changes = milestoneChanges(event);
    if (!changes) return [];
    if (!scope) throw new Error('a stream that does not begin with a shipment');
    const { milestone, superseded, restored, at } = changes;
    const { revision } = event;
    const other = (id: string, superseded_at: string | null): readonly MilestoneRow[] => {
      const before = row(id);
      if (!before) throw new Error(`${event.type} replaces a milestone that is not there: ${id}`);
      if (before.revision >= revision) return [];
      return [milestoneRow({ ...before.milestone, superseded_at }, before, revision)];
    };
    return [
      ...superseded.flatMap((id) => other(id, at)),
      ...restored.flatMap((id) => other(id, null)),
      milestoneRow(milestone, scope, revision),
    ];
  },
};

function milestoneRow(milestone: Milestone, scope: Scope, revision: number): MilestoneRow {
  return {
    id: milestone.id,
    shipment_id: milestone.shipment_id,
    ...scopeOf(scope),
    milestone,
    revision,
    classifier: milestone.classifier,
    container_number: milestone.container_number,
    superseded: milestone.superseded_at !== null,
    retracted: milestone.retracted_at !== null,
    occurred_at: milestone.occurred_at,
    sequence: milestone.sequence,
    recorded_at: milestone.recorded_at,
  };
}
