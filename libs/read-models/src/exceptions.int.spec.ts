import type { ShipmentException } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { choosePropertyTestRounds } from '@tracking/testing';
import {
  filterAndSortExpectedExceptions,
  TESTED_EXCEPTION_LIST_FILTERS,
  createExceptionRows,
  createRandomException,
  readAllExceptionIds,
} from '../test/listed-exceptions.ts';
import { createSeededRandom, describeFilter } from '../test/listed-shipments.ts';
import {
  ACME_LIVE_SCOPE,
  createSampleException,
  OTHER_WORKSPACE,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { waitUntilCaughtUp, expectEqualToRebuild, rebuildReadModelAndWait, ReadModelsTestBed } from '../test/world.ts';
import {
  EXCEPTION_SORTS,
  type ExceptionListFilter,
  type ExceptionReadModelRow,
  exceptionsReadModel,
  type ExceptionSort,
} from './exceptions.ts';
import { createRowsCollectionSpec, type SortValues } from './read-model.ts';
import type { ReadModels } from './read-models.ts';

describe('lists of stored exceptions', () => {
  const ROWS = createExceptionRows(160);
  const OWN = ROWS.filter(
    (row) => row.workspace_id === ACME_LIVE_SCOPE.workspace_id && row.environment === ACME_LIVE_SCOPE.environment,
  ).map((row) => row.exception);
  const PAIRS = TESTED_EXCEPTION_LIST_FILTERS.flatMap((one, at) =>
    TESTED_EXCEPTION_LIST_FILTERS.slice(at + 1).map((other): ExceptionListFilter => ({ ...one, ...other })),
  );
  const LITTLE_AT_A_TIME = { visit: 30, stretches: 2, bytes: 30_000 };
  let world: ReadModelsTestBed;
  let rows: Collection<ExceptionReadModelRow>;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    rows = await world.engine.documentStore.collection<ExceptionReadModelRow>(
      createRowsCollectionSpec(exceptionsReadModel, 1),
    );
    await rows.writeMany(ROWS.map((document) => ({ kind: 'upsert', document })));
  });
  afterAll(() => world.close());

  it.each([
    ['nothing', {}] as const,
    ...TESTED_EXCEPTION_LIST_FILTERS.map((filter) => [describeFilter(filter), filter] as const),
  ])('filtered by %s', async (_title, filter) => {
    for (const sort of EXCEPTION_SORTS) {
      const expected = filterAndSortExpectedExceptions(OWN, filter, sort).map(({ id }) => id);
      expect(await readAllExceptionIds(rows, { filter, sort, limit: 30 })).toEqual(expected);
      expect(await readAllExceptionIds(rows, { filter, sort, limit: 30 }, LITTLE_AT_A_TIME)).toEqual(expected);
    }
  });

  it('filtered by two fields', async () => {
    for (let turn = 0; turn < PAIRS.length; turn += Math.floor(PAIRS.length / choosePropertyTestRounds(PAIRS.length))) {
      const filter = PAIRS[turn] as ExceptionListFilter;
      // Each filter in one order. The in-memory suite covers all orders.
      const sort = EXCEPTION_SORTS[turn % EXCEPTION_SORTS.length] as ExceptionSort;
      const expected = filterAndSortExpectedExceptions(OWN, filter, sort).map(({ id }) => id);
      expect(await readAllExceptionIds(rows, { filter, sort, limit: 60 }, LITTLE_AT_A_TIME)).toEqual(expected);
    }
  });
});

