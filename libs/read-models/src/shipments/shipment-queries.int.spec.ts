import { SHIPMENT_STATUSES } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentStatus } from '@tracking/contracts';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import { ReadModelsTestBed, waitUntilCaughtUp } from '../../test/world.ts';
import type { SortValues } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import type { ShipmentListQuery } from './list-conditions.ts';
import type { ReferenceSearchValues } from './shipment-queries.ts';

describe('queries of shipments', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
  });
  afterAll(() => world.close());

  /** Each test has its own workspace. */
  let workspaces = 0;
  let scope: WorkspaceScope;
  let numbers = 0;
  beforeEach(() => {
    workspaces += 1;
    scope = { workspace_id: `wsp_${workspaces}`, environment: 'live' };
  });
  async function create(
    fields: Parameters<ReadModelsTestBed['writer']['createShipment']>[1] = {},
    of: WorkspaceScope = scope,
  ): Promise<string> {
    numbers += 1;
    await world.writer.createShipment(numbers, fields, of);
    return `shp_${createNthTestShipmentToken(numbers)}`;
  }

  async function pages(filter: ShipmentListQuery['filter'], limit: number): Promise<string[][]> {
    const all: string[][] = [];
    for (let after: SortValues | undefined; ;) {
      const { items, next } = await models.queries.shipments.listShipments(scope, { filter, limit, after });
      all.push(items.map(({ id }) => id));
      if (!next) return all;
      after = next;
    }
  }

  it('list newest first, with pages of the requested size and ties ordered by id', async () => {
    const created_at = '2026-05-01T00:00:00.000Z';
    const tied = [await create({ created_at }), await create({ created_at }), await create({ created_at })];
    const newer = await create({ created_at: '2026-05-01T00:00:00.001Z' });
    await waitUntilCaughtUp(models);
    const expected = [newer, ...tied.sort().reverse()];
    expect(await pages({}, 3)).toEqual([expected.slice(0, 3), expected.slice(3)]);
    expect(await pages({}, 2)).toEqual([expected.slice(0, 2), expected.slice(2)]);
    expect(await pages({}, 4)).toEqual([expected]);
    expect(await pages({}, 1)).toEqual(expected.map((id) => [id]));
  });

  it('list several statuses in one order', async () => {
    const ids = new Map<ShipmentStatus, string[]>();
    const newestFirst: [string, ShipmentStatus][] = [];
    for (let n = 0; n < 44; n += 1) {
      const status = SHIPMENT_STATUSES[(n * 7) % SHIPMENT_STATUSES.length] ?? 'pending';
      const id = await create({ status, created_at: new Date(1_800_000_000_000 + (n >> 2)).toISOString() });
      ids.set(status, [...(ids.get(status) ?? []), id]);
      newestFirst.push([id, status]);
    }
    newestFirst.reverse();
    await waitUntilCaughtUp(models);
    const chosen: ShipmentStatus[] = ['arrived', 'pending', 'cancelled'];
    for (const limit of [1, 2, 5, 50]) {
      const found = (await pages({ status: chosen }, limit)).flat();
      expect(new Set(found)).toEqual(new Set(chosen.flatMap((status) => ids.get(status) ?? [])));
      expect(found).toHaveLength(new Set(found).size);
      const everything = (await pages({}, limit)).flat();
      expect(found).toEqual(everything.filter((id) => found.includes(id)));
    }
    expect((await pages({ status: ['booked'] }, 3)).flat().sort()).toEqual([...(ids.get('booked') ?? [])].sort());
    expect((await pages({ status: ['booked', 'booked'] }, 3)).flat()).toHaveLength(4);
    expect((await pages({ status: SHIPMENT_STATUSES }, 10)).flat()).toHaveLength(44);
    expect(await pages({ status: [] }, 10)).toEqual([[]]);
  });

  it('page without gaps or repetitions while shipments are created', async () => {
    const before = await Promise.all(Array.from({ length: 30 }, () => create()));
    await waitUntilCaughtUp(models);
    const seen: string[] = [];
    for (let after: SortValues | undefined; ;) {
      const { items, next } = await models.queries.shipments.listShipments(scope, { filter: {}, limit: 4, after });
      seen.push(...items.map(({ id }) => id));
      await create();
      await waitUntilCaughtUp(models);
      if (!next) break;
      after = next;
    }
    expect(seen).toHaveLength(new Set(seen).size);
    expect(seen).toEqual(expect.arrayContaining(before));
    expect(seen).toHaveLength(before.length);
  });

  it('find by external id, with or without a status', async () => {
    const id = await create({ external_id: 'PO-1', status: 'booked' });
    await create({ external_id: 'PO-2' });
    await waitUntilCaughtUp(models);
    expect(await pages({ external_id: 'PO-1' }, 10)).toEqual([[id]]);
    expect(await pages({ external_id: 'PO-1', status: ['booked', 'pending'] }, 10)).toEqual([[id]]);
    expect(await pages({ external_id: 'PO-1', status: ['pending'] }, 10)).toEqual([[]]);
    for (const external_id of ['po-1', 'PO 1', 'Po1']) expect(await pages({ external_id }, 10)).toEqual([[id]]);
    expect(await pages({ external_id: 'PO/1' }, 10)).toEqual([[]]);
  });

  it('return nothing of another workspace or environment', async () => {
    const fields = { external_id: 'X', house_bill: 'HB', container_numbers: ['MSKU0000001'] };
    const mine = await create(fields, ACME_LIVE_SCOPE);
    const others = [await create(fields, ACME_TEST_SCOPE), await create(fields, OTHER_WORKSPACE)];
    await waitUntilCaughtUp(models);
    for (const filter of [{}, { external_id: 'X' }, { status: ['pending'] as const }]) {
      const { items } = await models.queries.shipments.listShipments(ACME_LIVE_SCOPE, { filter, limit: 10 });
      expect(items.map(({ id }) => id)).toEqual([mine]);
    }
    expect(await models.queries.shipments.getShipment(ACME_LIVE_SCOPE, mine)).toBeDefined();
    for (const id of others) expect(await models.queries.shipments.getShipment(ACME_LIVE_SCOPE, id)).toBeUndefined();
    const record = { id: 'shp_new', house_bill: 'HB', container_numbers: ['MSKU0000001'] };
    expect(
      (await models.queries.shipments.findPossibleDuplicates(ACME_LIVE_SCOPE, record)).map(({ id }) => id),
    ).toEqual([mine]);
  });

  it('find ids by reference, with a maximum per value', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 130; n += 1) ids.push(await create({ booking_number: `B${n % 120}`, master_bill: 'M' }));
    const container = await create({ container_numbers: ['MSKU1', 'MSKU2'], status: 'completed' });
    await create({ booking_number: 'B0' }, OTHER_WORKSPACE);
    await waitUntilCaughtUp(models);
    const find = async (field: ReferenceSearchValues['field'], values: readonly string[], atMost: number) => {
      const found = await models.queries.shipments.findShipmentIdsByReference(scope, { field, values }, atMost);
      return Object.fromEntries([...found].map(([value, those]) => [value, [...those].sort()]));
    };
    const bookings = Array.from({ length: 121 }, (_, n) => `B${n}`);
    const both = (n: number) => [ids[n], ids[n + 120]].filter((id) => id !== undefined).sort();
    expect(await find('booking_number', bookings, 2)).toEqual(
      Object.fromEntries(bookings.slice(0, 120).map((value, n) => [value, both(n)])),
    );
    const master = await find('master_bill', ['M', 'X', 'M'], 2);
    expect(Object.keys(master)).toEqual(['M']);
    expect(master['M']).toHaveLength(2);
    expect(await find('container_number', ['MSKU2', 'MSKU1', 'MSKU3'], 1)).toEqual({
      MSKU1: [container],
      MSKU2: [container],
    });
    expect(await find('external_id', [], 1)).toEqual({});
    expect(await find('container_number', ['msku-1'], 1)).toEqual({ 'msku-1': [container] });
    const [spaced, joined] = [await create({ booking_number: 'Q 7-a' }), await create({ booking_number: 'Q7A' })];
    await waitUntilCaughtUp(models);
    expect(await find('booking_number', ['Q 7-a', 'Q7A', 'q7a', 'Q7'], 2)).toEqual({
      'Q 7-a': [spaced],
      Q7A: [joined],
      q7a: [spaced, joined].sort(),
    });
  });

  describe('possible duplicates', () => {
    const shipment = (fields: object) => ({ id: 'shp_new', house_bill: null, container_numbers: [], ...fields });

    it('are other active shipments with the same house bill or container', async () => {
      const both = await create({ house_bill: 'HB', container_numbers: ['C1', 'C2', 'C3'] });
      const bill = await create({ house_bill: 'HB' });
      const container = await create({ house_bill: 'OTHER', container_numbers: ['C9', 'C2'] });
      await create({ house_bill: 'OTHER', container_numbers: ['C9'] });
      await waitUntilCaughtUp(models);
      const record = shipment({ house_bill: 'HB', container_numbers: ['C1', 'C2'] });
      const found = await models.queries.shipments.findPossibleDuplicates(scope, record);
      expect([...found].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
        [
          { id: both, house_bill: true, container_numbers: ['C1', 'C2'] },
          { id: bill, house_bill: true, container_numbers: [] },
          { id: container, house_bill: false, container_numbers: ['C2'] },
        ].sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
      expect(await models.queries.shipments.findPossibleDuplicates(scope, { ...record, id: both })).toHaveLength(2);
      expect(await models.queries.shipments.findPossibleDuplicates(scope, shipment({}))).toEqual([]);
    });

    it('exclude delivered, completed, returned and cancelled shipments', async () => {
      for (const status of SHIPMENT_STATUSES) await create({ status, house_bill: 'HB', container_numbers: [status] });
      await waitUntilCaughtUp(models);
      const all = shipment({ container_numbers: SHIPMENT_STATUSES });
      const found = await models.queries.shipments.findPossibleDuplicates(scope, all);
      const statuses = found.flatMap(({ container_numbers }) => container_numbers);
      expect(found).toHaveLength(5);
      for (const ended of ['delivered', 'completed', 'returned', 'cancelled']) expect(statuses).not.toContain(ended);
    });

    it('are limited, however many shipments have or had the container', async () => {
      for (let n = 0; n < 60; n += 1) await create({ container_numbers: ['C1'], status: 'completed' });
      for (let n = 0; n < 30; n += 1) await create({ container_numbers: ['C1'] });
      await waitUntilCaughtUp(models);
      const found = await models.queries.shipments.findPossibleDuplicates(
        scope,
        shipment({ container_numbers: ['C1'] }),
      );
      expect(new Set(found.map(({ id }) => id)).size).toBe(5);
    });

    it('are found behind many ended shipments, by each reference', async () => {
      const bill = await create({ house_bill: 'HB' });
      const container = await create({ container_numbers: ['C1'] });
      for (let n = 0; n < 30; n += 1) {
        await create({ house_bill: 'HB', container_numbers: ['C1'], status: 'delivered' });
      }
      await waitUntilCaughtUp(models);
      const record = shipment({ house_bill: 'HB', container_numbers: ['C0', 'C1'] });
      const found = await models.queries.shipments.findPossibleDuplicates(scope, record);
      expect(found).toEqual([
        { id: bill, house_bill: true, container_numbers: [] },
        { id: container, house_bill: false, container_numbers: ['C1'] },
      ]);
      const itself = await models.queries.shipments.findPossibleDuplicates(scope, { ...record, id: bill });
      expect(itself.map(({ id }) => id)).toEqual([container]);
    });

    it('use the current references of a shipment, not former ones', async () => {
      const id = await create({ house_bill: 'OLD', container_numbers: ['OLD'] });
      await world.writer.writeShipmentChangedEvent(numbers, { house_bill: 'NEW', container_numbers: ['NEW'] });
      await waitUntilCaughtUp(models);
      const find = (value: string) =>
        models.queries.shipments.findPossibleDuplicates(
          scope,
          shipment({ house_bill: value, container_numbers: [value] }),
        );
      expect(await find('OLD')).toEqual([]);
      expect(await find('NEW')).toEqual([{ id, house_bill: true, container_numbers: ['NEW'] }]);
    });
  });
});
