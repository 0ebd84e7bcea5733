import type { Classifier, Milestone } from '@tracking/contracts';
import type { Collection, DocumentStore } from '@tracking/ports';
import {
  type MilestoneListQuery,
  type MilestoneReadModelRow,
  milestonesReadModel,
  readMilestonePage,
  TIMELINE_SORT_FIELDS,
} from '../src/milestones.ts';
import { type SortValues, createRowsCollectionSpec } from '../src/read-model.ts';
import { ACME_LIVE_SCOPE, OTHER_WORKSPACE } from './shipment-events.ts';

const SHIPMENT_ID = 'shp_ours';
const SAMPLE_CLASSIFIERS: readonly Classifier[] = ['actual', 'estimated', 'planned'];
const CONTAINER_NUMBERS = [null, 'CSQU3054383', 'MSKU1234565'] as const;

/** Unsorted milestones of two shipments and of a shipment in another scope. Several milestones have equal times. */
const SAMPLE_MILESTONE_ROWS = Array.from({ length: 240 }, (_, n): MilestoneReadModelRow => {
  const isOurs = n % 4 !== 0;
  const id = `mst_${String((n * 37) % 240).padStart(3, '0')}`;
  const classifier = SAMPLE_CLASSIFIERS[n % 3] as Classifier;
  const facts = {
    shipment_id: isOurs ? SHIPMENT_ID : 'shp_theirs',
    classifier,
    container_number: CONTAINER_NUMBERS[(n >> 2) % 3] ?? null,
    occurred_at: `2026-03-${String(1 + (n % 9)).padStart(2, '0')}T00:00:00.000Z`,
    sequence: 10 * ((n >> 3) % 3),
    recorded_at: `2026-03-20T0${(n >> 4) % 4}:00:00.000Z`,
  };
  return {
    id,
    ...(n % 8 === 0 ? OTHER_WORKSPACE : ACME_LIVE_SCOPE),
    ...facts,
    superseded: classifier === 'estimated' && n % 5 < 2,
    retracted: n % 7 === 0,
    revision: n,
    milestone: { id } as Milestone,
  };
});

type MilestoneFilter = Omit<MilestoneListQuery, 'limit' | 'after'>;
const MILESTONE_FILTER_SAMPLES = [['actual'], ['estimated', 'planned'], SAMPLE_CLASSIFIERS].flatMap((classifiers) =>
  CONTAINER_NUMBERS.flatMap((container) =>
    [false, true].flatMap((include_superseded) =>
      [false, true].map((include_retracted): MilestoneFilter => ({
        classifiers: classifiers as readonly Classifier[],
        container_number: container ?? undefined,
        include_superseded,
        include_retracted,
      })),
    ),
  ),
);

/** Tests that a document store lists the same milestones as plain filters over all rows. @param open called once */
export function defineMilestoneListTests(open: () => DocumentStore): void {
  let rows: Collection<MilestoneReadModelRow>;
  beforeAll(async () => {
    rows = await open().collection<MilestoneReadModelRow>(createRowsCollectionSpec(milestonesReadModel, 1));
    await rows.writeMany(SAMPLE_MILESTONE_ROWS.map((document) => ({ kind: 'upsert', document })));
  });

  it.each(MILESTONE_FILTER_SAMPLES.map((query) => [JSON.stringify(query), query] as const))(
    'filtered by %s',
    async (_title, query) => {
      const asked = SAMPLE_MILESTONE_ROWS.filter((row) => matchesMilestoneFilter(row, query)).sort((a, b) =>
        createSortKey(a) < createSortKey(b) ? -1 : 1,
      );
      expect(await readAllMilestonePages(query)).toEqual(asked.map(({ id }) => id));
    },
  );

  async function readAllMilestonePages(query: MilestoneFilter): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let after: SortValues | undefined; ;) {
      const { items, next } = await readMilestonePage(rows, ACME_LIVE_SCOPE, SHIPMENT_ID, {
        ...query,
        limit: 20,
        after,
      });
      ids.push(...items.map(({ id }) => id));
      if (!next) return ids;
      after = next;
    }
  }
}

function matchesMilestoneFilter(row: MilestoneReadModelRow, query: MilestoneFilter): boolean {
  return (
    row.shipment_id === SHIPMENT_ID &&
    row.workspace_id === ACME_LIVE_SCOPE.workspace_id &&
    query.classifiers.includes(row.classifier) &&
    (query.container_number === undefined || row.container_number === query.container_number) &&
    (query.include_superseded || !row.superseded) &&
    (query.include_retracted || !row.retracted)
  );
}

function createSortKey(row: MilestoneReadModelRow): string {
  return TIMELINE_SORT_FIELDS.map((field) => String(row[field]).padStart(4, '0')).join(' ');
}
