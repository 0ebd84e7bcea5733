import { ACME_LIVE_SCOPE, createNthTestShipmentToken } from '../test/shipment-events.ts';
import { createWriteFaults, createSeededRandom, createFaultyDocumentStore } from '../test/faulty-store.ts';
import { ReadModelsTestBed, waitUntilCaughtUp, expectEqualToRebuild, waitUntilTrue } from '../test/world.ts';

describe('read models over the embedded engines', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(() => world.close());

  async function write(from: number, to: number): Promise<void> {
    for (let n = from; n < to; n += 1) {
      await world.writer.createShipment(n);
      await world.writer.writeMilestoneRecordedEvent(n, 'a', { classifier: 'estimated' });
      await world.writer.writeMilestoneRecordedEvent(n, 'b', { classifier: 'estimated' }, [
        `mst_${createNthTestShipmentToken(n)}a`,
      ]);
      await world.writer.writeShipmentChangedEvent(n, { status: 'in_transit' });
    }
  }

  it('equal a rebuild after crashes at any write', async () => {
    await write(0, 3);
    for (let at = 1; at <= 30; at += 1) {
      const dying = createWriteFaults(at);
      const documentStore = createFaultyDocumentStore(world.engine.documentStore, dying.trouble);
      const models = await world.startReadModels({
        documentStore,
        leases: world.createLeasesOfNextProcess(),
        graceMs: 20,
      });
      // Every third process also requests a rebuild, so that crashes happen during rebuilds too.
      if (at % 3 === 0) await models.rebuild('shipments').catch(() => undefined);
      for (let n = at * 10; !dying.isDead(); n += 1) await write(n, n + 1);
      await models.stop();
    }
    const models = await world.startReadModels({ leases: world.createLeasesOfNextProcess(), graceMs: 20 });
    await models.ready;
    await waitUntilTrue(async () =>
      (await models.listReadModelStates()).every((each) => each.caught_up && each.building === null),
    );
    expect(await models.listParkedShipments()).toEqual([]);
    await expectEqualToRebuild(models);
  }, 60_000);

  it('wait for the engine without parking or losing events', async () => {
    const random = createSeededRandom(7);
    let isTroubled = true;
    const documentStore = createFaultyDocumentStore(world.engine.documentStore, () => {
      if (!isTroubled || random() < 0.7) return 'works';
      return random() < 0.5 ? 'fails' : 'works_and_fails';
    });
    const models = await world.startReadModels({ documentStore, leases: world.createLeasesOfNextProcess() });
    await write(0, 20);
    isTroubled = false;
    await models.ready;
    await waitUntilCaughtUp(models);
    expect(await models.listParkedShipments()).toEqual([]);
    const { items } = await models.queries.shipments.listShipments(ACME_LIVE_SCOPE, { filter: {}, limit: 1_000 });
    expect(items).toHaveLength(20);
    await expectEqualToRebuild(models);
  }, 20_000);

  it('produce the same rows if two processes both believe they hold the lease', async () => {
    // Independent leases: the older holder's checkpoint is refused, and its rows are harmless.
    const older = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    await older.ready;
    const newer = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    await newer.ready;
    for (let n = 0; n < 40; n += 1) {
      await world.writer.createShipment(n);
      await world.writer.writeMilestoneRecordedEvent(n, 'a', { classifier: 'estimated' });
      await world.writer.writeShipmentChangedEvent(n, { status: 'in_transit' });
    }
    await waitUntilCaughtUp(newer);
    await older.stop();
    await expectEqualToRebuild(newer);
  });
});
