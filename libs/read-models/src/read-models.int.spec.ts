import { CHECKPOINTS_COLLECTION_SPEC } from '@tracking/subscriptions';
import { RecordedMetrics, eventually } from '@tracking/testing';
import { ACME_LIVE_SCOPE, OTHER_WORKSPACE, createNthTestShipmentToken } from '../test/shipment-events.ts';
import {
  ReadModelsTestBed,
  waitUntilCaughtUp,
  waitUntilTrue,
  expectEqualToRebuild,
  rebuildReadModelAndWait,
} from '../test/world.ts';
import { UnknownReadModelError } from './read-models.ts';
import type { ReadModels } from './read-models.ts';
import { READ_MODEL_NAMES } from './registry.ts';

const WAIT = 5_000;
const ALL = {
  classifiers: ['actual', 'estimated', 'planned'],
  include_superseded: true,
  include_retracted: true,
} as const;

async function externalIds(models: ReadModels): Promise<(string | null)[]> {
  const { items } = await models.queries.shipments.listShipments(ACME_LIVE_SCOPE, { filter: {}, limit: 1_000 });
  return items.map(({ external_id }) => external_id);
}

describe('read models over the embedded engines', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(() => world.close());

  it('contain events written before and after the start', async () => {
    await world.writer.createShipment(1, { external_id: 'one' });
    const models = await world.startReadModels();
    await models.ready;
    const position = await world.writer.createShipment(2, { external_id: 'two' });
    expect(await models.progress.reached('shipments', position, WAIT)).toBe(true);
    expect(await models.progress.place('shipments')).toBe(position);
    expect(await externalIds(models)).toEqual(['two', 'one']);
    expect(
      await models.queries.shipments.getShipment(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(2)}`),
    ).toMatchObject({
      position,
      record: { version: 1 },
    });
    expect(
      await models.queries.shipments.getShipment(OTHER_WORKSPACE, `shp_${createNthTestShipmentToken(2)}`),
    ).toBeUndefined();
  });

  it('are ready on an empty store and show its first event', async () => {
    const models = await world.startReadModels();
    await models.ready;
    const states = await models.listReadModelStates();
    expect(
      states.map(({ name, generation, building, caught_up, parked }) => [
        name,
        generation,
        building,
        caught_up,
        parked,
      ]),
    ).toEqual(READ_MODEL_NAMES.map((name) => [name, 1, null, true, 0]));
    const position = await world.writer.createShipment(1);
    expect(await models.progress.reached('milestones', position, WAIT)).toBe(true);
  });

  it('report progress as soon as an event is visible', async () => {
    const models = await world.startReadModels();
    await models.ready;
    for (let n = 1; n <= 20; n += 1) {
      const position = await world.writer.createShipment(n);
      expect(await models.progress.reached('shipments', position, WAIT)).toBe(true);
      expect(
        (await models.queries.shipments.getShipment(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(n)}`))?.position,
      ).toBe(position);
    }
    const next = 'f'.repeat(16);
    expect(await models.progress.reached('shipments', next, 10)).toBe(false);
  });

  it('continue where they stopped', async () => {
    const first = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(first);
    await first.stop();
    await world.writer.writeShipmentChangedEvent(1, { house_bill: 'HB' });
    await world.writer.writeMilestoneRecordedEvent(1, 'a');
    const second = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    await waitUntilCaughtUp(second);
    expect(
      (await second.queries.shipments.getShipment(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(1)}`))?.record,
    ).toMatchObject({
      house_bill: 'HB',
      version: 3,
    });
    expect(
      (
        await second.queries.milestones.listMilestones(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(1)}`, {
          ...ALL,
          limit: 10,
        })
      ).items,
    ).toHaveLength(1);
  });

  it('know the scope of a stream whose first event is long past', async () => {
    const first = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    await world.writer.createShipment(1, {}, OTHER_WORKSPACE);
    await waitUntilCaughtUp(first);
    await first.stop();
    const second = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    await second.ready;
    await world.writer.writeMilestoneRecordedEvent(1, 'a');
    await waitUntilCaughtUp(second);
    expect(
      (
        await second.queries.milestones.listMilestones(OTHER_WORKSPACE, `shp_${createNthTestShipmentToken(1)}`, {
          ...ALL,
          limit: 10,
        })
      ).items,
    ).toHaveLength(1);
    expect(
      (
        await second.queries.milestones.listMilestones(ACME_LIVE_SCOPE, `shp_${createNthTestShipmentToken(1)}`, {
          ...ALL,
          limit: 10,
        })
      ).items,
    ).toEqual([]);
  });

  it('project partitions in parallel', async () => {
    const partitions = { count: 4, pollMs: 20 };
    for (let n = 0; n < 100; n += 1) await world.writer.createShipment(n);
    const models = await world.startReadModels({ partitions });
    await models.ready;
    await waitUntilCaughtUp(models);
    const position = await world.writer.createShipment(100);
    expect(await models.progress.reached('shipments', position, WAIT)).toBe(true);
    expect(await externalIds(models)).toHaveLength(101);
    await expectEqualToRebuild(models);
  });

  it('measure their work', async () => {
    const metrics = new RecordedMetrics();
    const value = (name: string, model: string) => metrics.getMetricValue(`read_model_${name}{read_model="${model}"}`);
    const models = await world.startReadModels({ metrics });
    await world.writer.createShipment(1);
    await world.writer.writeMilestoneRecordedEvent(1, 'a');
    await world.writer.appendEventsWithBodies(1, { type: 'shipment.unknown.v1', data: {} });
    await waitUntilCaughtUp(models);
    await waitUntilTrue(() => value('parked_streams', 'shipments') === 1);
    for (const model of ['shipments', 'milestones']) {
      expect(value('events_projected_total', model)).toBe(3);
      expect(value('batch_seconds', model)).toBeGreaterThan(0);
      expect(value('lag_seconds', model)).toBe(0);
      expect(metrics.getMetricValue(`retries_total{what="projecting ${model}"}`)).toBe(0);
    }
  });

  it('refuse unknown names', async () => {
    const models = await world.startReadModels();
    await expect(models.rebuild('nothing')).rejects.toThrow(UnknownReadModelError);
    await expect(models.digestRows('nothing')).rejects.toThrow(UnknownReadModelError);
  });

  describe('a rebuild', () => {
    it('continues during reads and writes, and never returns older data', async () => {
      const models = await world.startReadModels({ graceMs: 100 });
      for (let n = 0; n < 50; n += 1) await world.writer.createShipment(n, { external_id: String(n) });
      let created = 50;
      let done = false;
      const writing = (async () => {
        for (; !done; created += 1) {
          const position = await world.writer.createShipment(created, { external_id: String(created) });
          expect(await models.progress.reached('shipments', position, WAIT)).toBe(true);
          expect(await externalIds(models)).toContain(String(created));
        }
      })();
      const reading = (async () => {
        for (let before = 0; !done;) {
          const now = (await externalIds(models)).length;
          expect(now).toBeGreaterThanOrEqual(before);
          before = now;
        }
      })();
      const rebuilding = (async () => {
        try {
          for (let times = 0; times < 3; times += 1) await rebuildReadModelAndWait(models, 'shipments');
        } finally {
          done = true;
        }
      })();
      await Promise.all([writing, reading, rebuilding]);
      expect(await externalIds(models)).toHaveLength(created);
      expect((await models.listReadModelStates())[0]?.generation).toBe(4);
      await expectEqualToRebuild(models);
    }, 20_000);

    it('leaves nothing of the previous generation', async () => {
      await world.writer.createShipment(1);
      const models = await world.startReadModels({ graceMs: 50 });
      await rebuildReadModelAndWait(models, 'shipments');
      const names = () => world.engine.documentStore.listCollectionNames('shipments.');
      await waitUntilTrue(async () => (await names()).join() === 'shipments.g2');
      const checkpoints = await world.engine.documentStore.collection<{ id: string }>({
        name: CHECKPOINTS_COLLECTION_SPEC.name,
        indexes: [],
      });
      await eventually(async () => {
        const left = await checkpoints.find({ filter: {}, sort: { fields: ['id'] }, limit: 10 });
        const generations = READ_MODEL_NAMES.map((name) => `${name}/${name === 'shipments' ? 2 : 1}/shipment-`);
        expect(left.map(({ id }) => id)).toEqual(generations.sort());
      });
    });

    it('requested twice runs once', async () => {
      const models = await world.startReadModels({ graceMs: 50 });
      const [one, two] = await Promise.all([models.rebuild('milestones'), models.rebuild('milestones')]);
      expect(one).toEqual({ name: 'milestones', generation: 2 });
      expect(two).toEqual(one);
      await waitUntilTrue(async () => (await models.listReadModelStates())[1]?.generation === 2);
    });

    it('can be requested by a process that does not project, which then follows it', async () => {
      await world.writer.createShipment(1, { external_id: 'one' });
      const projecting = await world.startReadModels({ leases: world.createLeasesOfNextProcess(), graceMs: 100 });
      await projecting.ready;
      const querying = await world.startReadModels({ project: false, graceMs: 100 });
      await querying.ready;
      await querying.rebuild('shipments');
      await waitUntilTrue(async () => (await querying.listReadModelStates())[0]?.generation === 2);
      expect(await externalIds(querying)).toEqual(['one']);
      const position = await world.writer.createShipment(2, { external_id: 'two' });
      expect(await querying.progress.reached('shipments', position, WAIT)).toBe(true);
      expect(await externalIds(querying)).toEqual(['two', 'one']);
    });
  });

  describe('several processes', () => {
    it('take over from each other, one at a time', async () => {
      const leases = world.createLeasesOfNextProcess();
      const first = await world.startReadModels({ leases });
      await first.ready;
      const second = await world.startReadModels({ leases });
      await second.ready;
      let position = await world.writer.createShipment(1);
      expect(await second.progress.reached('shipments', position, WAIT)).toBe(true);
      await first.stop();
      position = await world.writer.createShipment(2);
      expect(await second.progress.reached('shipments', position, WAIT)).toBe(true);
      expect(await externalIds(second)).toHaveLength(2);
    });
  });
});
