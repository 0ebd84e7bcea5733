import type { Classifier, Milestone, Scope } from '@tracking/contracts';
import type { Collection, Filter } from '@tracking/ports';
import type { ActiveRows } from '../active-rows.ts';
import type { QueryPage, SortValues } from '../read-model.ts';
import { inScope } from '../scope.ts';
import { TIMELINE } from './milestone-rows.ts';
import type { MilestoneRow } from './milestone-rows.ts';

export interface MilestoneListQuery {
  /** At least one. */
  readonly classifiers: readonly Classifier[];
  readonly container_number?: string | undefined;
  /** Also estimates that a newer one replaced. */
  readonly include_superseded: boolean;
  readonly include_retracted: boolean;
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before, under the same filters. */
  readonly after?: SortValues | undefined;
}

/** Milestones as the read model has them; read-your-writes is waited for with `ReadModelProgress`. */
export class MilestoneQueries {
  constructor(private readonly active: ActiveRows<MilestoneRow>) {}

  /**
   * Oldest first, by `occurred_at`, place in the catalog, `recorded_at`, id. Empty for a shipment that is not of the
   * scope, as for one that does not exist.
   * @throws Unavailable, Busy
   */
  async list(scope: Scope, shipmentId: string, query: MilestoneListQuery): Promise<QueryPage<Milestone>> {
    return pageOfMilestones(await this.active.rows(), scope, shipmentId, query);
  }
}

/** Filters look behind the index of the shipment's timeline, which has no more than its milestones. */
export async function pageOfMilestones(
  rows: Pick<Collection<MilestoneRow>, 'find'>,
  scope: Scope,
  shipmentId: string,
  query: MilestoneListQuery,
): Promise<QueryPage<Milestone>> {
  const { classifiers, container_number, include_superseded, include_retracted, limit, after } = query;
  const filter: Filter = {
    shipment_id: shipmentId,
    ...inScope(scope),
    classifier: { in: classifiers },
    ...(container_number !== undefined && { container_number }),
    ...(!include_superseded && { superseded: false }),
    ...(!include_retracted && { retracted: false }),
  };
  const way = { index: 'by_timeline', sort: { fields: TIMELINE } };
  const found = await rows.find({ filter, ...way, limit: limit + 1, ...(after && { after }) });
  const items = found.slice(0, limit);
  const last = items[items.length - 1];
  return {
    items: items.map(({ milestone }) => milestone),
    next: last && found.length > limit ? TIMELINE.map((field) => last[field]) : undefined,
  };
}
