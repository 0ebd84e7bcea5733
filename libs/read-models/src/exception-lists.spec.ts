import { VisitCountingCollection } from '../test/counted-rows.ts';
import {
  filterAndSortExpectedExceptions,
  TESTED_EXCEPTION_LIST_FILTERS,
  createExceptionRows,
  readAllExceptionIds,
} from '../test/listed-exceptions.ts';
import { describeFilter } from '../test/listed-shipments.ts';
import { ACME_LIVE_SCOPE } from '../test/shipment-events.ts';
import { EXCEPTION_SORTS, type ExceptionListFilter, exceptionsReadModel } from './exceptions.ts';
import type { ListScanWorkLimits } from './walked-ranges.ts';

const ROWS = createExceptionRows(240);
const OWN = ROWS.filter(
  (row) => row.workspace_id === ACME_LIVE_SCOPE.workspace_id && row.environment === ACME_LIVE_SCOPE.environment,
).map((row) => row.exception);
const PAIRS = TESTED_EXCEPTION_LIST_FILTERS.flatMap((one, at) =>
  TESTED_EXCEPTION_LIST_FILTERS.slice(at + 1).map((other): ExceptionListFilter => ({ ...one, ...other })),
);
/** Bounds with one scan per page, and bounds with many small scans. */
const BOUNDS: readonly [string, ListScanWorkLimits][] = [
  ['few rows', { visit: 2_000, stretches: 2, bytes: 60_000 }],
  ['many rows', { visit: 20, stretches: 2, bytes: 8_000 }],
];

describe.each(BOUNDS)('lists with %s', (_title, bounds) => {
  const rows = new VisitCountingCollection(ROWS, exceptionsReadModel.indexes);

  async function expectRight(filter: ExceptionListFilter, limit: number): Promise<void> {
    for (const sort of EXCEPTION_SORTS) {
      rows.visits = 0;
      const ids = await readAllExceptionIds(rows, { filter, sort, limit }, bounds, () => {
        // Enough for four parts of 24 ranges each, because a scan visits each range at least once.
        expect(rows.visits).toBeLessThanOrEqual(bounds.stretches * (bounds.visit + 4 * 24));
        rows.visits = 0;
      });
      expect(ids).toEqual(filterAndSortExpectedExceptions(OWN, filter, sort).map(({ id }) => id));
    }
  }

  it.each([
    ['nothing', {}] as const,
    ...TESTED_EXCEPTION_LIST_FILTERS.map((filter) => [describeFilter(filter), filter] as const),
  ])('filtered by %s', (_filter, filter) => expectRight(filter, 7));

  it('filtered by two fields', async () => {
    for (const filter of PAIRS) await expectRight(filter, 30);
  });

  it('filtered by all fields', async () => {
    for (const { status, type, severity, assignee, shipment_id, opened_at } of OWN.slice(0, 30)) {
      const filter: ExceptionListFilter = {
        status: [status],
        type: [type, 'lost'],
        severity: [severity],
        ...(assignee === null ? { unassigned: true } : { assignee }),
        opened_from: opened_at,
        opened_to: opened_at,
      };
      await expectRight(filter, 2);
      await expectRight({ ...filter, shipment_id }, 2);
    }
  });
});

it('no exception is both assigned and unassigned', async () => {
  const rows = new VisitCountingCollection(ROWS, exceptionsReadModel.indexes);
  const filter = { assignee: 'ann@example.com', unassigned: true };
  expect(await readAllExceptionIds(rows, { filter, sort: '-opened_at', limit: 10 })).toEqual([]);
});
