import type { ShipmentRecord } from '@tracking/contracts';
import {
  SHIPMENT_LIST_ORDERS,
  toTimeOfNthDay,
  sortShipmentRecords,
  matchesShipmentListFilter,
  createRandomShipmentRecord,
  createSeededRandom,
} from '../../test/listed-shipments.ts';
import { ACME_LIVE_SCOPE, createNthTestShipmentToken } from '../../test/shipment-events.ts';
import {
  ReadModelsTestBed,
  waitUntilCaughtUp,
  expectEqualToRebuild,
  rebuildReadModelAndWait,
  waitUntilTrue,
} from '../../test/world.ts';
import type { SortValues } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import type { ShipmentListFilter, ShipmentSortOrder } from './list-conditions.ts';

const FILTERS: readonly ShipmentListFilter[] = [
  {},
  { status: ['in_transit', 'arrived'] },
  { active: true },
  { words: ['ma'] },
  { active: true, carrier_scac: 'MAEU' },
  { eta_from: toTimeOfNthDay(105) },
];

/** Writes shipments and records them, so that the expected lists are known. */
class Shipments {
  readonly records = new Map<number, ShipmentRecord>();
  /** Shipments written since the read began. */
  readonly touched = new Set<string>();
  private minute = 0;

  constructor(
    private readonly world: ReadModelsTestBed,
    readonly random: () => number,
  ) {}

  async create(): Promise<void> {
    const n = this.records.size;
    const record = { ...createRandomShipmentRecord(n, this.random), version: 1 };
    this.records.set(n, record);
    this.touched.add(record.id);
    // Lists sort by the time of the event.
    await this.world.writer.createShipment(n, record);
  }

  async change(): Promise<void> {
    const n = Math.floor(this.random() * this.records.size);
    const { id } = this.records.get(n) as ShipmentRecord;
    const { status, eta, carrier_scac, references } = createRandomShipmentRecord(n, this.random);
    this.touched.add(id);
    this.minute += 1;
    await this.world.writer.writeShipmentChangedEvent(n, { status, eta, carrier_scac, references });
    this.records.set(n, { ...(this.records.get(n) as ShipmentRecord), status, eta, carrier_scac, references });
  }
}

describe('pages of lists during concurrent writes', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  let shipments: Shipments;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels({ graceMs: 100 });
    await models.ready;
    shipments = new Shipments(world, createSeededRandom(7));
  });
  afterEach(() => world.close());

  async function stored(): Promise<readonly ShipmentRecord[]> {
    await waitUntilCaughtUp(models);
    const all = await Promise.all(
      [...shipments.records.values()].map(({ id }) => models.queries.shipments.getShipment(ACME_LIVE_SCOPE, id)),
    );
    return all.flatMap((found) => (found === undefined ? [] : [found.record]));
  }

  it('neither skip nor repeat an unchanged shipment', async () => {
    for (let n = 0; n < 60; n += 1) await shipments.create();
    for (const filter of FILTERS) {
      for (const order of SHIPMENT_LIST_ORDERS) await readWhileWritten(filter, order);
    }
    await expectEqualToRebuild(models);
  });

  async function readWhileWritten(filter: ShipmentListFilter, order: ShipmentSortOrder): Promise<void> {
    const before = await stored();
    shipments.touched.clear();
    const seen: string[] = [];
    for (let after: SortValues | undefined; ;) {
      const limit = 1 + Math.floor(shipments.random() * 7);
      const { items, next } = await models.queries.shipments.listShipments(ACME_LIVE_SCOPE, {
        filter,
        order,
        limit,
        after,
      });
      seen.push(...items.map(({ id }) => id));
      if (next === undefined) break;
      after = next;
      // Limited, because an ascending list by last change continues while shipments change.
      for (let write = 0; write < 2 && shipments.touched.size < 25; write += 1) {
        await (shipments.random() < 0.2 ? shipments.create() : shipments.change());
      }
      if (shipments.random() < 0.5) await waitUntilCaughtUp(models);
    }
    const untouched = (ids: readonly string[]) => ids.filter((id) => !shipments.touched.has(id));
    const asked = sortShipmentRecords(
      before.filter((record) => matchesShipmentListFilter(record, filter)),
      order,
    );
    expect(untouched(seen)).toEqual(untouched(asked.map(({ id }) => id)));
  }

  it('continue after a rebuild and on another replica', async () => {
    for (let n = 0; n < 40; n += 1) await shipments.create();
    const other = await world.startReadModels({ project: false, graceMs: 100 });
    await waitUntilCaughtUp(models);
    for (const order of SHIPMENT_LIST_ORDERS) {
      const list = (of: ReadModels, after?: SortValues) =>
        of.queries.shipments.listShipments(ACME_LIVE_SCOPE, { filter: { words: ['t'] }, order, limit: 9, after });
      const first = await list(models);
      await rebuildReadModelAndWait(models, 'shipments');
      const here = await list(models, first.next);
      const there = await list(other, first.next);
      expect(there).toEqual(here);
      const all = sortShipmentRecords(
        [...(await stored())].filter((record) => matchesShipmentListFilter(record, { words: ['t'] })),
        order,
      );
      expect([...first.items, ...here.items].map(({ id }) => id)).toEqual(all.slice(0, 18).map(({ id }) => id));
    }
  });

  it('are correct while a rebuild runs beside writes', async () => {
    for (let n = 0; n < 150; n += 1) await shipments.create();
    await waitUntilCaughtUp(models);
    const steady = (await stored()).filter(({ id }) => Number(id.at(-1)?.charCodeAt(0)) % 2 === 0);
    const ids = new Set(steady.map(({ id }) => id));
    const { generation } = await models.rebuild('shipments');
    let isRebuilt = false;
    let lists = 0;
    const writing = (async () => {
      for (let n = 1_000; !isRebuilt; n += 1) {
        await world.writer.createShipment(n, { ...createRandomShipmentRecord(n, shipments.random), version: 1 });
        await world.writer.writeShipmentChangedEvent(n, { status: 'delivered' });
      }
    })();
    const reading = (async () => {
      do {
        const filter = FILTERS[lists % FILTERS.length] as ShipmentListFilter;
        const order = SHIPMENT_LIST_ORDERS[lists % SHIPMENT_LIST_ORDERS.length] as ShipmentSortOrder;
        const seen: string[] = [];
        for (let after: SortValues | undefined; ;) {
          const { items, next } = await models.queries.shipments.listShipments(ACME_LIVE_SCOPE, {
            filter,
            order,
            limit: 50,
            after,
          });
          seen.push(...items.map(({ id }) => id));
          if (next === undefined || seen.length > 2_000) break;
          after = next;
        }
        const asked = sortShipmentRecords(
          steady.filter((record) => matchesShipmentListFilter(record, filter)),
          order,
        );
        expect(seen.filter((id) => ids.has(id))).toEqual(asked.map(({ id }) => id));
        lists += 1;
      } while (!isRebuilt || lists < 12);
    })();
    await waitUntilTrue(async () =>
      (await models.listReadModelStates()).some((each) => each.name === 'shipments' && each.generation === generation),
    );
    isRebuilt = true;
    await Promise.all([writing, reading]);
    expect(lists).toBeGreaterThanOrEqual(12);
    await expectEqualToRebuild(models);
    expect(
      await models.queries.shipments.getShipment(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(1_000)}`),
    ).toBeDefined();
  });
});
