import { addMissingMilestoneDetails, type Classifier, type Milestone, type WorkspaceScope } from '@tracking/contracts';
import type { Collection, Filter } from '@tracking/ports';
import { addReportTimeToMilestone, readTimelineChangesOfEvent } from '@tracking/shipments-domain';
import type { ActiveGenerationSelector } from './active-rows.ts';
import {
  createScopeFilter,
  type QueryPage,
  type ReadModel,
  type ReadModelRow,
  pickScopeFields,
  type SortValues,
} from './read-model.ts';

/** Row of one milestone, with separate fields for filters and sorting. */
export interface MilestoneReadModelRow extends ReadModelRow, WorkspaceScope {
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

/**
 * Row of a superseded estimate that is no longer kept. It is outside all lists. It stays, because without it a repeated
 * event would store the row of the milestone again.
 */
interface DroppedEstimateReadModelRow extends ReadModelRow, WorkspaceScope {
  readonly dropped: true;
}

type StoredMilestoneRow = MilestoneReadModelRow | DroppedEstimateReadModelRow;

/** Sort fields of the timeline: time of occurrence, sequence in the milestone catalog, time of recording, id. */
export const TIMELINE_SORT_FIELDS = ['occurred_at', 'sequence', 'recorded_at', 'id'] as const;

/** Read model of milestones in API format, one row per milestone. */
export const milestonesReadModel: ReadModel<StoredMilestoneRow, 'milestones'> = {
  name: 'milestones',
  version: 2,
  indexes: [{ name: 'by_timeline', fields: ['shipment_id', ...TIMELINE_SORT_FIELDS] }],
  scoped: true,

  listRowIdsNeededToProjectEvent({ event }) {
    const changes = readTimelineChangesOfEvent(event);
    if (!changes) return [];
    const { milestone, isNew, superseded, restored } = changes;
    // Events of former releases do not contain the time of the report, so it is taken from the row.
    const isFormer = milestone !== null && (milestone as Partial<Milestone>).reported_at === undefined;
    const changed = isFormer && !isNew ? [milestone.id] : [];
    return [...changed, ...superseded, ...restored];
  },

  applyEventToRows({ event, scope }, row) {
    const changes = readTimelineChangesOfEvent(event);
    if (!changes) return [];
    if (!scope) throw new Error('the stream does not begin with a shipment event');
    const { milestone, superseded, restored, dropped = [], at } = changes;
    const { revision } = event;
    const other = (id: string, superseded_at: string | null): readonly MilestoneReadModelRow[] => {
      const before = row(id);
      if (!before) throw new Error(`event ${event.type} replaces milestone ${id}, which does not exist`);
      if (before.revision >= revision || 'dropped' in before) return [];
      return [createMilestoneReadModelRow({ ...before.milestone, superseded_at }, before, revision)];
    };
    const changed = [
      ...superseded.flatMap((id) => other(id, at)),
      ...restored.flatMap((id) => other(id, null)),
      ...(milestone === null
        ? []
        : [
            createMilestoneReadModelRow(
              addReportTimeToMilestone(
                milestone,
                changes.isNew ? undefined : getMilestoneUnlessDropped(row(milestone.id)),
                at,
              ),
              scope,
              revision,
            ),
          ]),
    ];
    return [
      ...changed.filter(({ id }) => !dropped.includes(id)),
      ...dropped.map((id) => ({ id, revision, ...pickScopeFields(scope), dropped: true }) as const),
    ];
  },
};

function getMilestoneUnlessDropped(row: StoredMilestoneRow | undefined): Milestone | undefined {
  return row === undefined || 'dropped' in row ? undefined : row.milestone;
}

function createMilestoneReadModelRow(
  milestone: Milestone,
  scope: WorkspaceScope,
  revision: number,
): MilestoneReadModelRow {
  return {
    id: milestone.id,
    shipment_id: milestone.shipment_id,
    ...pickScopeFields(scope),
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

export interface MilestoneListQuery {
  /** Classifiers of the milestones to list, at least one. */
  readonly classifiers: readonly Classifier[];
  readonly container_number?: string | undefined;
  /** True to include milestones that a later report replaced. */
  readonly include_superseded: boolean;
  readonly include_retracted: boolean;
  /** Maximum number of items in the page, at least 1. */
  readonly limit: number;
  /** `next` of the previous page with the same filters. */
  readonly after?: SortValues | undefined;
}

/** Queries of milestones. For read-your-writes, wait with `ReadModelProgress`. */
export class MilestoneQueries {
  constructor(private readonly active: ActiveGenerationSelector<StoredMilestoneRow>) {}

  /**
   * Lists milestones oldest first, by `occurred_at`, catalog order, `recorded_at`, id. Returns an empty page if the
   * scope has no such shipment.
   * @throws UnavailableError, BusyError
   */
  async listMilestones(
    scope: WorkspaceScope,
    shipmentId: string,
    query: MilestoneListQuery,
  ): Promise<QueryPage<Milestone>> {
    return readMilestonePage(await this.active.openActiveGenerationRows(), scope, shipmentId, query);
  }
}

/** The filters apply to entries of the timeline index of the shipment, which contains only its milestones. */
export async function readMilestonePage(
  rows: Pick<Collection<StoredMilestoneRow>, 'find'>,
  scope: WorkspaceScope,
  shipmentId: string,
  query: MilestoneListQuery,
): Promise<QueryPage<Milestone>> {
  const { classifiers, container_number, include_superseded, include_retracted, limit, after } = query;
  const filter: Filter = {
    shipment_id: shipmentId,
    ...createScopeFilter(scope),
    classifier: { in: classifiers },
    ...(container_number !== undefined && { container_number }),
    ...(!include_superseded && { superseded: false }),
    ...(!include_retracted && { retracted: false }),
  };
  const way = { index: 'by_timeline', sort: { fields: TIMELINE_SORT_FIELDS } };
  const rowsOfPage = await rows.find({ filter, ...way, limit: limit + 1, ...(after && { after }) });
  const found = rowsOfPage.flatMap((row) => ('dropped' in row ? [] : [row]));
  const items = found.slice(0, limit);
  const last = items[items.length - 1];
  return {
    items: items.map(({ milestone }) => addMissingMilestoneDetails(milestone)),
    next: last && found.length > limit ? TIMELINE_SORT_FIELDS.map((field) => last[field]) : undefined,
  };
}