describe('queries of exceptions', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels({ graceMs: 100 });
    await models.ready;
  });
  afterEach(() => world.close());

  it('return only exceptions of their own scope', async () => {
    await world.writer.createShipment(1);
    const of = createSampleException(1, 'a');
    await world.writer.writeExceptionOpenedEvent(1, of);
    await waitUntilCaughtUp(models);
    const { exceptions } = models.queries;
    const query = { filter: {}, sort: '-opened_at', limit: 10 } as const;
    expect(await exceptions.listExceptions(ACME_LIVE_SCOPE, query)).toEqual({ items: [of], next: undefined });
    const empty = { items: [], next: undefined };
    expect(await exceptions.listExceptions(OTHER_WORKSPACE, query)).toEqual(empty);
    expect(
      await exceptions.listExceptions(OTHER_WORKSPACE, { ...query, filter: { shipment_id: of.shipment_id } }),
    ).toEqual(empty);
  });

  it('pages neither skip nor repeat an unchanged exception while others open, change and resolve', async () => {
    const random = createSeededRandom(3);
    const all = new Map<string, ShipmentException>();
    const touched = new Set<string>();
    const put = async (n: number, of: ShipmentException, isNew: boolean) => {
      touched.add(of.id);
      all.set(of.id, of);
      await (isNew ? world.writer.writeExceptionOpenedEvent(n, of) : world.writer.writeExceptionChangeEvent(n, of));
    };
    for (let n = 0; n < 12; n += 1) {
      await world.writer.createShipment(n);
      for (let of = 4 * n; of < 4 * n + 4; of += 1) await put(n, createRandomException(of, random), true);
    }
    let next = 48;
    const change = async () => {
      if (random() < 0.3) {
        const shipment = next % 12;
        const opened = createRandomException(next, random);
        const id = `exc_${createNthTestShipmentToken(shipment)}-new${next}`;
        await put(shipment, { ...opened, id, shipment_id: `shp_${createNthTestShipmentToken(shipment)}` }, true);
        next += 1;
        return;
      }
      const one = [...all.values()][Math.floor(random() * all.size)] as ShipmentException;
      const { status, severity, assignee } = createRandomException(0, random);
      const shipment = Array.from({ length: 12 }, (_, n) => n).find(
        (n) => one.shipment_id === `shp_${createNthTestShipmentToken(n)}`,
      );
      // A resolution changes no other exception.
      const others = status === 'resolved' ? {} : { severity, assignee };
      await put(shipment ?? 0, { ...one, status, ...others }, false);
    };
    const asked: readonly ExceptionListFilter[] = [
      {},
      { status: ['open', 'acknowledged'] },
      { severity: ['low', 'critical'] },
      { assignee: 'ann@example.com' },
      { unassigned: true },
    ];
    for (const filter of asked) {
      for (const sort of EXCEPTION_SORTS) {
        await waitUntilCaughtUp(models);
        touched.clear();
        const before = filterAndSortExpectedExceptions([...all.values()], filter, sort).map(({ id }) => id);
        const seen: string[] = [];
        for (let after: SortValues | undefined; ;) {
          const page = await models.queries.exceptions.listExceptions(ACME_LIVE_SCOPE, {
            filter,
            sort,
            limit: 5,
            after,
          });
          seen.push(...page.items.map(({ id }) => id));
          if (page.next === undefined) break;
          after = page.next;
          await change();
          await change();
          if (random() < 0.5) await waitUntilCaughtUp(models);
        }
        const untouched = (ids: readonly string[]) => ids.filter((id) => !touched.has(id));
        expect(untouched(seen)).toEqual(untouched(before));
      }
    }
    await expectEqualToRebuild(models);
  });

  it('pages continue after a rebuild', async () => {
    const random = createSeededRandom(4);
    const all = Array.from({ length: 24 }, (_, n) => createRandomException(n, random));
    for (let n = 0; n < 6; n += 1) {
      await world.writer.createShipment(n);
      for (const of of all.slice(4 * n, 4 * n + 4)) await world.writer.writeExceptionOpenedEvent(n, of);
    }
    await waitUntilCaughtUp(models);
    for (const sort of EXCEPTION_SORTS) {
      const list = (after?: SortValues) =>
        models.queries.exceptions.listExceptions(ACME_LIVE_SCOPE, { filter: {}, sort, limit: 9, after });
      const first = await list();
      await rebuildReadModelAndWait(models, 'exceptions');
      const second = await list(first.next);
      const ids = [...first.items, ...second.items].map(({ id }) => id);
      expect(ids).toEqual(
        filterAndSortExpectedExceptions(all, {}, sort)
          .slice(0, 18)
          .map(({ id }) => id),
      );
    }
  });
});
