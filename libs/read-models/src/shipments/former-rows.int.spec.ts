import { Unavailable } from '@tracking/ports';
import { partition } from '@tracking/subscriptions';
import { noMetrics } from '@tracking/testing';
import { ACME, token } from '../../test/shipment-events.ts';
import { World, until } from '../../test/world.ts';
import { ActiveRows } from '../active-rows.ts';
import { CheckpointPoller } from '../checkpoint-poller.ts';
import { Collections } from '../collections.ts';
import { Generations } from '../generations.ts';
import { Lifecycle } from '../lifecycle.ts';
import { ProjectionMetrics } from '../projection/projection-metrics.ts';
import type { ReadModel } from '../read-model.ts';
import type { ShipmentListQuery } from './list-query.ts';
import { ShipmentQueries } from './shipment-queries.ts';
import { type ShipmentRow, shipmentsModel } from './shipment-rows.ts';

/** As earlier versions made rows: those are what is there when the program is updated. */
const FORMER = [
  former(1, ({ terms: _terms, updated_at: _at, eta: _eta, ...row }) => row as never),
  former(2, ({ has_open_exceptions: _has, ...row }) => ({ ...row, terms: ['active:false', 'word:tms'] }) as never),
];

function former(version: number, made: (row: ShipmentRow) => ShipmentRow): ReadModel<ShipmentRow, 'shipments'> {
  return {
    ...shipmentsModel,
    version,
    indexes: shipmentsModel.formerIndexes?.[version] ?? shipmentsModel.indexes,
    apply: (event, row) => shipmentsModel.apply(event, row).map(made),
  };
}

describe.each(FORMER)('lists of rows that version $version made', (formerModel) => {
  let world: World;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await world.close();
  });

  function processOn(model: ReadModel<ShipmentRow, 'shipments'>) {
    const collections = new Collections(world.engine.documentStore);
    const generations = new Generations(collections);
    const checkpoints = new CheckpointPoller(collections, [model.name]);
    const parts = { partitions: [partition(['shipment-'])], collections, generations, graceMs: 100 };
    const active = new ActiveRows(model, { ...parts, checkpoints, maxWaiters: 10 });
    const metrics = new ProjectionMetrics(noMetrics);
    const lifecycle = new Lifecycle(active as never, { ...world.parts(), ...parts, metrics, cachedRows: 100 });
    const queries = new ShipmentQueries(active, { few: 7, compared: 20, stretch: 20, stretches: 2, bytes: 20_000 });
    const list = async (filter: ShipmentListQuery['filter'], order?: ShipmentListQuery['order']) => {
      const ids: string[] = [];
      for (let after: ShipmentListQuery['after']; ;) {
        const { items, next } = await queries.list(ACME, { filter, order, limit: 3, after });
        ids.push(...items.map(({ id }) => id));
        if (next === undefined) return ids;
        after = next;
      }
    };
    const start = () => {
      void lifecycle.start();
      stops.push(() => lifecycle.stop());
    };
    return { start, lifecycle, queries, list };
  }

  it('are right as far as those rows can tell, and all of them once the rows are made anew', async () => {
    const before = processOn(formerModel);
    before.start();
    for (let n = 0; n < 30; n += 1) {
      const status = n % 3 === 0 ? 'in_transit' : 'delivered';
      await world.writer.create(n, { status, booking_number: `B ${n % 2}`, external_id: `PO-${n}` });
    }
    await until(async () => (await before.queries.get(ACME, `shp_${token(29)}`)) !== undefined);
    await before.lifecycle.stop();

    const after = processOn(shipmentsModel);
    const ids = (...numbers: number[]) => numbers.map((n) => `shp_${token(n)}`);
    const expectRight = async () => {
      expect(await after.list({ status: ['in_transit'] })).toEqual(ids(27, 24, 21, 18, 15, 12, 9, 6, 3, 0));
      expect(await after.list({ active: true, booking_number: 'B 1' })).toEqual(ids(27, 21, 15, 9, 3));
      expect(await after.list({ external_id: 'PO-4' })).toEqual(ids(4));
      expect(await after.list({ has_open_exceptions: true })).toEqual([]);
      expect(await after.list({ has_open_exceptions: false, external_id: 'PO-4' })).toEqual(ids(4));
      expect(await after.list({ words: ['po', '2'] }, { field: 'created_at', descending: false })).toEqual(
        ids(2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29),
      );
      expect(await after.list({})).toHaveLength(30);
    };
    await expectRight();
    const newest = { field: 'updated_at', descending: true } as const;
    await expect(after.list({}, newest)).rejects.toThrow(Unavailable);
    const booking = { field: 'booking_number', values: ['B 0'] } as const;
    await expect(after.queries.idsByReference(ACME, booking, 2)).rejects.toThrow(Unavailable);
    const like = { id: 'shp_other', house_bill: 'HB', container_numbers: [] };
    expect(await after.queries.possibleDuplicates(ACME, like)).toEqual([]);

    after.start();
    await until(() =>
      after.list({}, newest).then(
        (all) => all.length === 30,
        () => false,
      ),
    );
    await expectRight();
    expect((await after.queries.idsByReference(ACME, booking, 2)).get('B 0')).toHaveLength(2);
  });
});
