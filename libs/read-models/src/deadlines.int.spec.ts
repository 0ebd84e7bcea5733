import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { waitUntilCaughtUp, expectEqualToRebuild, ReadModelsTestBed } from '../test/world.ts';
import type { DueShipment } from './deadlines.ts';
import type { ReadModels } from './read-models.ts';

const at = (minute: number) => `2026-03-02T08:${String(minute).padStart(2, '0')}:00.000Z`;
const id = (n: number) => `shp_${createNthTestShipmentToken(n)}`;
const ids = (rows: readonly { readonly id: string }[]) => rows.map((row) => row.id);

describe('queries of deadlines', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
  });
  afterEach(() => world.close());

  it('return only due shipments, the longest overdue first', async () => {
    for (const [n, scope] of [
      ACME_LIVE_SCOPE,
      ACME_TEST_SCOPE,
      OTHER_WORKSPACE,
      ACME_LIVE_SCOPE,
      ACME_LIVE_SCOPE,
    ].entries())
      await world.writer.createShipment(n, {}, scope);
    for (const [n, minute] of [30, 10, 20, 40].entries()) await world.writer.recordRuleCheck(n, at(minute));
    await waitUntilCaughtUp(models);
    const { deadlines } = models.queries;
    expect(await deadlines.listDueShipments(at(9), 10)).toEqual([]);
    expect(await deadlines.listDueShipments(at(30), 10)).toEqual([
      { id: id(1), ...ACME_TEST_SCOPE, due_at: at(10) },
      { id: id(2), ...OTHER_WORKSPACE, due_at: at(20) },
      { id: id(0), ...ACME_LIVE_SCOPE, due_at: at(30) },
    ]);
    await world.writer.recordRuleCheck(2, at(50));
    await world.writer.recordRuleCheck(0, null);
    await waitUntilCaughtUp(models);
    expect(ids(await deadlines.listDueShipments(at(59), 10))).toEqual([1, 3, 2].map(id));
    await expectEqualToRebuild(models);
  });

  it('continue after the last shipment of a page, even with equal due times', async () => {
    const expected: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      await world.writer.createShipment(n);
      await world.writer.recordRuleCheck(n, at(n < 5 ? 10 : 11));
      expected.push(id(n));
    }
    await waitUntilCaughtUp(models);
    const found: string[] = [];
    for (let after: DueShipment | undefined; ;) {
      const page = await models.queries.deadlines.listDueShipments(at(59), 2, after);
      if (page.length === 0) break;
      found.push(...ids(page));
      after = page.at(-1);
    }
    expect(found).toEqual(expected);
  });

  it('return the open shipments of a workspace, live and test, page by page', async () => {
    for (const [n, scope] of [
      ACME_LIVE_SCOPE,
      OTHER_WORKSPACE,
      ACME_TEST_SCOPE,
      ACME_LIVE_SCOPE,
      ACME_LIVE_SCOPE,
    ].entries())
      await world.writer.createShipment(n, {}, scope);
    await world.writer.writeShipmentChangedEvent(3, { status: 'completed' });
    await waitUntilCaughtUp(models);
    const { deadlines } = models.queries;
    expect(await deadlines.findNextWorkspace(undefined)).toBe('wsp_acme');
    expect(await deadlines.findNextWorkspace('wsp_acme')).toBe('wsp_other');
    expect(await deadlines.findNextWorkspace('wsp_other')).toBeUndefined();
    expect(await deadlines.listUnsettledShipments('wsp_acme', undefined, 2)).toEqual([
      { id: id(0), ...ACME_LIVE_SCOPE },
      { id: id(2), ...ACME_TEST_SCOPE },
    ]);
    expect(ids(await deadlines.listUnsettledShipments('wsp_acme', id(2), 2))).toEqual([id(4)]);
    expect(await deadlines.listUnsettledShipments('wsp_acme', id(4), 2)).toEqual([]);
    expect(ids(await deadlines.listUnsettledShipments('wsp_other', undefined, 2))).toEqual([id(1)]);
    await world.writer.writeShipmentChangedEvent(3, { status: 'delivered' });
    await waitUntilCaughtUp(models);
    expect(ids(await deadlines.listUnsettledShipments('wsp_acme', id(2), 2))).toEqual([3, 4].map(id));
    await expectEqualToRebuild(models);
  });
});
